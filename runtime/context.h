// A context: everything that calls of a library's functions need, and that is made only once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cpu_features.h"
#include "runtime/kernels.h"
#include "runtime/memory.h"
#include "runtime/pool.h"
#include "runtime/table.h"

namespace lehr::runtime {

struct CudaPart;  // the GPU's part of a context (context_cuda.cpp)
/// Releases a CudaPart, which may be nullptr.
void end_cuda(CudaPart* part);

}  // namespace lehr::runtime

struct kernels_context {
  ~kernels_context();

  std::uint32_t threads = 1;
  lehr::runtime::CpuFeatures features = 0;  ///< features that kernels may use
  kernels_parallel_for parallel_for = nullptr;
  void* pool = nullptr;
  lehr::runtime::Owner<lehr::runtime::Pool> own_pool;
  /// For each function, the variant that its calls use; nullptr if no variant runs here, or if the function
  /// is for the other target.
  lehr::runtime::Array<const lehr::runtime::Variant*> variants;
  /// Scratch memory: a piece for each thread, then the workspace. It grows to the needs of the largest kernel
  /// that was called.
  unsigned char* scratch = nullptr;
  std::uint64_t scratch_bytes = 0;
  lehr::runtime::CudaPart* cuda = nullptr;  ///< nullptr: the context is for the processor
  void* stream = nullptr;                   ///< the GPU's stream that calls go to
  char message[508] = "";
};

namespace lehr::runtime {

/// Writes the sentence to the context's message, cut to what fits. Returns `status`.
[[gnu::format(printf, 3, 4), gnu::cold]] kernels_status fail(kernels_context* context, kernels_status status,
                                                             const char* format, ...);

/// Returns an argument as the pointer type that calls take.
inline void* pointer(const void* argument) {
  return const_cast<void*>(argument);
}
/// Calls a function of the table, as kernels_call() does.
kernels_status call(kernels_context* context, const Function& function, void* const* arguments,
                    std::uint64_t rows);
/// Work items of a kernel that may run at the same time: the work items of one step, or the work items that
/// fill packed memory.
struct Tasks {
  Entry entry = nullptr;
  long first = 0, end = 1;
  /// Scratch per worker, in the context's scratch memory; 0: the entry needs no scratch.
  std::uint64_t scratch_bytes = 0;
};
/// Runs the work items on the context's threads.
void run_tasks(kernels_context& context, const Tasks& tasks, void* const* params);
/// The parameters of a kernel's call, in this order: the tensors (the unpacked operand stands where the
/// caller passed packed memory), the pieces of the packed operand, the workspace, the address of `rows`.
struct Params {
  void* of[kMostParams];
  std::int64_t rows = 0;
};
/// Fills the parameters for a call with these arguments and rows. reserve_scratch() must have been called for
/// the kernel.
void fill_params(const kernels_context& context, const Function& function, const Variant& variant,
                 const Kernel& kernel, void* const* arguments, std::uint64_t rows, Params& params);
/// Packs an operand for a variant. `packed` has packed_bytes() bytes.
void pack(kernels_context& context, const Function& function, const Variant& variant, const void* operand,
          void* packed);
/// Makes the context's scratch memory large enough for the kernel and the context's threads. Returns false if
/// there is no memory.
bool reserve_scratch(kernels_context& context, const Kernel& kernel);
/// Returns the bytes of the packed operand of a variant, including the head of packed memory.
std::uint64_t packed_bytes(const Function& function, const Variant& variant);

/// Returns the table's entry for the function that a caller passes. For any other address, returns nullptr
/// and writes the context's message.
const Function* function_of(kernels_context* context, const kernels_function* shown);
/// The command that tunes a workload, "echo 'gemm m=1..64 n=512 k=512' | lehr tune --problems -", cut to what
/// fits. If `rows` is not "", it replaces the value of m in the workload's text.
struct TuneCommand {
  TuneCommand(std::string_view workload, const char* rows);
  char text[400];
};
/// Returns KERNELS_OK if a call of the function may have this number of rows; else an error, and writes the
/// context's message.
kernels_status check_rows(kernels_context* context, const Function& function, std::uint64_t rows);
/// Returns an error, and writes to the context's message why the function does not run in this context.
kernels_status fail_without_kernel(kernels_context* context, const Function& function);

/// Tests all kernels of a variant.
kernels_status self_test(kernels_context* context, const Function& function, const Variant& variant);
/// Returns the time of a call with `rows` rows, interpolated from measured times. 0 stands for the most rows.
double time_of(const Variant& variant, std::uint64_t rows);

/// Fills `context->cuda`: loads the driver, finds the GPU's context, chooses a kernel that runs on the GPU
/// for each function, loads the modules of these kernels, and allocates zeroed workspaces. Returns
/// KERNELS_NO_KERNEL if no kernel runs on the GPU, KERNELS_DRIVER_ERROR if the driver refuses something, or
/// KERNELS_NO_MEMORY. Also after an error, end_cuda(context->cuda) releases everything.
kernels_status open_cuda(kernels_context* context, int device);
/// Puts the function's kernel on the context's stream. The caller must have checked the arguments. If no
/// kernel of the function runs on the GPU, returns an error.
kernels_status launch(kernels_context* context, const Function& function, void* const* arguments);
/// Returns the kernel that the context's GPU runs for the function; nullptr if it can run none.
const CudaKernel* cuda_kernel_of(const kernels_context* context, const Function& function);
/// Returns what the function needs but the GPU or its driver lacks, as the end of a sentence after "needs".
/// Returns "" if cuda_kernel_of() returns a kernel.
const char* why_not_on_gpu(const kernels_context* context, const Function& function);
/// Fills a zeroed kernels_variant with the kernel of cuda_kernel_of(), which must not be nullptr.
void fill_cuda_variant(const kernels_context* context, const Function& function, kernels_variant* variant);

}  // namespace lehr::runtime
