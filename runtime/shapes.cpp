// Which kernels answer for a workload: one of it, several of smaller ones, one of a larger one, or none.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "runtime/bundle.h"
#include "runtime/message.h"
#include "runtime/parts.h"
#include "runtime/words.h"

namespace lehr::runtime {
namespace {

// What the query says must be so, and what it does not say must go without saying. `kernel`: a ManifestKernel
// or a ManifestSet. `free`: a field whose value may differ, "" for none.
template <typename Named>
bool matches(std::string_view query, const Named& kernel, std::string_view free) {
  const auto is_free = [&](std::string_view word) { return !free.empty() && field_of(word) == free; };
  Words asked(query);
  for (std::string_view word; asked.next(word);)
    if (!is_free(word) && !has_word(kernel.workload, word) && !has_word(kernel.shorter, word)) return false;
  Words own(kernel.workload);
  for (std::string_view word; own.next(word);)
    if (!is_free(word) && !has_field(query, field_of(word)) && !has_word(kernel.defaults, word)) return false;
  return true;
}

/// What a bundle has for exactly what is asked.
struct Whole {
  std::size_t answer = Bundle::kNone;  ///< a kernel's or a set's as it is
  const LoadedSet* set = nullptr;  ///< whose range has `rows`, which are asked for; it stands in for `answer`
  std::uint64_t rows = 0;
  std::uint32_t threads = 0;
  double us = 0;

  bool found() const { return answer != Bundle::kNone || set != nullptr; }
};

/// Whether what fits may be taken for `threads` threads, and before another one.
bool better(const Whole& a, const Whole& b, std::uint32_t threads) {
  const bool a_fits = a.threads == threads, b_fits = b.threads == threads;
  return !b.found() || (a_fits != b_fits ? a_fits : a.us < b.us);
}

// The best one; none found where there is none.
Whole exact(const Bundle& bundle, const Asked& asked) {
  Whole best;
  const auto consider = [&](const Whole& one) {
    if (better(one, best, asked.threads)) best = one;
  };
  for (std::size_t i = 0; i < bundle.fixed_kernels; ++i) {
    const ManifestKernel& manifest = *bundle.kernels[i].manifest;
    if (asked.is_for(manifest) && matches(asked.workload, manifest, {}))
      consider({i, nullptr, 0, manifest.threads, manifest.time_us});
  }
  for (std::size_t i = 0; i < bundle.sets.size() && asked.target == LEHR_CPU; ++i) {
    const ManifestSet& set = *bundle.sets[i].manifest;
    const std::uint64_t rows = value_of(asked.workload, set.field);
    if (matches(asked.workload, set, {}))
      consider(
          {bundle.fixed_kernels + i, nullptr, 0, set.threads, time_of(bundle, bundle.sets[i], set.most)});
    else if (rows >= set.least && rows <= set.most && matches(asked.workload, set, set.field))
      consider({Bundle::kNone, &bundle.sets[i], rows, set.threads, time_of(bundle, bundle.sets[i], rows)});
  }
  return best;
}

// Parts work on the same whole tensors and on slices of the others, and share what is prepacked. A slice
// begins where both may begin to read.
bool goes_with(const LoadedKernel& a, const LoadedKernel& b) {
  if (a.manifest->rows > 0 || b.manifest->rows > 0 || a.manifest->slice_field != b.manifest->slice_field ||
      a.manifest->tensors() != b.manifest->tensors() || a.manifest->threads != b.manifest->threads ||
      a.manifest->prepack_layout != b.manifest->prepack_layout ||
      a.manifest->on_cuda() != b.manifest->on_cuda())
    return false;
  for (std::uint32_t i = 0; i < a.manifest->tensors(); ++i) {
    const ManifestParam &p = a.params[i], &q = b.params[i];
    if (p.role != q.role || p.dtype != q.dtype || p.slice_bytes != q.slice_bytes ||
        (p.slice_bytes == 0 && p.bytes != q.bytes) || p.slice_bytes % p.alignment != 0 ||
        p.slice_bytes % q.alignment != 0)
      return false;
  }
  return true;
}

// The answer is to this question. False where there is no memory.
bool say(std::string_view query, Answer& answer) {
  if (!answer.text.resize(query.size() + 1)) return false;
  std::memcpy(answer.text.data(), query.data(), query.size());
  answer.workload = answer.text.data();
  return true;
}

/// Kernels of one workload but for the number of slices, which go together.
class Group {
 public:
  Group(const Bundle& bundle, std::string_view query, const LoadedKernel& like)
      : bundle_(bundle), query_(query), like_(like) {}

