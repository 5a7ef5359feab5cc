// Which kernels answer for a workload: one of it, several of smaller ones, one of a larger one, or none.
#include <algorithm>
#include <cstring>

#include "deploy/runtime/bundle.h"
#include "deploy/runtime/message.h"
#include "deploy/runtime/words.h"

namespace lehr::runtime {
namespace {

// What the query says must be so, and what it does not say must go without saying. `free`: a field whose
// value may differ, "" for none.
bool is_meant(std::string_view query, const ManifestKernel& kernel, std::string_view free) {
  const auto is_free = [&](std::string_view word) { return !free.empty() && field_of(word) == free; };
  Words asked(query);
  for (std::string_view word; asked.next(word);)
    if (!is_free(word) && !has_word(kernel.workload, word) && !has_word(kernel.shorter, word)) return false;
  Words said(kernel.workload);
  for (std::string_view word; said.next(word);)
    if (!is_free(word) && !has_field(query, field_of(word)) && !has_word(kernel.defaults, word)) return false;
  return true;
}

// The query's value of a field: whole and at least 1; else 0.
std::uint64_t value_of(std::string_view query, std::string_view field) {
  Words words(query);
  for (std::string_view word; words.next(word);) {
    if (field_of(word) != field || word.size() < field.size() + 2 || word.size() > field.size() + 13)
      continue;
    std::uint64_t value = 0;
    for (std::size_t i = field.size() + 1; i < word.size(); ++i) {
      if (word[i] < '0' || word[i] > '9') return 0;
      value = value * 10 + static_cast<std::uint64_t>(word[i] - '0');
    }
    return value;
  }
  return 0;
}

/// Whether a kernel that fits may be taken for `threads` threads, and before another one.
bool better(const ManifestKernel& a, const ManifestKernel& b, std::uint32_t threads) {
  const bool a_fits = a.threads == threads, b_fits = b.threads == threads;
  return a_fits != b_fits ? a_fits : a.time_us < b.time_us;
}

// The index of the best kernel of exactly that workload; kernels.size() where there is none.
std::size_t exact(const Bundle& bundle, std::string_view query, std::uint32_t threads) {
  std::size_t best = bundle.kernels.size();
  for (std::size_t i = 0; i < bundle.kernels.size(); ++i) {
    if (!is_meant(query, *bundle.kernels[i].said, {})) continue;
    if (best == bundle.kernels.size() || better(*bundle.kernels[i].said, *bundle.kernels[best].said, threads))
      best = i;
  }
  return best;
}

// Parts work on the same whole tensors and on slices of the others, and share what is prepacked.
bool goes_with(const LoadedKernel& a, const LoadedKernel& b) {
  if (a.said->slice_field != b.said->slice_field || a.said->params != b.said->params ||
      a.said->threads != b.said->threads || a.said->prepack_layout != b.said->prepack_layout)
    return false;
  for (std::uint32_t i = 0; i < a.said->params; ++i) {
    const ManifestParam &p = a.params[i], &q = b.params[i];
    if (p.role != q.role || p.dtype != q.dtype || p.slice_bytes != q.slice_bytes ||
        (p.slice_bytes == 0 && p.bytes != q.bytes))
      return false;
  }
  return true;
}

/// Kernels of one workload but for the number of slices, which go together.
class Group {
 public:
  Group(const Bundle& bundle, std::string_view query, const LoadedKernel& like)
      : bundle_(bundle), query_(query), like_(like) {}

