// Runs the parts of an answer on the caller's memory and threads. Nothing is allocated.
#include <cstddef>
#include <cstring>

#include "runtime/bundle.h"
#include "runtime/message.h"

namespace lehr::runtime {
namespace {

bool aligned(const void* pointer, std::uint64_t alignment) {
  return (reinterpret_cast<std::uintptr_t>(pointer) & (alignment - 1)) == 0;
}

// Whether memory of the caller's begins in another one, or the other way round.
bool overlap(const void* a, std::uint64_t a_bytes, const void* b, std::uint64_t b_bytes) {
  const auto p = reinterpret_cast<std::uintptr_t>(a), q = reinterpret_cast<std::uintptr_t>(b);
  return p < q ? q - p < a_bytes : p - q < b_bytes && a_bytes > 0;
}

#ifdef NDEBUG
constexpr bool kChecksOverlaps = false;
#else
constexpr bool kChecksOverlaps = true;
#endif

/// One step's tasks, taken by whichever worker is free.
struct Round {
  Entry entry;
  void* const* params;
  unsigned char* scratch;
  std::uint64_t scratch_bytes;  ///< of one worker
  long tasks;
  std::atomic<long> next = 0;
};

void take_tasks(void* context, std::uint32_t worker) {
  Round& round = *static_cast<Round*>(context);
  void* const scratch = round.scratch == nullptr ? nullptr : round.scratch + worker * round.scratch_bytes;
  for (long task = round.next.fetch_add(1, std::memory_order_relaxed); task < round.tasks;
       task = round.next.fetch_add(1, std::memory_order_relaxed))
    round.entry(round.params, scratch, task);
}

void run_step(const Step& step, void* const* params, const Answer& answer, const lehr_call& call) {
  auto* const scratch = static_cast<unsigned char*>(call.scratch);
  if (call.workers <= 1 || step.tasks == 1) {
    for (long task = 0; task < step.tasks; ++task) step.entry(params, scratch, task);
    return;
  }
  Round round{step.entry, params, scratch, answer.scratch_bytes, step.tasks};
  call.parallel_for(call.pool, call.workers, &take_tasks, &round);
  take_tasks(&round, 0);  // of a pool that called fewer workers than it was asked for
}

void run_kernel(const LoadedKernel& kernel, void* const* params, const Answer& answer,
                const lehr_call& call) {
  for (std::uint32_t i = 0; i < kernel.manifest->steps; ++i) run_step(kernel.steps[i], params, answer, call);
}

// A kernel's parameters for slices from `first` on.
void slice(const LoadedKernel& kernel, std::uint64_t first, const lehr_call& call, void** params) {
  for (std::uint32_t i = 0; i < kernel.manifest->params; ++i)
    params[i] = static_cast<unsigned char*>(call.params[i]) + first * kernel.params[i].slice_bytes;
}

// The last slices of a workload, fewer than the kernel computes: it works on copies in the scratch memory,
// whose other slices are zero.
void run_padded(const Part& part, const Answer& answer, const lehr_call& call) {
  const LoadedKernel& kernel = *part.kernel;
  void* whole[Manifest::kMostParams];
  void* padded[Manifest::kMostParams];
  slice(kernel, part.first, call, whole);
  auto* copy = static_cast<unsigned char*>(call.scratch) +
               answer.scratch_bytes * (call.workers > 1 ? call.workers : 1);
  for (std::uint32_t i = 0; i < kernel.manifest->params; ++i) {
    const ManifestParam& param = kernel.params[i];
    padded[i] = whole[i];
    if (param.slice_bytes == 0) continue;
    padded[i] = copy;
    const std::uint64_t used = part.used * param.slice_bytes,
                        all = kernel.manifest->slices * param.slice_bytes;
    if (param.role == LEHR_IN) {
      std::memcpy(copy, whole[i], used);
      std::memset(copy + used, 0, all - used);
    }
    copy += (all + 63) / 64 * 64;
  }
  run_kernel(kernel, padded, answer, call);
  for (std::uint32_t i = 0; i < kernel.manifest->params; ++i)
    if (kernel.params[i].role == LEHR_OUT && kernel.params[i].slice_bytes > 0)
      std::memcpy(whole[i], padded[i], part.used * kernel.params[i].slice_bytes);
}

// Some rows of a call by a kernel that is told how many they are, by one more parameter.
void run_told(const LoadedKernel& kernel, std::uint64_t first, std::uint64_t rows, const Answer& answer,
              const lehr_call& call) {
  auto told = static_cast<std::int64_t>(rows);
  void* params[Manifest::kMostParams + 1];
  slice(kernel, first, call, params);
  params[kernel.manifest->params] = &told;
  run_kernel(kernel, params, answer, call);
}

void run_part(const Part& part, const Answer& answer, const lehr_call& call) {
  const LoadedKernel& kernel = *part.kernel;
  if (part.is_padded()) return run_padded(part, answer, call);
  if (part.first == 0 && part.repeats == 1 && part.rows == 0)
    return run_kernel(kernel, call.params, answer, call);
  for (std::uint64_t i = 0; i < part.repeats; ++i)
    run_told(kernel, part.first + i * part.size(), part.size(), answer, call);
}

// What is wrong with the number of rows that a call states; or LEHR_OK.
lehr_status check_rows(const Answer& answer, std::uint64_t rows, lehr_error* error) {
  if (!answer.is_open())
    return rows == 0 ? LEHR_OK
                     : fail(error, LEHR_BAD_ARGUMENT,
                            "lehr_call::rows is %llu, and the kernel's rows are fixed: set it to 0",
                            static_cast<unsigned long long>(rows));
  const ManifestSet& set = *answer.set->manifest;
  if (rows >= set.least && rows <= set.most) return LEHR_OK;
  return fail(error, LEHR_BAD_ARGUMENT, "lehr_call::rows is %llu: the kernel takes %llu to %llu",
              static_cast<unsigned long long>(rows), static_cast<unsigned long long>(set.least),
              static_cast<unsigned long long>(set.most));
}

// What is wrong with a call, or LEHR_OK. `needed`: a bit per parameter that is used. A call of an older
// program is in `room` then.
lehr_status check(const Answer* answer, const lehr_call*& call, lehr_call& room, std::uint64_t needed,
                  bool prepacking, lehr_error* error) {
  constexpr std::size_t kFirst = offsetof(lehr_call, pool) + sizeof call->pool;
  if (answer == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "the kernel is not one of an open bundle");
  if (call == nullptr) return fail(error, LEHR_BAD_ARGUMENT, "the call is a null pointer");
  if (const lehr_status status = take_in_place(call, kFirst, "lehr_call", room, error); status != LEHR_OK)
    return status;
  if (answer->parts[0].kernel->manifest->on_cuda())
    return fail(error, LEHR_BAD_ARGUMENT, "the kernel is for %s: lehr_launch puts it on a stream",
                answer->parts[0].kernel->manifest->target.data());
  if (const lehr_status status = prepacking ? LEHR_OK : check_rows(*answer, call->rows, error);
      status != LEHR_OK)
    return status;
  const CheckedCall checked{call->params, call->param_count, needed, prepacking, prepacking ? 0 : call->rows};
  if (const lehr_status status = check_params(*answer, checked, error); status != LEHR_OK) return status;
  if (call->workers > 1 && call->parallel_for == nullptr)
    return fail(error, LEHR_BAD_ARGUMENT, "%u workers are asked for without a parallel_for", call->workers);
  return LEHR_OK;
}

lehr_status check_scratch(const Answer& answer, const lehr_call& call, lehr_error* error) {
  const std::uint64_t needed =
      answer.scratch_bytes * (call.workers > 1 ? call.workers : 1) + answer.padding_bytes;
  if (needed == 0) return LEHR_OK;
  if (call.scratch == nullptr || call.scratch_bytes < needed)
    return fail(error, LEHR_BAD_ARGUMENT, "%llu bytes of scratch are too few: %u workers need %llu",
                static_cast<unsigned long long>(call.scratch == nullptr ? 0 : call.scratch_bytes),
                call.workers > 1 ? call.workers : 1, static_cast<unsigned long long>(needed));
  if (!aligned(call.scratch, 64))
    return fail(error, LEHR_BAD_ARGUMENT, "the scratch is not aligned to 64 bytes");
  for (std::uint32_t i = 0; kChecksOverlaps && i < answer.params.size(); ++i)
    if (overlap(call.scratch, needed, call.params[i], answer.bytes_of(answer.params[i], call.rows)))
      return fail(error, LEHR_BAD_ARGUMENT, "the scratch overlaps %s", answer.params[i].name.data());
  return LEHR_OK;
}

// Whether lehr_run, lehr_launch (or, `prepacking`, lehr_prepack) writes it.
bool is_written(const ManifestParam& param, bool prepacking) {
  return prepacking ? param.role == LEHR_PREPACKED : param.role == LEHR_OUT || param.role == LEHR_WORKSPACE;
}

}  // namespace

lehr_status check_overlaps(const Answer& answer, const CheckedCall& call, lehr_error* error) {
  for (std::uint32_t i = 0; i < answer.params.size(); ++i) {
    const ManifestParam& written = answer.params[i];
    if ((call.needed >> i & 1) == 0 || !is_written(written, call.prepacking)) continue;
    for (std::uint32_t j = 0; j < answer.params.size(); ++j)
      if (j != i && (call.needed >> j & 1) != 0 &&
          overlap(call.params[i], answer.bytes_of(written, call.rows), call.params[j],
                  answer.bytes_of(answer.params[j], call.rows)))
        return fail(error, LEHR_BAD_ARGUMENT, "%s, which is written, overlaps %s", written.name.data(),
                    answer.params[j].name.data());
  }
  return LEHR_OK;
}

lehr_status check_params(const Answer& answer, const CheckedCall& call, lehr_error* error) {
  if (call.params == nullptr || call.count != answer.params.size())
    return fail(error, LEHR_BAD_ARGUMENT, "the kernel takes %zu parameters, not %u", answer.params.size(),
                call.params == nullptr ? 0 : call.count);
  for (std::uint32_t i = 0; i < call.count; ++i) {
    const ManifestParam& param = answer.params[i];
    if ((call.needed >> i & 1) == 0) continue;
    if (call.params[i] == nullptr)
      return fail(error, LEHR_BAD_ARGUMENT, "parameter %u, %s, is a null pointer", i, param.name.data());
    if (!aligned(call.params[i], param.alignment))
      return fail(error, LEHR_BAD_ARGUMENT, "parameter %u, %s, is not aligned to %u bytes", i,
                  param.name.data(), param.alignment);
  }
  return kChecksOverlaps ? check_overlaps(answer, call, error) : LEHR_OK;
}

void run_answer(const Answer& answer, const lehr_call& call) {
  if (answer.is_open()) return run_told(member_for(*answer.set, call.rows), 0, call.rows, answer, call);
  for (const Part& part : answer.parts) run_part(part, answer, call);
}

// All parts, and all members of a set, share one layout (shapes.cpp, set_manifest.cpp), so one function fills
// it for all.
void prepack_answer(const Answer& answer, const lehr_call& call) {
  lehr_call without_scratch = call;
  without_scratch.scratch = nullptr;
  const Step& prepack = answer.prepacks().prepack;
  if (prepack.entry != nullptr) run_step(prepack, call.params, answer, without_scratch);
}

}  // namespace lehr::runtime

