// Makes a context from options.
#include "runtime/context.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/words.h"

kernels_context::~kernels_context() {
  lehr::runtime::end_cuda(cuda);
  std::free(scratch);
}

namespace lehr::runtime {
namespace {

/// The names of features as text: "avx512f, avx512bw and avx512vl".
struct FeatureNames {
  explicit FeatureNames(CpuFeatures features) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < cpu_feature_count(); ++i) {
      const CpuFeatures left = features >> i;
      if ((left & 1) == 0) continue;
      const char* const before = at == 0 ? "" : left == 1 ? " and " : ", ";
      at += static_cast<std::size_t>(
          std::snprintf(text + at, sizeof text - at, "%s%s", before, cpu_feature(i).name.data()));
    }
  }
  char text[1024] = "";  // room for all features of an architecture
};

// Counts bits. std::popcount() calls a function of the compiler's library if processors may lack the
// instruction.
std::uint32_t count_of(CpuFeatures features) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < cpu_feature_count(); ++i) count += features >> i & 1;
  return count;
}

// Returns the features that a function needs and the context lacks. Of all variants, it takes the one that
// lacks the fewest features.
CpuFeatures missing_features(const Function& function, CpuFeatures features) {
  CpuFeatures fewest = ~CpuFeatures{0};
  for (std::uint32_t i = 0; i < function.variant_count; ++i) {
    const CpuFeatures missing = function.variants[i].features & ~features;
    if (i == 0 || count_of(missing) < count_of(fewest)) fewest = missing;
  }
  return fewest;
}

bool runs_here(const Variant& variant, CpuFeatures features) {
  return library_table().machine == cpu_machine() && (variant.features & ~features) == 0;
}

std::uint32_t distance(const Variant& variant, std::uint32_t threads) {
  return variant.threads > threads ? variant.threads - threads : threads - variant.threads;
}

// Returns an upper limit of a call's time on `threads` threads. With fewer threads than the variant was tuned
// for, the time grows in proportion. With more threads, some stay idle.
double most_us(const Variant& variant, std::uint32_t threads) {
  const double us = time_of(variant, 0);
  return variant.threads > threads ? us * variant.threads / threads : us;
}

// Whether another variant for the same processors fits the context's number of threads better: its number of
// threads is nearer, or equally near and it is faster.
bool has_nearer(const Function& function, const Variant& variant, const kernels_context& context) {
  const std::uint32_t far = distance(variant, context.threads);
  for (std::uint32_t i = 0; i < function.variant_count; ++i) {
    const Variant& other = function.variants[i];
    const std::uint32_t its = distance(other, context.threads);
    if (other.features == variant.features &&
        (its < far || (its == far && time_of(other, 0) < time_of(variant, 0))))
      return true;
  }
  return false;
}

// Returns the variant that calls use. For each level of processors, the variant with the nearest number of
// threads is a candidate. The fastest candidate is returned.
const Variant* best_variant(const Function& function, const kernels_context& context) {
  const Variant* best = nullptr;
  for (std::uint32_t i = 0; i < function.variant_count; ++i) {
    const Variant& variant = function.variants[i];
    if (!runs_here(variant, context.features) || has_nearer(function, variant, context)) continue;
    if (best == nullptr || most_us(variant, context.threads) < most_us(*best, context.threads))
      best = &variant;
  }
  return best;
}

// Limits the context to the named features. Returns an error if the processor lacks one of them.
kernels_status limit_features(kernels_context* context, const char* names) {
  CpuFeatures allowed = 0;
  Words words(names);
  for (std::string_view word; words.next(word);) {
    const CpuFeatures bit = cpu_feature_named(word);
    if (bit == 0)
      return fail(context, KERNELS_BAD_ARGUMENT,
                  "'%.*s' is no feature that kernels of this architecture are compiled for",
                  static_cast<int>(word.size()), word.data());
    allowed |= bit;
  }
  context->features &= allowed;
  return KERNELS_OK;
}

kernels_status start_pool(kernels_context* context) {
  context->own_pool = Owner<Pool>::make();
  const std::uint32_t started = context->own_pool ? context->own_pool->start(context->threads) : 0;
  if (started == context->threads) return KERNELS_OK;
  return fail(context, KERNELS_NO_MEMORY, "only %u of %u threads could be started", started,
              context->threads);
}

