// Kernels for a range of rows: which of them serves how many, and in what time.
#include <algorithm>
#include <cstddef>

#include "runtime/bundle.h"

namespace lehr::runtime {
namespace {

// False where a member does not run here. `loaded`: by their place in the manifest, nullptr where one does
// not.
bool load_members(Bundle& bundle, const ManifestSet& manifest, const Array<const LoadedKernel*>& loaded,
                  LoadedSet& set) {
  for (std::uint32_t i = manifest.first_member; i < manifest.first_member + manifest.members; ++i) {
    const ManifestMember& member = bundle.manifest.members[i];
    const LoadedKernel* const kernel = loaded[member.kernel];
    if (kernel == nullptr) return false;
    bundle.members[i] = {kernel, member.to};
    if (set.prepacks == nullptr ||
        (set.prepacks->prepack.entry == nullptr && kernel->prepack.entry != nullptr))
      set.prepacks = kernel;
  }
  set.manifest = &manifest;
  set.members = &bundle.members[manifest.first_member];
  return true;
}

}  // namespace

bool load_sets(Bundle& bundle) {
  Array<const LoadedKernel*> loaded;
  if (!loaded.resize(bundle.manifest.kernels.size()) ||
      !bundle.members.resize(bundle.manifest.members.size()))  // pointers into it stay
    return false;
  for (const LoadedKernel& kernel : bundle.kernels)
    loaded[static_cast<std::size_t>(kernel.manifest - bundle.manifest.kernels.data())] = &kernel;
  for (const ManifestSet& manifest : bundle.manifest.sets) {
    LoadedSet set;
    if (load_members(bundle, manifest, loaded, set) && !bundle.sets.add(set)) return false;
  }
  return true;
}

const LoadedKernel& member_for(const LoadedSet& set, std::uint64_t rows) {
  const LoadedMember* const end = set.members + set.manifest->members;
  return *std::lower_bound(set.members, end, rows, [](const LoadedMember& member, std::uint64_t wanted) {
            return member.to < wanted;
          })->kernel;
}

double time_of(const Bundle& bundle, const LoadedSet& set, std::uint64_t rows) {
  const ManifestTime* const begin = &bundle.manifest.times[set.manifest->first_time];
  const ManifestTime* const end = begin + set.manifest->times;
  const ManifestTime* const next = std::lower_bound(
      begin, end, rows, [](const ManifestTime& time, std::uint64_t wanted) { return time.rows < wanted; });
  if (next == end) return end[-1].us;
  if (next == begin) return begin->us;
  const ManifestTime& before = next[-1];
  const double share =
      static_cast<double>(rows - before.rows) / static_cast<double>(next->rows - before.rows);
  return before.us + share * (next->us - before.us);
}

namespace {

// Calls of so many rows each behind those that there are. False where there is no memory.
bool add_calls(const Bundle& bundle, const LoadedSet& set, std::uint64_t count, std::uint64_t rows,
               Answer& answer) {
  if (count == 0) return true;
  const Part* const before = answer.parts.size() == 0 ? nullptr : &answer.parts[0];
  const LoadedKernel& kernel = member_for(set, rows);
  answer.time_us += static_cast<double>(count) * (time_of(bundle, set, rows) + kCpuCallUs);
  answer.scratch_bytes = std::max(answer.scratch_bytes, (kernel.manifest->scratch_bytes + 63) / 64 * 64);
  return answer.parts.add(
      {&kernel, before == nullptr ? 0 : before->repeats * before->rows, count, rows, 0, rows});
}

// Each takes what all members take, and as many rows as are asked for. False where the calls' rows do not
// begin where they may, or where there is no memory.
bool add_params(const LoadedSet& set, std::uint64_t rows, Answer& answer) {
  for (std::uint32_t i = 0; i < set.prepacks->manifest->params; ++i) {
    ManifestParam param = set.prepacks->params[i];
    for (std::uint32_t j = 0; j < set.manifest->members; ++j)
      if (const LoadedKernel& member = *set.members[j].kernel; i < member.manifest->params)
        param.alignment = std::max(param.alignment, member.params[i].alignment);
    if (param.slice_bytes > 0 && __builtin_mul_overflow(param.slice_bytes, rows, &param.bytes)) return false;
    if (rows > set.manifest->most && param.slice_bytes % param.alignment != 0) return false;
    if (!answer.params.add(param)) return false;
  }
  return true;
}

}  // namespace

Owner<Answer> answer_of_set(const Bundle& bundle, const LoadedSet& set, std::uint64_t rows) {
  const ManifestSet& manifest = *set.manifest;
  const std::uint64_t all = rows > 0 ? rows : manifest.most;
  // As few calls as there can be, of equally many rows but for one.
  const std::uint64_t calls = (all + manifest.most - 1) / manifest.most, each = all / calls,
                      more = all % calls;
  Owner<Answer> answer = Owner<Answer>::make();
  if (!answer || each < manifest.least || !add_calls(bundle, set, more, each + 1, *answer) ||
      !add_calls(bundle, set, calls - more, each, *answer) || !add_params(set, all, *answer))
    return {};
  answer->set = &set;
  answer->workload = manifest.workload.data();
  answer->time_us -= kCpuCallUs;
  if (calls > 1) answer->kind = LEHR_SPLIT;
  if (rows > 0) return answer;
  answer->parts[0].rows = 0;
  answer->parts[0].used = answer->parts[0].size();
  for (std::uint32_t i = 0; i < manifest.members; ++i)
    answer->scratch_bytes =
        std::max(answer->scratch_bytes, (set.members[i].kernel->manifest->scratch_bytes + 63) / 64 * 64);
  return answer;
}

}  // namespace lehr::runtime