  /// Puts `slices` together: always from the kernel with the least time per slice that still fits. What is
  /// left, if no kernel is so small or if that takes longer, is padded to a bucket. False where there is
  /// neither, or no memory.
  bool answer(std::uint64_t slices, Answer& answer) const {
    std::uint64_t first = 0;
    std::uint64_t computed = 0;
    while (first < slices) {
      const std::uint64_t left = slices - first;
      const LoadedKernel* const fits = cheapest(left);
      const LoadedKernel* const padded = bucket(left);
      if (padded != nullptr && (fits == nullptr || padded->said->time_us < time_of(left))) {
        computed += padded->said->slices;
        answer.time_us += padded->said->time_us;
        answer.padding_bytes = padding_of(*padded);
        if (!answer.parts.add({padded, first, 1, left})) return false;
        break;
      }
      if (fits == nullptr) return false;
      const std::uint64_t size = fits->said->slices, repeats = left / size;
      computed += repeats * size;
      answer.time_us += static_cast<double>(repeats) * fits->said->time_us;
      if (!answer.parts.add({fits, first, repeats, size})) return false;
      first += repeats * size;
    }
    answer.wasted = static_cast<double>(computed - slices) / static_cast<double>(computed);
    answer.kind = computed > slices ? LEHR_PADDED : LEHR_SPLIT;
    return finish(slices, answer);
  }

 private:
  bool has(const LoadedKernel& kernel) const {
    return is_meant(query_, *kernel.said, like_.said->slice_field) && goes_with(kernel, like_);
  }

  const LoadedKernel* cheapest(std::uint64_t most) const {
    const LoadedKernel* best = nullptr;
    const auto per_slice = [](const LoadedKernel& kernel) {
      return kernel.said->time_us / static_cast<double>(kernel.said->slices);
    };
    for (const LoadedKernel& kernel : bundle_.kernels)
      if (kernel.said->slices <= most && has(kernel) &&
          (best == nullptr || per_slice(kernel) < per_slice(*best)))
        best = &kernel;
    return best;
  }

  const LoadedKernel* bucket(std::uint64_t least) const {
    const LoadedKernel* best = nullptr;
    for (const LoadedKernel& kernel : bundle_.kernels)
      if (kernel.said->bucket && kernel.said->slices > least && has(kernel) &&
          (best == nullptr || kernel.said->slices < best->said->slices))
        best = &kernel;
    return best;
  }

  // Of so many slices without padding; infinite where that can't be.
  double time_of(std::uint64_t slices) const {
    double time_us = 0;
    while (slices > 0) {
      const LoadedKernel* const fits = cheapest(slices);
      if (fits == nullptr) return __builtin_inf();
      time_us += static_cast<double>(slices / fits->said->slices) * fits->said->time_us;
      slices %= fits->said->slices;
    }
    return time_us;
  }

  static std::uint64_t padding_of(const LoadedKernel& kernel) {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < kernel.said->params; ++i)
      bytes += (kernel.params[i].slice_bytes * kernel.said->slices + 63) / 64 * 64;
    return bytes;
  }

  bool finish(std::uint64_t slices, Answer& answer) const {
    for (std::uint32_t i = 0; i < like_.said->params; ++i) {
      ManifestParam param = like_.params[i];
      if (param.slice_bytes > 0 && __builtin_mul_overflow(param.slice_bytes, slices, &param.bytes))
        return false;
      if (!answer.params.add(param)) return false;
    }
    for (const Part& part : answer.parts) {
      const std::uint64_t bytes = (part.kernel->said->scratch_bytes + 63) / 64 * 64;
      if (bytes > answer.scratch_bytes) answer.scratch_bytes = bytes;
    }
    if (!answer.text.resize(query_.size() + 1)) return false;
    std::memcpy(answer.text.data(), query_.data(), query_.size());
    answer.workload = answer.text.data();
    return true;
  }