  /// Puts `slices` together of the calls that take the least time, or pads them to a bucket where that takes
  /// less. False where neither can be, or where there is no memory.
  bool answer(std::uint64_t slices, Answer& answer) const {
    Array<const LoadedKernel*> kernels;
    Array<PartSize> sizes;
    Array<PartCalls> calls;
    const double call_us = like_.manifest->on_cuda() ? kCudaCallUs : kCpuCallUs;
    for (const LoadedKernel& kernel : bundle_.kernels)
      if (kernel.manifest->slices <= slices && has(kernel) &&
          !(kernels.add(&kernel) && sizes.add({kernel.manifest->slices, kernel.manifest->time_us + call_us})))
        return false;
    const double us = cheapest_calls(sizes, slices, calls) - call_us;
    const LoadedKernel* const padded = bucket(slices);
    std::uint64_t computed = 0;
    if (padded != nullptr && padded->manifest->time_us < us) {
      computed = padded->manifest->slices;
      answer.kind = LEHR_PADDED;
      answer.time_us = padded->manifest->time_us;
      answer.padding_bytes = padding_of(*padded);
      if (!answer.parts.add({padded, 0, 1, slices, 0})) return false;
    } else {
      answer.kind = LEHR_SPLIT;
      answer.time_us = us;
      for (const PartCalls& some : calls)
        if (!lay_out(*kernels[some.size], some.count, slices, computed, answer)) return false;
    }
    answer.wasted = static_cast<double>(computed - slices) / static_cast<double>(computed);
    return computed > 0 && finish(slices, answer);
  }

 private:
  // The driver takes about so many microseconds to put a kernel on a stream, which was timed in a graph.
  static constexpr double kCudaCallUs = 2.5;

  bool has(const LoadedKernel& kernel) const {
    return matches(query_, *kernel.manifest, like_.manifest->slice_field) && goes_with(kernel, like_);
  }

  // So many calls of it behind the first `computed` slices; one that would end behind the last slice begins
  // earlier.
  static bool lay_out(const LoadedKernel& kernel, std::uint64_t calls, std::uint64_t slices,
                      std::uint64_t& computed, Answer& answer) {
    const std::uint64_t size = kernel.manifest->slices, first = computed;
    const std::uint64_t whole = computed + calls * size > slices ? calls - 1 : calls;
    computed += calls * size;
    return (whole == 0 || answer.parts.add({&kernel, first, whole, size, 0})) &&
           (whole == calls || answer.parts.add({&kernel, slices - size, 1, size, 0}));
  }

  // The fastest one that pads so many slices.
  const LoadedKernel* bucket(std::uint64_t slices) const {
    const LoadedKernel* best = nullptr;
    for (const LoadedKernel& kernel : bundle_.kernels)
      if (kernel.manifest->bucket && kernel.manifest->slices > slices && has(kernel) &&
          (best == nullptr || kernel.manifest->time_us < best->manifest->time_us))
        best = &kernel;
    return best;
  }

  static std::uint64_t padding_of(const LoadedKernel& kernel) {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < kernel.manifest->tensors(); ++i)
      bytes += (kernel.params[i].slice_bytes * kernel.manifest->slices + 63) / 64 * 64;
    return bytes;
  }

  // On a GPU every kernel has workspaces of its own, and padded slices lie in one more.
  static bool add_workspaces(Answer& answer) {
    const Part* before = nullptr;
    for (Part& part : answer.parts) {
      const ManifestKernel& manifest = *part.kernel->manifest;
      if (before != nullptr && before->kernel == part.kernel) {  // its last call, which overlaps
        part.first_workspace = before->first_workspace;
        continue;
      }
      before = &part;
      part.first_workspace = static_cast<std::uint32_t>(answer.params.size());
      for (std::uint32_t i = manifest.tensors(); i < manifest.params; ++i)
        if (!answer.params.add(part.kernel->params[i])) return false;
    }
    if (answer.padding_bytes > 0) {
      ManifestParam padding;
      padding.name = "padding", padding.dtype = "u8";
      padding.role = LEHR_WORKSPACE;
      padding.alignment = 256;
      padding.bytes = std::exchange(answer.padding_bytes, 0);
      answer.padding = static_cast<std::uint32_t>(answer.params.size());
      if (!answer.params.add(padding)) return false;
    }
    return answer.params.size() <= Manifest::kMostParams;
  }