kernels_status open_cpu(kernels_context* context) {
  const Table& table = library_table();
  bool any = false;
  const Function* first = nullptr;
  for (std::uint32_t i = 0; i < table.function_count; ++i) {
    const Function& function = table.functions[i];
    if (function.shown.target != KERNELS_CPU) continue;
    context->variants[i] = best_variant(function, *context);
    any = any || context->variants[i] != nullptr;
    if (first == nullptr) first = &function;
  }
  if (first == nullptr)
    return fail(context, KERNELS_NO_KERNEL, "the library has kernels for GPUs alone: make a context for one");
  if (!any) return fail_without_kernel(context, *first);
  return context->threads > 1 && context->parallel_for == nullptr ? start_pool(context) : KERNELS_OK;
}

kernels_status set_up(kernels_context* context, std::uint64_t interface, const kernels_options& options) {
  if (interface != library_table().interface)
    return fail(context, KERNELS_BAD_ARGUMENT,
                "the header is not that of this library: compile with the one that was exported with it");
  if (options.threads > kMostThreads)
    return fail(context, KERNELS_BAD_ARGUMENT, "a context has 1 to %u threads, not %u", kMostThreads,
                options.threads);
  context->threads = options.threads > 1 ? options.threads : 1;
  context->features = cpu_features_here();
  context->parallel_for = options.parallel_for;
  context->pool = options.pool;
  if (!context->variants.resize(library_table().function_count))
    return fail(context, KERNELS_NO_MEMORY, "there is no memory for a context");
  if (options.features != nullptr)
    if (const kernels_status status = limit_features(context, options.features); status != KERNELS_OK)
      return status;
  if (const kernels_status status =
          options.cuda != 0 ? open_cuda(context, options.cuda_device) : open_cpu(context);
      status != KERNELS_OK)
    return status;
  return options.self_test != 0 ? kernels_self_test(context, nullptr) : KERNELS_OK;
}

}  // namespace

kernels_status fail(kernels_context* context, kernels_status status, const char* format, ...) {
  if (context == nullptr) return status;
  char sentence[sizeof context->message];  // an argument may be the context's previous message
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  std::memcpy(context->message, sentence, sizeof sentence);
  return status;
}

kernels_status fail_without_kernel(kernels_context* context, const Function& function) {
  const char* const workload = function.shown.workload;
  const Table& table = library_table();
  if ((function.shown.target == KERNELS_CUDA) != (context->cuda != nullptr))
    return fail(context, KERNELS_NO_KERNEL, "'%s' is for %s, and the context is for %s", workload,
                function.shown.target == KERNELS_CUDA ? "GPUs" : "processors",
                context->cuda != nullptr ? "a GPU" : "the processor");
  if (context->cuda != nullptr)
    return fail(context, KERNELS_NO_KERNEL, "the kernel for '%s' needs %s", workload,
                why_not_on_gpu(context, function));
  const std::string_view level = highest_cpu_level(context->features);
  if (table.machine != cpu_machine())
    return fail(
        context, KERNELS_NO_KERNEL,
        "the library's kernels are for %s, which this processor is not: tune with --isa %s or lower, and "
        "export again",
        table.machine, level.data());
  return fail(
      context, KERNELS_NO_KERNEL,
      "the kernel for '%.150s' needs %s, which the processor lacks or the options leave out: tune with "
      "--isa %s or lower, and export again",
      workload, FeatureNames(missing_features(function, context->features)).text, level.data());
}

}  // namespace lehr::runtime

using namespace lehr::runtime;

uint32_t kernels_format(void) {
  return KERNELS_FORMAT;
}

uint64_t kernels_interface(void) {
  return library_table().interface;
}

kernels_context* kernels_create_for(uint64_t interface, const kernels_options* options, char* message,
                                    size_t message_bytes) {
  if (message != nullptr && message_bytes > 0) message[0] = '\0';
  Owner<kernels_context> context = Owner<kernels_context>::make();
  const bool whole = context && set_up(context.get(), interface,
                                       options != nullptr ? *options : kernels_options{}) == KERNELS_OK;
  if (whole) return context.release();
  if (message != nullptr && message_bytes > 0)
    std::snprintf(message, message_bytes, "%s",
                  context ? context->message : "there is no memory for a context");
  return nullptr;
}

void kernels_destroy(kernels_context* context) {
  Owner<kernels_context> ended;
  ended.reset(context);
}

const char* kernels_message(const kernels_context* context) {
  return context != nullptr ? context->message : "there is no context";
}

void kernels_use(kernels_context* context, kernels_parallel_for parallel_for, void* pool) {
  if (context == nullptr) return;
  context->parallel_for = parallel_for;
  context->pool = pool;
}

void kernels_stream(kernels_context* context, void* stream) {
  if (context != nullptr) context->stream = stream;
}
