// A context: what calls of a library's functions need, made once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cpu_features.h"
#include "runtime/kernels.h"
#include "runtime/memory.h"
#include "runtime/pool.h"
#include "runtime/table.h"

namespace lehr::runtime {

struct CudaPart;  // of a context for a GPU (context_cuda.cpp)
/// Ends it; nullptr is allowed.
void end_cuda(CudaPart* part);

}  // namespace lehr::runtime

struct kernels_context {
  ~kernels_context();

  std::uint32_t threads = 1;
  lehr::runtime::CpuFeatures features = 0;  ///< that kernels may use
  kernels_parallel_for parallel_for = nullptr;
  void* pool = nullptr;
  lehr::runtime::Owner<lehr::runtime::Pool> own_pool;
  /// For each function the row that its calls take; nullptr: none runs here, or it is the other target's.
  lehr::runtime::Array<const lehr::runtime::Row*> rows;
  unsigned char* scratch = nullptr;  ///< grows to what the largest kernel that was called needs
  std::uint64_t scratch_bytes = 0;
  lehr::runtime::CudaPart* cuda = nullptr;  ///< nullptr: it is for the processor
  char message[508] = "";
};

namespace lehr::runtime {

/// Writes the context's sentence, cut to what fits. Returns `status`.
[[gnu::format(printf, 3, 4), gnu::cold]] kernels_status fail(kernels_context* context, kernels_status status,
                                                             const char* format, ...);

/// Calls a function, which is one of the table's; kernels_call() of it.
kernels_status call(kernels_context* context, const Function& function, void* const* arguments,
                    std::uint64_t rows);

/// Checks what every call has: arguments that are there and aligned, and the number of rows.
kernels_status check_arguments(kernels_context* context, const Function& function, void* const* arguments,
                               std::uint64_t rows);
/// Says that a function does not run in this context, and why.
kernels_status fail_without_kernel(kernels_context* context, const Function& function);
/// Says that the library has none for a workload, and the command that tunes it.
kernels_status fail_untuned(kernels_context* context, const char* workload);

/// Fills `context->cuda`: loads the driver, finds the GPU's context, loads the modules of the kernels that
/// run there, chooses one for each function, and takes zeroed workspaces. KERNELS_NO_KERNEL where none runs.
kernels_status open_cuda(kernels_context* context, int device);
/// Puts the function's kernel on the context's stream. The arguments have been checked.
kernels_status launch(kernels_context* context, const Function& function, void* const* arguments);
/// The kernel that the context's GPU runs the function with; nullptr: none does.
const CudaKernel* cuda_kernel_of(const kernels_context* context, const Function& function);
/// Why the GPU does not run the function, as the end of a sentence: "which needs ...".
const char* why_not_on_gpu(const kernels_context* context, const Function& function);
void fill_cuda_row(const kernels_context* context, const Function& function, kernels_row* row);

}  // namespace lehr::runtime