  bool finish(std::uint64_t slices, Answer& answer) const {
    for (std::uint32_t i = 0; i < like_.manifest->tensors(); ++i) {
      ManifestParam param = like_.params[i];
      if (param.slice_bytes > 0 && __builtin_mul_overflow(param.slice_bytes, slices, &param.bytes))
        return false;
      for (const Part& part : answer.parts)
        if (param.alignment < part.kernel->params[i].alignment)
          param.alignment = part.kernel->params[i].alignment;
      if (!answer.params.add(param)) return false;
    }
    if (like_.manifest->on_cuda() && !add_workspaces(answer)) return false;
    for (const Part& part : answer.parts) {
      const std::uint64_t bytes = (part.kernel->manifest->scratch_bytes + 63) / 64 * 64;
      if (bytes > answer.scratch_bytes) answer.scratch_bytes = bytes;
    }
    return say(query_, answer);
  }

  const Bundle& bundle_;
  std::string_view query_;
  const LoadedKernel& like_;
};

/// The one of several answers that is for so many threads, and then the fastest.
struct Fastest {
  std::uint32_t threads;
  Owner<Answer> answer;

  void consider(Owner<Answer> other) {
    const bool fits = other->threads() == threads, fitted = answer && answer->threads() == threads;
    if (!answer || (fits != fitted ? fits : other->time_us < answer->time_us)) answer = std::move(other);
  }
};

// The fastest answer that any group has, or any set for more rows than its most; none where there is neither.
Owner<Answer> put_together(const Bundle& bundle, const Asked& asked) {
  const std::string_view query = asked.workload;
  Fastest best{asked.threads, {}};
  for (const LoadedKernel& like : bundle.kernels) {
    const std::string_view field = like.manifest->slice_field;
    const std::uint64_t slices = field.empty() || like.manifest->rows > 0 ? 0 : value_of(query, field);
    if (slices == 0 || !asked.is_for(*like.manifest) || !matches(query, *like.manifest, field)) continue;
    const auto seen = [&](const LoadedKernel& one) {
      return matches(query, *one.manifest, field) && goes_with(one, like);
    };
    if (std::find_if(bundle.kernels.begin(), &like, seen) != &like) continue;  // its group has answered
    Owner<Answer> answer = Owner<Answer>::make();
    if (answer && Group(bundle, query, like).answer(slices, *answer)) best.consider(std::move(answer));
  }
  for (const LoadedSet& set : bundle.sets) {
    const std::uint64_t rows = value_of(query, set.manifest->field);
    if (asked.target != LEHR_CPU || rows <= set.manifest->most ||
        !matches(query, *set.manifest, set.manifest->field))
      continue;
    Owner<Answer> answer = answer_of_set(bundle, set, rows);
    if (answer && say(query, *answer)) best.consider(std::move(answer));
  }
  return std::move(best.answer);
}

// A kernel or a set as it is, for another number of threads than it was tuned with; or a set for so many
// rows. None where there is no memory.
Owner<Answer> answer_of_whole(const Bundle& bundle, const Whole& whole, const Asked& asked) {
  Owner<Answer> answer = whole.set != nullptr ? answer_of_set(bundle, *whole.set, whole.rows)
                         : whole.answer < bundle.fixed_kernels
                             ? answer_of_kernel(bundle.kernels[whole.answer])
                             : answer_of_set(bundle, bundle.sets[whole.answer - bundle.fixed_kernels], 0);
  if (!answer || !say(asked.workload, *answer)) return {};
  if (asked.threads != 0 && asked.threads != whole.threads) answer->kind = LEHR_OTHER_THREADS;
  return answer;
}

// A field that the query says twice; "" where there is none.
std::string_view said_twice(std::string_view query) {
  Words words(query);
  for (std::string_view word; words.next(word);) {
    const std::size_t end = static_cast<std::size_t>(word.data() - query.data()) + word.size();
    if (has_field({query.data() + end, query.size() - end}, field_of(word))) return field_of(word);
  }
  return {};
}

// The first kernel that does not run here of a set that would answer; nullptr where there is none.
const ManifestKernel* missing_member(const Bundle& bundle, std::string_view query) {
  for (const ManifestSet& set : bundle.manifest.sets) {
    const std::uint64_t rows = value_of(query, set.field);
    if (!matches(query, set, {}) &&
        !(rows >= set.least && rows <= set.most && matches(query, set, set.field)))
      continue;
    for (std::uint32_t i = 0; i < set.members; ++i) {
      const std::uint32_t kernel = bundle.manifest.members[set.first_member + i].kernel;
      if (!what_is_missing(bundle.manifest.kernels[kernel], bundle.features).empty())
        return &bundle.manifest.kernels[kernel];
    }
  }
  return nullptr;
}

// `target`: what was asked for, or LEHR_ANY_TARGET.
lehr_status none(const Bundle& bundle, const char* query, std::uint32_t target, lehr_error* error) {
  const ManifestKernel* elsewhere = nullptr;
  const ManifestKernel* missing = target != LEHR_CUDA ? missing_member(bundle, query) : nullptr;
  for (const ManifestKernel& kernel : bundle.manifest.kernels) {
    if (missing != nullptr || kernel.rows > 0 || !matches(query, kernel, {})) continue;
    if (target != LEHR_ANY_TARGET && kernel.on_cuda() != (target == LEHR_CUDA))
      elsewhere = &kernel;
    else
      missing = &kernel;
  }
  if (missing != nullptr && missing->on_cuda())
    return fail(error, LEHR_NO_KERNEL, "the bundle's kernel for '%s' needs %s", query,
                bundle.cuda->why_not_of(*missing));
  if (missing != nullptr) {
    const std::string_view what = what_is_missing(*missing, bundle.features);
    return fail(error, LEHR_NO_KERNEL, "the bundle's kernel for '%s' needs %.*s, which is not there", query,
                static_cast<int>(what.size()), what.data());
  }
  if (elsewhere != nullptr)
    return fail(error, LEHR_NO_KERNEL, "the bundle's kernel for '%s' is for %s alone", query,
                elsewhere->target.data());
  return fail(error, LEHR_NO_KERNEL, "the bundle has no kernel for '%s'", query);
}

// The number of the answer; LEHR_NO_KERNEL where the target has none.
lehr_status find_for(Bundle& bundle, const Asked& asked, std::size_t& index) {
  const Whole whole = exact(bundle, asked);
  const bool found = whole.found();
  // A GPU's kernel runs with any number of threads.
  if (whole.answer != Bundle::kNone &&
      (asked.threads == 0 || asked.target == LEHR_CUDA || whole.threads == asked.threads))
    return index = whole.answer, LEHR_OK;
  if (!found && asked.only_exact) return LEHR_NO_KERNEL;
  index = bundle.known(asked);
  if (index != Bundle::kNone) return LEHR_OK;
  Owner<Answer> answer = found ? answer_of_whole(bundle, whole, asked) : put_together(bundle, asked);
  if (!answer) return found ? LEHR_NO_MEMORY : LEHR_NO_KERNEL;
  answer->asked_threads = asked.threads;
  answer->asked_target = asked.target;
  lehr_status status = LEHR_OK;
  index = bundle.add(std::move(answer), status);
  return index != Bundle::kNone ? LEHR_OK : status;
}

}  // namespace
}  // namespace lehr::runtime

