// A context: everything that calls of a library's functions need, made once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cpu_features.h"
#include "runtime/kernels.h"
#include "runtime/memory.h"
#include "runtime/pool.h"
#include "runtime/table.h"

namespace lehr::runtime {

struct CudaPart;  // the part of a context for a GPU (context_cuda.cpp)
/// Ends it; nullptr is allowed.
void end_cuda(CudaPart* part);

}  // namespace lehr::runtime

struct kernels_context {
  ~kernels_context();

  std::uint32_t threads = 1;
  lehr::runtime::CpuFeatures features = 0;  ///< features that kernels may use
  kernels_parallel_for parallel_for = nullptr;
  void* pool = nullptr;
  lehr::runtime::Owner<lehr::runtime::Pool> own_pool;
  /// For each function the variant that its calls use; nullptr: none runs here, or the function is the other
  /// target's.
  lehr::runtime::Array<const lehr::runtime::Variant*> variants;
  /// A piece for each thread, then the workspace. It grows to the needs of the largest kernel that was
  /// called.
  unsigned char* scratch = nullptr;
  std::uint64_t scratch_bytes = 0;
  lehr::runtime::CudaPart* cuda = nullptr;  ///< nullptr: the context is for the processor
  void* stream = nullptr;                   ///< the GPU's stream that calls go to
  char message[508] = "";
};

namespace lehr::runtime {

/// Writes the context's sentence, cut to what fits. Returns `status`.
[[gnu::format(printf, 3, 4), gnu::cold]] kernels_status fail(kernels_context* context, kernels_status status,
                                                             const char* format, ...);

/// Returns an argument in the form that calls take.
inline void* pointer(const void* argument) {
  return const_cast<void*>(argument);
}
/// Calls one of the table's functions, as kernels_call() does.
kernels_status call(kernels_context* context, const Function& function, void* const* arguments,
                    std::uint64_t rows);
/// Work items of a kernel that may run at the same time: those of a step, or those that fill packed memory.
struct Tasks {
  Entry entry = nullptr;
  long first = 0, end = 1;
  std::uint64_t scratch_bytes = 0;  ///< per worker, in the context's scratch; 0: the entry takes none
};
/// Runs the work items on the context's threads.
void run_tasks(kernels_context& context, const Tasks& tasks, void* const* params);
/// The parameters of a kernel's call: the tensors, with the unpacked operand in place of packed memory, then
/// its packed pieces, then the workspace, then the address of `rows`.
struct Params {
  void* of[kMostParams];
  std::int64_t rows = 0;
};
/// Fills the parameters for a call with these arguments and rows. The context's scratch must be reserved.
void fill_params(const kernels_context& context, const Function& function, const Variant& variant,
                 const Kernel& kernel, void* const* arguments, std::uint64_t rows, Params& params);
/// Packs an operand for a variant, into packed_bytes() of memory.
void pack(kernels_context& context, const Function& function, const Variant& variant, const void* operand,
          void* packed);
/// Makes the context's scratch large enough for the kernel on its threads. Returns false if there is no
/// memory.
bool reserve_scratch(kernels_context& context, const Kernel& kernel);
/// Returns the bytes of everything that is packed for a variant, including its head.
std::uint64_t packed_bytes(const Function& function, const Variant& variant);

/// Returns the table's entry that a caller names; nullptr, with the context's sentence, for any other
/// address.
const Function* function_of(kernels_context* context, const kernels_function* shown);
/// The exact command that tunes a workload, "echo 'gemm m=1..64 n=512 k=512' | lehr tune --problems -", cut
/// to what fits: the workload's text with `rows`, if it is not "", as the value of m.
struct TuneCommand {
  TuneCommand(std::string_view workload, const char* rows);
  char text[400];
};
/// Returns an error, with the context's sentence, for a number of rows that a call may not have.
kernels_status check_rows(kernels_context* context, const Function& function, std::uint64_t rows);
/// Reports that a function does not run in this context, and why.
kernels_status fail_without_kernel(kernels_context* context, const Function& function);

/// Tests all kernels of a variant.
kernels_status self_test(kernels_context* context, const Function& function, const Variant& variant);
/// Returns the time of this many rows, interpolated from measured times; `rows` 0: of the most rows.
double time_of(const Variant& variant, std::uint64_t rows);

/// Fills `context->cuda`: loads the driver, finds the GPU's context, loads the modules of the kernels that
/// run there, chooses one for each function, and allocates zeroed workspaces. Returns KERNELS_NO_KERNEL if
/// none runs, KERNELS_DRIVER_ERROR if the driver refuses something, KERNELS_NO_MEMORY. Whatever it returns,
/// end_cuda() of `context->cuda` releases everything.
kernels_status open_cuda(kernels_context* context, int device);
/// Puts the function's kernel on the context's stream. The arguments must be checked; whether a kernel of the
/// function runs here need not be.
kernels_status launch(kernels_context* context, const Function& function, void* const* arguments);
/// Returns the kernel that the context's GPU runs for the function; nullptr: none runs.
const CudaKernel* cuda_kernel_of(const kernels_context* context, const Function& function);
/// Returns what the function needs and the GPU, or its driver, lacks: the end of a sentence, after "needs".
/// "" if cuda_kernel_of() has a kernel.
const char* why_not_on_gpu(const kernels_context* context, const Function& function);
/// Fills a zeroed kernels_variant with the kernel of cuda_kernel_of(), which must not be nullptr.
void fill_cuda_variant(const kernels_context* context, const Function& function, kernels_variant* variant);

}  // namespace lehr::runtime
