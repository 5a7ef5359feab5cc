// Calls functions on the processor, and packs operands for them.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/context.h"

namespace lehr::runtime {
namespace {

/// The beginning of packed memory: the library and the variant that it is for.
struct Head {
  std::uint64_t content = 0;
  std::uint32_t function = 0;
  std::uint32_t variant = 0;
};
constexpr std::uint64_t kHeadBytes = 64;

std::uint64_t in_lines(std::uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

std::uint32_t number_of(const Function& function) {
  return static_cast<std::uint32_t>(&function - library_table().functions);
}

/// The work items of a call. A worker that is free takes the next work item.
struct Round {
  Tasks tasks;
  void* const* params;
  unsigned char* scratch;
  std::uint64_t scratch_bytes;  ///< scratch per worker, in whole cache lines
  std::atomic<long> next;
};

void take_tasks(void* context, std::uint32_t worker) {
  Round& round = *static_cast<Round*>(context);
  void* const scratch = round.scratch_bytes == 0 ? nullptr : round.scratch + worker * round.scratch_bytes;
  for (long task = round.next.fetch_add(1, std::memory_order_relaxed); task < round.tasks.end;
       task = round.next.fetch_add(1, std::memory_order_relaxed))
    round.tasks.entry(round.params, scratch, task);
}

[[gnu::cold]] kernels_status fail_argument(kernels_context* context, const Function& function,
                                           std::uint32_t index, const void* argument) {
  const kernels_tensor& tensor = function.shown.tensors[index];
  if (argument == nullptr)
    return fail(context, KERNELS_BAD_ARGUMENT, "%s: %s is a null pointer", function.shown.name, tensor.name);
  return fail(context, KERNELS_BAD_ARGUMENT, "%s: %s is not aligned to %u bytes", function.shown.name,
              tensor.name, tensor.alignment);
}

// Returns the variant for which memory was packed; nullptr if no variant of this function has packed it.
const Variant* packed_for(const Function& function, const void* packed) {
  Head head;
  std::memcpy(&head, packed, sizeof head);
  const bool is_ours = head.content == library_table().content && head.function == number_of(function) &&
                       head.variant < function.variant_count;
  return is_ours ? &function.variants[head.variant] : nullptr;
}

[[gnu::cold]] kernels_status fail_packed(kernels_context* context, const Function& function,
                                         const void* packed) {
  const char* const name = function.shown.tensors[function.packed].name;
  if (packed_for(function, packed) != nullptr)
    return fail(context, KERNELS_BAD_ARGUMENT,
                "%s: %s was packed for processor features that this context leaves out: pack it in this one",
                function.shown.name, name);
  return fail(context, KERNELS_BAD_ARGUMENT, "%s: %s is not what %s_pack of this library has made",
              function.shown.name, name, function.shown.name);
}

// Reports a number of rows that the function does not serve. The command in the message tunes a range that
// includes this number.
[[gnu::cold]] kernels_status fail_rows(kernels_context* context, const Function& function,
                                       std::uint64_t rows) {
  const kernels_function& shown = function.shown;
  if (shown.most_rows == 0)
    return fail(context, KERNELS_BAD_ARGUMENT, "%s: its number of rows is fixed, and the call says %llu",
                shown.name, static_cast<unsigned long long>(rows));
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  constexpr std::uint64_t kMostTuned = 0x7fffffff;
  if (rows > kMostTuned)
    return fail(context, KERNELS_BAD_ARGUMENT, "%s takes %llu to %llu rows, not %llu", shown.name,
                number(shown.least_rows), number(shown.most_rows), number(rows));
  char range[64];
  std::snprintf(range, sizeof range, "%llu..%llu",
                number(std::min(std::max<std::uint64_t>(rows, 1), shown.least_rows)),
                number(std::max(rows, shown.most_rows)));
  return fail(context, KERNELS_BAD_ARGUMENT,
              "%s takes %llu to %llu rows, not %llu: `%s` and `lehr export` make one that does", shown.name,
              number(shown.least_rows), number(shown.most_rows), number(rows),
              TuneCommand(shown.workload, range).text);
}

kernels_status check_call(kernels_context* context, const Function& function, void* const* arguments,
                          std::uint64_t rows) {
  const kernels_function& shown = function.shown;
  if (const kernels_status status = check_rows(context, function, rows); status != KERNELS_OK) return status;
  for (std::uint32_t i = 0; i < shown.tensor_count; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(arguments[i]);
    if (address == 0 || (address & (shown.tensors[i].alignment - 1)) != 0)
      return fail_argument(context, function, i, arguments[i]);
  }
  return KERNELS_OK;
}

const Member& member_for(const Variant& variant, std::uint64_t rows) {
  const Member* member = variant.members;
  while (member->to < rows) ++member;
  return *member;
}

// Puts the address of the unpacked operand in the place of the packed tensor, and appends the packed pieces
// after the tensors.
void place_packed(const Function& function, const Variant& variant, void* packed, void** params) {
  auto* const memory = static_cast<unsigned char*>(packed);
  const std::uint32_t tensor = function.packed;
  std::uint64_t at = kHeadBytes;
  params[tensor] = memory + at;
  if (variant.keeps_operand) at += in_lines(function.shown.tensors[tensor].bytes);
  for (std::uint32_t i = 0; i < variant.piece_count; at += in_lines(variant.pieces[i++]))
    params[function.shown.tensor_count + i] = memory + at;
}

// Does what run_tasks() does, but faster if a call has one work item or one thread, as most calls have.
inline void run(kernels_context& context, const Kernel& kernel, void* const* params) {
  if (kernel.tasks == 1 && kernel.steps == 1) {
    kernel.entry(params, context.scratch, 0);
    return;
  }
  for (long step = 0; step < kernel.steps; ++step)
    run_tasks(context, {kernel.entry, step * kernel.tasks, (step + 1) * kernel.tasks, kernel.scratch_bytes},
              params);
}

kernels_status run_variant(kernels_context& context, const Function& function, const Variant& variant,
                           void* const* arguments, std::uint64_t rows) {
  const Kernel& kernel = *member_for(variant, rows).kernel;
  if (!reserve_scratch(context, kernel))
    return fail(&context, KERNELS_NO_MEMORY, "there is no memory for the scratch of %s", function.shown.name);
  if (function.packed == kNoTensor && !kernel.takes_rows && kernel.workspace_bytes == 0) {
    run(context, kernel, arguments);
    return KERNELS_OK;
  }
  Params params;
  fill_params(context, function, variant, kernel, arguments, rows, params);
  run(context, kernel, params.of);
  return KERNELS_OK;
}

}  // namespace

kernels_status check_rows(kernels_context* context, const Function& function, std::uint64_t rows) {
  const kernels_function& shown = function.shown;
  // A call with 0 rows is wrong for every range, since the difference wraps around.
  const bool wrong =
      shown.most_rows == 0 ? rows != 0 : rows - shown.least_rows > shown.most_rows - shown.least_rows;
  return wrong ? fail_rows(context, function, rows) : KERNELS_OK;
}

void run_tasks(kernels_context& context, const Tasks& tasks, void* const* params) {
  if (tasks.end - tasks.first == 1 || context.threads == 1) {
    for (long task = tasks.first; task < tasks.end; ++task) tasks.entry(params, context.scratch, task);
    return;
  }
  Round round{tasks, params, context.scratch, in_lines(tasks.scratch_bytes), tasks.first};
  if (context.parallel_for != nullptr)
    context.parallel_for(context.pool, context.threads, &take_tasks, &round);
  else if (context.own_pool)
    context.own_pool->run(context.threads, &take_tasks, &round);
  take_tasks(&round, 0);  // needed if the pool called fewer workers than requested
}

bool reserve_scratch(kernels_context& context, const Kernel& kernel) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(in_lines(kernel.scratch_bytes), context.threads, &bytes) ||
      __builtin_add_overflow(bytes, in_lines(kernel.workspace_bytes), &bytes))
    return false;
  if (bytes <= context.scratch_bytes) return true;
  void* const grown = std::aligned_alloc(64, bytes);
  if (grown == nullptr) return false;
  std::free(context.scratch);
  context.scratch = static_cast<unsigned char*>(grown);
  context.scratch_bytes = bytes;
  return true;
}