  const Bundle& bundle_;
  std::string_view query_;
  const LoadedKernel& like_;
};

// The fastest answer that any group has; none where there is no group.
Owner<Answer> put_together(const Bundle& bundle, std::string_view query, std::uint32_t threads) {
  Owner<Answer> best;
  bool best_fits = false;
  for (const LoadedKernel& like : bundle.kernels) {
    const std::string_view field = like.said->slice_field;
    const std::uint64_t slices = field.empty() ? 0 : value_of(query, field);
    if (slices == 0 || !is_meant(query, *like.said, field)) continue;
    const auto seen = [&](const LoadedKernel& one) {
      return is_meant(query, *one.said, field) && goes_with(one, like);
    };
    if (std::find_if(bundle.kernels.begin(), &like, seen) != &like) continue;  // its group has answered
    Owner<Answer> answer = Owner<Answer>::make();
    if (!answer || !Group(bundle, query, like).answer(slices, *answer)) continue;
    const bool fits = like.said->threads == threads;
    if (!best || (fits != best_fits ? fits : answer->time_us < best->time_us)) {
      best = std::move(answer);
      best_fits = fits;
    }
  }
  return best;
}

// The kernel as it is, for another number of threads than it was tuned with; none where there is no memory.
Owner<Answer> on_other_threads(const Answer& exact, std::string_view query) {
  Owner<Answer> answer = Owner<Answer>::make();
  if (!answer || !answer->parts.add(exact.parts[0]) || !answer->text.resize(query.size() + 1)) return {};
  for (const ManifestParam& param : exact.params)
    if (!answer->params.add(param)) return {};
  std::memcpy(answer->text.data(), query.data(), query.size());
  answer->kind = LEHR_OTHER_THREADS;
  answer->workload = answer->text.data();
  answer->time_us = exact.time_us;
  answer->scratch_bytes = exact.scratch_bytes;
  return answer;
}

// An answer that was put together before: a program that asks again and again makes it once.
std::size_t known(const Bundle& bundle, std::string_view query, std::uint32_t threads) {
  const std::size_t count = bundle.answer_count;
  for (std::size_t i = bundle.kernels.size(); i < count; ++i) {
    const Answer& answer = *bundle.answers[i].load(std::memory_order_acquire);
    if (answer.asked_threads == threads && query == answer.workload) return i;
  }
  return Bundle::kMostAnswers;
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

lehr_status none(const Bundle& bundle, const char* query, lehr_error* error) {
  for (const ManifestKernel& kernel : bundle.manifest.kernels)
    if (is_meant(query, kernel, {})) {
      const std::string_view missing = what_is_missing(kernel, bundle.features);
      return fail(error, LEHR_NO_KERNEL, "the bundle's kernel for '%s' needs %.*s, which is not there", query,
                  static_cast<int>(missing.size()), missing.data());
    }
  return fail(error, LEHR_NO_KERNEL, "the bundle has no kernel for '%s'", query);
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
  if (options != nullptr && options->size < sizeof *options)
    return fail(error, LEHR_BAD_ARGUMENT, "lehr_find_options::size is %u: set it to sizeof", options->size);
  if (const std::string_view field = said_twice(workload); !field.empty())
    return fail(error, LEHR_BAD_ARGUMENT, "'%s' says %.*s twice", workload, static_cast<int>(field.size()),
                field.data());
  const std::uint32_t threads = options == nullptr ? 0 : options->threads;
  const std::size_t whole = exact(*bundle, workload, threads);
  const bool found = whole < bundle->kernels.size();
  if (found && (threads == 0 || bundle->kernels[whole].said->threads == threads)) {
    *kernel = kernel_handle(handle, whole);
    return succeed(error);
  }
  if (!found && options != nullptr && options->only_exact != 0) return none(*bundle, workload, error);
  std::size_t index = known(*bundle, workload, threads);
  if (index == Bundle::kMostAnswers) {
    Owner<Answer> answer = found ? on_other_threads(*bundle->answers[whole].load(), workload)
                                 : put_together(*bundle, workload, threads);
    if (!answer && found) return fail(error, LEHR_NO_MEMORY, "there is no memory for the answer");
    if (!answer) return none(*bundle, workload, error);
    answer->asked_threads = threads;
    index = bundle->add(std::move(answer));
  }
  if (index == Bundle::kMostAnswers)
    return fail(error, LEHR_NO_MEMORY, "the bundle has answered too many workloads");
  *kernel = kernel_handle(handle, index);
  return succeed(error);
}