using namespace lehr::runtime;

lehr_status lehr_run(lehr_kernel kernel, const lehr_call* call, lehr_error* error) {
  const Answer* const answer = answer_of(kernel);
  lehr_call room;
  if (const lehr_status status = check(answer, call, room, ~std::uint64_t{0}, false, error);
      status != LEHR_OK)
    return status;
  if (const lehr_status status = check_scratch(*answer, *call, error); status != LEHR_OK) return status;
  run_answer(*answer, *call);
  return succeed(error);
}

lehr_status lehr_prepack(lehr_kernel kernel, const lehr_call* call, lehr_error* error) {
  const Answer* const answer = answer_of(kernel);
  lehr_call room;
  if (answer == nullptr || answer->prepacks().prepack.entry == nullptr)
    return answer == nullptr ? check(answer, call, room, 0, true, error) : succeed(error);
  const LoadedKernel& kernel_of_layout = answer->prepacks();
  std::uint64_t needed = kernel_of_layout.manifest->prepack_reads;
  for (std::uint32_t i = 0; i < kernel_of_layout.manifest->params; ++i)
    if (kernel_of_layout.params[i].role == LEHR_PREPACKED) needed |= std::uint64_t{1} << i;
  if (const lehr_status status = check(answer, call, room, needed, true, error); status != LEHR_OK)
    return status;
  prepack_answer(*answer, *call);
  return succeed(error);
}