std::uint64_t packed_bytes(const Function& function, const Variant& variant) {
  std::uint64_t bytes = kHeadBytes;
  if (variant.keeps_operand) bytes += in_lines(function.shown.tensors[function.packed].bytes);
  for (std::uint32_t i = 0; i < variant.piece_count; ++i) bytes += in_lines(variant.pieces[i]);
  return bytes;
}

void fill_params(const kernels_context& context, const Function& function, const Variant& variant,
                 const Kernel& kernel, void* const* arguments, std::uint64_t rows, Params& params) {
  const std::uint32_t tensors = function.shown.tensor_count;
  std::memcpy(params.of, arguments, tensors * sizeof *params.of);
  if (function.packed != kNoTensor) place_packed(function, variant, arguments[function.packed], params.of);
  params.rows = static_cast<std::int64_t>(rows);
  std::uint32_t behind = tensors + (kernel.pack != nullptr ? variant.piece_count : 0);
  if (kernel.workspace_bytes > 0)
    params.of[behind++] = context.scratch + in_lines(kernel.scratch_bytes) * context.threads;
  if (kernel.takes_rows) params.of[behind] = &params.rows;
}

void pack(kernels_context& context, const Function& function, const Variant& variant, const void* operand,
          void* packed) {
  const Head head = {library_table().content, number_of(function),
                     static_cast<std::uint32_t>(&variant - function.variants)};
  std::memset(packed, 0, kHeadBytes);
  std::memcpy(packed, &head, sizeof head);
  void* params[kMostParams] = {};
  place_packed(function, variant, packed, params);
  if (variant.keeps_operand)
    std::memcpy(params[function.packed], operand, function.shown.tensors[function.packed].bytes);
  params[function.packed] = const_cast<void*>(operand);
  if (variant.packs != nullptr)
    run_tasks(context, {variant.packs->pack, 0, variant.packs->pack_tasks}, params);
}

