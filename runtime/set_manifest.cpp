// What a manifest says of sets: which kernel serves which numbers of rows, and how long they take.
#include "runtime/manifest.h"
#include "runtime/words.h"

namespace lehr::runtime {
namespace {

/// Reads all of them; the first thing that is wrong ends it.
class SetReader {
 public:
  SetReader(const Json& json, Manifest& manifest) : json_(json), manifest_(manifest) {}

  const char* wrong = nullptr;
  bool no_memory = false;

  bool read(std::uint32_t sets) {
    if (json_[sets].kind != JsonKind::kArray) return is("has sets that are no list");
    for (std::uint32_t at = json_.first(sets); at != Json::kNone; at = json_.after(sets, at)) {
      ManifestSet set;
      if (!set_at(at, set) || !members_of(at, set) || !times_of(at, set) || !add(manifest_.sets, set))
        return false;
      if (manifest_.sets.size() > Manifest::kMostSets) return is("lists too many sets");
    }
    return true;
  }

 private:
  bool is(const char* what) {
    wrong = what;
    return false;
  }
  template <typename T>
  bool add(Array<T>& to, const T& value) {
    no_memory = !to.add(value);
    return !no_memory;
  }

  bool set_at(std::uint32_t at, ManifestSet& set) {
    std::uint64_t threads = 0, least = 0, most = 0;
    const bool whole = json_.string(json_.member(at, "workload"), set.workload) &&
                       json_.string(json_.member(at, "defaults"), set.defaults) &&
                       json_.string(json_.member(at, "shorter"), set.shorter) &&
                       json_.string(json_.member(at, "field"), set.field) &&
                       json_.whole(json_.member(at, "least"), set.least) &&
                       json_.whole(json_.member(at, "most"), set.most) &&
                       json_.whole(json_.member(at, "threads"), threads);
    if (!whole) return is("has a set with a member that is missing or of the wrong kind");
    if (threads == 0 || threads > kMostThreads) return is("has a set for an impossible number of threads");
    set.threads = static_cast<std::uint32_t>(threads);
    return (range_of(set.workload, set.field, least, most) && least == set.least && most == set.most) ||
           is("has a set for another range than its workload");
  }

  bool members_of(std::uint32_t at, ManifestSet& set) {
    const std::uint32_t members = json_.member(at, "members");
    std::uint64_t served = set.least - 1;
    const ManifestKernel* like = nullptr;  // the first one that prepacks, if one does
    set.first_member = static_cast<std::uint32_t>(manifest_.members.size());
    for (std::uint32_t i = json_.first(members); i != Json::kNone; i = json_.after(members, i)) {
      ManifestMember member;
      std::uint64_t kernel = 0;
      if (!json_.whole(json_.member(i, "kernel"), kernel) || kernel >= manifest_.kernels.size())
        return is("has a set with a kernel that is not there");
      member.kernel = static_cast<std::uint32_t>(kernel);
      if (!json_.whole(json_.member(i, "to"), member.to) || member.to <= served || member.to > set.most)
        return is("has a set whose members do not follow each other");
      const ManifestKernel& one = manifest_.kernels[kernel];
      if (!serves(one, set, served, member.to) || !add(manifest_.members, member)) return false;
      if (like != nullptr && !go_together(*like, one))
        return is("has a set of kernels with different parameters");
      if (like == nullptr || (!has_prepack(*like) && has_prepack(one))) like = &one;
      served = member.to;
      if (++set.members > Manifest::kMostKernels) return is("has a set of too many members");
    }
    return served == set.most || is("has a set that does not serve all of its range");
  }

  // Any number of rows from behind `served` to `to`.
  bool serves(const ManifestKernel& kernel, const ManifestSet& set, std::uint64_t served, std::uint64_t to) {
    if (kernel.on_cuda() || kernel.threads != set.threads)
      return is("has a set with a kernel for another device or number of threads");
    if (kernel.slice_field != set.field) return is("has a set with a kernel that has no such rows");
    return (kernel.rows > 0 ? to <= kernel.rows : to == kernel.slices && served + 1 == to) ||
           is("has a set with a kernel that does not serve its rows");
  }

  // One call's parameters are those of each: all tensors, and what is prepacked, unless it reads its input as
  // it lies.
  bool go_together(const ManifestKernel& a, const ManifestKernel& b) const {
    const std::uint32_t tensors = tensors_of(a);
    const bool prepack = has_prepack(a) && has_prepack(b);
    if (tensors != tensors_of(b) ||
        (prepack && (a.params != b.params || a.prepack_layout != b.prepack_layout)))
      return false;
    for (std::uint32_t i = 0; i < (prepack ? a.params : tensors); ++i) {
      const ManifestParam &p = manifest_.params[a.first_param + i], &q = manifest_.params[b.first_param + i];
      if (p.role != q.role || p.dtype != q.dtype || p.slice_bytes != q.slice_bytes ||
          (p.slice_bytes == 0 && p.bytes != q.bytes))
        return false;
    }
    return true;
  }

  static bool has_prepack(const ManifestKernel& kernel) { return !kernel.prepack.entry.empty(); }

  std::uint32_t tensors_of(const ManifestKernel& kernel) const {
    std::uint32_t tensors = 0;
    while (tensors < kernel.params && manifest_.params[kernel.first_param + tensors].role != LEHR_PREPACKED)
      ++tensors;
    return tensors;
  }

  bool times_of(std::uint32_t at, ManifestSet& set) {
    const std::uint32_t times = json_.member(at, "times");
    std::uint64_t before = 0;
    set.first_time = static_cast<std::uint32_t>(manifest_.times.size());
    for (std::uint32_t i = json_.first(times); i != Json::kNone; i = json_.after(times, i)) {
      ManifestTime time;
      const std::uint32_t rows = json_.first(i);
      if (!json_.whole(rows, time.rows) || time.rows <= before ||
          !json_.number(json_.after(i, rows), time.us) || time.us < 0)
        return is("has a set with an impossible time");
      if (!add(manifest_.times, time)) return false;
      before = time.rows;
      ++set.times;
    }
    return set.times > 0 || is("has a set without times");
  }

  static constexpr std::uint64_t kMostThreads = 1u << 16;

  const Json& json_;
  Manifest& manifest_;
};

}  // namespace

const char* read_sets(const Json& json, Manifest& manifest, bool& no_memory) {
  const std::uint32_t sets = json.member(0, "sets");
  if (sets == Json::kNone) return nullptr;
  SetReader reader(json, manifest);
  if (reader.read(sets)) return nullptr;
  no_memory = reader.no_memory;
  return reader.wrong;
}

}  // namespace lehr::runtime
