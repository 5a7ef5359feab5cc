// The constant tables of a library: which kernels each function has, and where each runs. `lehr export`
// writes one as text behind these declarations.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/cuda_api.h"
#include "runtime/kernels.h"

namespace lehr::runtime {

/// A kernel's function (codegen/source.h): called for each of its tasks, and, when all of these have
/// returned, for as many more in each further step. Each call has scratch of its own that is aligned to 64
/// bytes.
using Entry = void (*)(void* const* params, void* scratch, long task);

/// An element of an output of a self-test.
struct Sample {
  std::uint64_t index = 0;
  double value = 0;
};

/// Input of a kernel (self_test.h), and some of an output.
struct Test {
  std::uint64_t rows = 0;  ///< that the kernel is told of; 0: their number is fixed
  double tolerance = 0;    ///< of each sample
  const Sample* samples = nullptr;
  std::uint32_t sample_count = 0;
  /// Mean and deviation of each tensor, two numbers each; nullptr: 0 and 1.
  const double* inputs = nullptr;
  const Test* next = nullptr;  ///< of the next output, in argument order: its samples and their tolerance
};

/// A kernel for processors. Its parameters are the function's tensors, then packed memory, then a workspace,
/// then, where it is told the number of rows, the address of an int64 with it.
struct Kernel {
  const char* name = "";
  Entry entry = nullptr;
  long tasks = 1;  ///< of one step
  long steps = 1;
  std::uint64_t scratch_bytes = 0;    ///< of one worker
  std::uint64_t workspace_bytes = 0;  ///< that all workers share, aligned to 64 bytes; 0: it has none
  Entry pack = nullptr;               ///< fills the packed memory from the operand; nullptr: it has none
  long pack_tasks = 0;
  bool reads_operand = false;  ///< it reads the packed tensor as it lies, too
  std::uint64_t rows = 0;      ///< that its tensors have; 0: it belongs to a function with a fixed number
  bool told = false;           ///< it is told how many of them there are
  double max_error = 0;
  const Test* test = nullptr;
};

/// The kernel for the numbers of rows from behind the member before it up to these.
struct Member {
  const Kernel* kernel = nullptr;
  std::uint64_t to = 0;
};

/// The time that a row takes for so many rows.
struct RowTime {
  std::uint64_t rows = 0;
  double us = 0;
};

/// The kernels that were tuned for one function on one kind of processor with one number of threads.
struct Row {
  const char* device = "";
  const char* arch = "";
  std::uint64_t features = 0;  ///< of the processor, that its kernels use (cpu_features.h)
  std::uint32_t threads = 1;
  bool cold = false;
  const Member* members = nullptr;  ///< one where the number of rows is fixed; `to` ascends
  std::uint32_t member_count = 0;
  const RowTime* times = nullptr;  ///< one at least; `rows` ascends
  std::uint32_t time_count = 0;
  const Kernel* packs = nullptr;  ///< the member that fills packed memory for all; nullptr: none has any
  /// Bytes of each piece of packed memory, in the order of the parameters.
  const std::uint64_t* pieces = nullptr;
  std::uint32_t piece_count = 0;
  bool keeps_operand = false;  ///< some member reads the packed tensor as it lies
};

/// Machine code, or text for the driver, which ends in a 0.
struct Image {
  const unsigned char* bytes = nullptr;
  std::uint64_t size = 0;
};

/// A kernel for CUDA. Its parameters are the function's tensors, then workspaces.
struct CudaKernel {
  const char* name = "";  ///< in its images
  const char* device = "";
  const char* arch = "";              ///< "sm_90a"
  std::uint32_t arch_number = 0;      ///< 90
  bool this_arch_alone = false;       ///< "sm_90a": no other minor version runs it
  std::uint32_t multiprocessors = 0;  ///< of the device that it was tuned on
  std::uint32_t compiler = 0;         ///< 1000 major + 10 minor, as drivers tell theirs
  std::uint32_t cubin = 0;            ///< index of Table::images
  std::uint32_t ptx = 0;              ///< the same; kNoImage: none
  std::array<unsigned, 3> grid{}, block{};
  unsigned cluster = 1;  ///< blocks along x
  unsigned shared_bytes = 0;
  bool programmatic = false;
  /// For each tensor: the argument is this map of it; nullptr: its address.
  const CudaTensorMapArguments* const* maps = nullptr;
  const std::uint64_t* workspaces = nullptr;  ///< bytes of each
  std::uint32_t workspace_count = 0;
  bool cold = false;
  double time_us = 0;
  double max_error = 0;
};
inline constexpr std::uint32_t kNoImage = static_cast<std::uint32_t>(-1);

inline constexpr std::uint32_t kNoTensor = static_cast<std::uint32_t>(-1);

struct Function {
  kernels_function shown = {};
  std::uint32_t packed = kNoTensor;  ///< position of the tensor that is packed
  const char* defaults = "";         ///< words of the workload that need not be said, separated by spaces
  const char* shorter = "";          ///< other words for words of it
  const Row* rows = nullptr;
  const CudaKernel* cuda = nullptr;
  std::uint32_t row_count = 0;  ///< of either
};

struct Table {
  std::uint64_t interface = 0;  ///< hash of what the header declares
  std::uint64_t content = 0;    ///< hash of all kernels: packed memory of another library is refused
  const char* machine = "";     ///< "x86_64": that the kernels for processors are for; "": there are none
  const Function* functions = nullptr;
  std::uint32_t function_count = 0;
  const Image* images = nullptr;
  std::uint32_t image_count = 0;
};

/// Most parameters of a kernel.
inline constexpr std::uint32_t kMostParams = 64;

/// The library's own, which `lehr export` writes.
const Table& library_table();

}  // namespace lehr::runtime