kernels_status call(kernels_context* context, const Function& function, void* const* arguments,
                    std::uint64_t rows) {
  if (context == nullptr) return KERNELS_BAD_ARGUMENT;
  if (const kernels_status status = check_call(context, function, arguments, rows); status != KERNELS_OK)
    return status;
  if (context->cuda != nullptr) return launch(context, function, arguments);
  const Variant* variant = context->variants[number_of(function)];
  if (variant == nullptr) return fail_without_kernel(context, function);
  if (function.packed != kNoTensor) {
    variant = packed_for(function, arguments[function.packed]);
    if (variant == nullptr || (variant->features & ~context->features) != 0)
      return fail_packed(context, function, arguments[function.packed]);
  }
  return run_variant(*context, function, *variant, arguments, rows);
}

}  // namespace lehr::runtime

using namespace lehr::runtime;

kernels_status kernels_call(kernels_context* context, const kernels_function* shown, void* const* arguments,
                            uint64_t rows) {
  const Function* const function = function_of(context, shown);
  if (function == nullptr) return KERNELS_BAD_ARGUMENT;
  if (arguments == nullptr)
    return fail(context, KERNELS_BAD_ARGUMENT, "%s: the arguments are a null pointer", shown->name);
  return call(context, *function, arguments, rows);
}

uint64_t kernels_pack_bytes(kernels_context* context, const kernels_function* shown) {
  const Function* const function = function_of(context, shown);
  const Variant* const variant = function != nullptr ? context->variants[number_of(*function)] : nullptr;
  return variant != nullptr && function->packed != kNoTensor ? packed_bytes(*function, *variant) : 0;
}

kernels_status kernels_pack(kernels_context* context, const kernels_function* shown, const void* operand,
                            void* packed) {
  const Function* const function = function_of(context, shown);
  if (function == nullptr) return KERNELS_BAD_ARGUMENT;
  const std::uint32_t tensor = function->packed;
  const Variant* const variant = context->variants[number_of(*function)];
  if (tensor == kNoTensor)
    return fail(context, KERNELS_BAD_ARGUMENT, "%s has no operand that is packed", shown->name);
  if (variant == nullptr) return fail_without_kernel(context, *function);
  if (operand == nullptr || packed == nullptr || reinterpret_cast<std::uintptr_t>(packed) % 64 != 0)
    return fail(context, KERNELS_BAD_ARGUMENT,
                "%s_pack takes %s, and %llu bytes to pack it in, aligned to 64 bytes", shown->name,
                shown->tensors[tensor].name,
                static_cast<unsigned long long>(packed_bytes(*function, *variant)));
  pack(*context, *function, *variant, operand, packed);
  return KERNELS_OK;
}
