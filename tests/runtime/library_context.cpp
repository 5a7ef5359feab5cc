// As much of a library's context as its tests on a GPU need. Gone when runtime/context.cpp is there.
#include "runtime/context.h"

#include <cstdarg>
#include <cstdio>

using namespace lehr::runtime;

kernels_context::~kernels_context() {
  end_cuda(cuda);
}

namespace lehr::runtime {

kernels_status fail(kernels_context* context, kernels_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(context->message, sizeof context->message, format, arguments);
  va_end(arguments);
  return status;
}

kernels_status fail_without_kernel(kernels_context* context, const Function& function) {
  return fail(context, KERNELS_NO_KERNEL, "the kernel for '%s' needs %s", function.shown.workload,
              why_not_on_gpu(context, function));
}

}  // namespace lehr::runtime

kernels_context* kernels_create_for(uint64_t, const kernels_options* options, char* message, size_t bytes) {
  Owner<kernels_context> context = Owner<kernels_context>::make();
  if (open_cuda(context.get(), options->cuda_device) == KERNELS_OK) return context.release();
  std::snprintf(message, bytes, "%s", context->message);
  return nullptr;
}

void kernels_destroy(kernels_context* context) {
  Owner<kernels_context> ended;
  ended.reset(context);
}

const char* kernels_message(const kernels_context* context) {
  return context->message;
}

void kernels_stream(kernels_context* context, void* stream) {
  context->stream = stream;
}

kernels_status kernels_call(kernels_context* context, const kernels_function* function,
                            void* const* arguments, uint64_t) {
  return launch(context, *reinterpret_cast<const Function*>(function), arguments);
}

kernels_status kernels_describe(kernels_context* context, const kernels_function* shown, uint64_t,
                                kernels_row* row) {
  const Function& function = *reinterpret_cast<const Function*>(shown);
  if (cuda_kernel_of(context, function) == nullptr) return fail_without_kernel(context, function);
  *row = {};
  fill_cuda_row(context, function, row);
  return KERNELS_OK;
}

const kernels_function* kernels_at(uint32_t index) {
  return &library_table().functions[index].shown;
}
