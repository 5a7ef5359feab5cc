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
  /// A piece for each thread, then the workspace. Grows to what the largest kernel that was called needs.
  unsigned char* scratch = nullptr;
  std::uint64_t scratch_bytes = 0;
  lehr::runtime::CudaPart* cuda = nullptr;  ///< nullptr: it is for the processor
  void* stream = nullptr;                   ///< of the GPU that calls go to
  char message[508] = "";
};

namespace lehr::runtime {

/// Writes the context's sentence, cut to what fits. Returns `status`.
[[gnu::format(printf, 3, 4), gnu::cold]] kernels_status fail(kernels_context* context, kernels_status status,
                                                             const char* format, ...);

/// Returns an argument as calls take it.
inline void* pointer(const void* argument) {
  return const_cast<void*>(argument);
}
/// Calls one of the table's functions, as kernels_call() does.
kernels_status call(kernels_context* context, const Function& function, void* const* arguments,
                    std::uint64_t rows);
/// Tasks of a kernel that may run at the same time: those of a step, or those that fill packed memory.
struct Tasks {
  Entry entry = nullptr;
  long first = 0, end = 1;
  std::uint64_t scratch_bytes = 0;  ///< of one worker, in the context's scratch; 0: the entry takes none
};
/// Runs them on the context's threads.
void run_tasks(kernels_context& context, const Tasks& tasks, void* const* params);
/// The parameters of a call of a row's kernel: the tensors, with the operand as it lies in place of packed
/// memory, then its pieces, then the workspace, then the address of `told`.
struct Params {
  void* of[kMostParams];
  std::int64_t told = 0;
};
/// Fills them for a call with these arguments and rows. The context's scratch has been reserved.
void fill_params(const kernels_context& context, const Function& function, const Row& row,
                 const Kernel& kernel, void* const* arguments, std::uint64_t rows, Params& params);
/// Packs an operand for a row, in memory for packed_bytes() of it.
void pack(kernels_context& context, const Function& function, const Row& row, const void* operand,
          void* packed);
/// Makes the context's scratch large enough for the kernel on its threads. False where there is no memory.
bool reserve_scratch(kernels_context& context, const Kernel& kernel);
/// Returns the bytes of all that is packed for a row, with its head.
std::uint64_t packed_bytes(const Function& function, const Row& row);

/// Returns the table's entry that a caller names; nullptr, with the context's sentence, for any other
/// address.
const Function* function_of(kernels_context* context, const kernels_function* shown);
/// The command that tunes a workload to the word, "echo 'gemm m=1..64 n=512 k=512' | lehr tune --problems -",
/// cut to what fits: its text, with `rows`, where it is not "", in place of what m is.
struct TuneCommand {
  TuneCommand(std::string_view workload, const char* rows);
  char text[400];
};
/// Refuses a number of rows that no call may have, with the context's sentence.
kernels_status check_rows(kernels_context* context, const Function& function, std::uint64_t rows);
/// Says that a function does not run in this context, and why.
kernels_status fail_without_kernel(kernels_context* context, const Function& function);

/// Tests all kernels of a row.
kernels_status self_test(kernels_context* context, const Function& function, const Row& row);
/// Returns the time of so many rows, from the measured times beside it; `rows` 0: of the most.
double time_of(const Row& row, std::uint64_t rows);

/// Fills `context->cuda`: loads the driver, finds the GPU's context, loads the modules of the kernels that
/// run there, chooses one for each function, and takes zeroed workspaces. KERNELS_NO_KERNEL where none runs,
/// KERNELS_DRIVER_ERROR where the driver refuses something, KERNELS_NO_MEMORY. Whatever it answers,
/// end_cuda() of `context->cuda` gives back what was taken.
kernels_status open_cuda(kernels_context* context, int device);
/// Puts the function's kernel on the context's stream. The arguments have been checked; that a kernel of the
/// function runs here has not.
kernels_status launch(kernels_context* context, const Function& function, void* const* arguments);
/// Returns the kernel that the context's GPU runs the function with; nullptr: none does.
const CudaKernel* cuda_kernel_of(const kernels_context* context, const Function& function);
/// Returns what the function needs and the GPU, or its driver, has not: the end of a sentence, behind
/// "needs". "" where cuda_kernel_of() has one.
const char* why_not_on_gpu(const kernels_context* context, const Function& function);
/// Fills a row of zeros with the kernel that cuda_kernel_of() has, which is not nullptr.
void fill_cuda_row(const kernels_context* context, const Function& function, kernels_row* row);

}  // namespace lehr::runtime
