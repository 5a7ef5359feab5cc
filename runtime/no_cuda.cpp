#include "runtime/context.h"

namespace lehr::runtime {
void end_cuda(CudaPart*) {}
kernels_status open_cuda(kernels_context* context, int) { return fail(context, KERNELS_NO_KERNEL, "none"); }
kernels_status launch(kernels_context*, const Function&, void* const*) { return KERNELS_NO_KERNEL; }
const CudaKernel* cuda_kernel_of(const kernels_context*, const Function&) { return nullptr; }
const char* why_not_on_gpu(const kernels_context*, const Function&) { return ""; }
void fill_cuda_row(const kernels_context*, const Function&, kernels_row*) {}
}  // namespace lehr::runtime