using namespace lehr::runtime;

lehr_status lehr_find(lehr_bundle handle, const char* workload, const lehr_find_options* options,
                      lehr_kernel* kernel, lehr_error* error) {
  Bundle* const bundle = bundle_of(handle);
  if (bundle == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "the bundle is not open");
  if (workload == nullptr || kernel == nullptr)
    return fail(error, LEHR_BAD_ARGUMENT, "lehr_find needs a workload and a place for the handle");
  *kernel = 0;
  lehr_find_options taken;
  if (const lehr_status status =
          take(options, offsetof(lehr_find_options, target), "lehr_find_options", taken, error);
      status != LEHR_OK)
    return status;
  if (taken.target > LEHR_CUDA)
    return fail(error, LEHR_BAD_ARGUMENT, "lehr_find_options::target is %u: no target has that number",
                taken.target);
  if (const std::string_view field = said_twice(workload); !field.empty())
    return fail(error, LEHR_BAD_ARGUMENT, "'%s' says %.*s twice", workload, static_cast<int>(field.size()),
                field.data());
  Asked asked{workload, taken.threads, LEHR_CPU, taken.only_exact != 0};
  // The processor's first: a program that does not say what it is for does not depend on whether there is a
  // GPU.
  lehr_status status = LEHR_NO_KERNEL;
  std::size_t index = 0;
  for (const std::uint32_t target : {LEHR_CPU, LEHR_CUDA}) {
    if (status != LEHR_NO_KERNEL || (taken.target != LEHR_ANY_TARGET && taken.target != target)) continue;
    asked.target = target;
    status = find_for(*bundle, asked, index);
  }
  if (status == LEHR_NO_KERNEL) return none(*bundle, workload, taken.target, error);
  if (status == LEHR_NO_MEMORY) return fail(error, status, "there is no memory for the answer");
  if (status == LEHR_TOO_MANY_SHAPES)
    return fail(error, status, "'%s' is put together of several kernels, and %d such shapes are kept already",
                workload, LEHR_MOST_SHAPES);
  *kernel = kernel_handle(handle, index);
  return succeed(error);
}
