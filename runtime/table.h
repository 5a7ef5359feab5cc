// The constant tables of a library: the kernels of each function, and where each runs. `lehr export` writes
// one as text after these declarations.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/cuda_api.h"
#include "runtime/kernels.h"

namespace lehr::runtime {

/// A kernel's function (codegen/source.h). It is called for each of its work items and, when all of these
/// have returned, for as many more in each further step. Each call has its own scratch, aligned to 64 bytes.
using Entry = void (*)(void* const* params, void* scratch, long task);

/// An element of an output of a self-test.
struct Sample {
  std::uint64_t index = 0;
  double value = 0;
};

/// Input of a kernel (self_test.h), and some elements of an output.
struct Test {
  std::uint64_t rows = 0;  ///< rows that the kernel is called with; 0: their number is fixed
  double tolerance = 0;    ///< of each sample
  const Sample* samples = nullptr;
  std::uint32_t sample_count = 0;
  /// Mean and deviation of each tensor, two numbers each; nullptr: 0 and 1.
  const double* inputs = nullptr;
  const Test* next = nullptr;  ///< for the next output, in argument order: its samples and their tolerance
};

/// A kernel for processors. Its parameters are the function's tensors, then packed memory, then a workspace,
/// then, if it takes the number of rows as an argument, the address of an int64 with it.
struct Kernel {
  const char* name = "";
  Entry entry = nullptr;
  long tasks = 1;  ///< work items of one step
  long steps = 1;
  std::uint64_t scratch_bytes = 0;    ///< per worker
  std::uint64_t workspace_bytes = 0;  ///< shared by all workers, aligned to 64 bytes; 0: it has none
  Entry pack = nullptr;               ///< fills the packed memory from the operand; nullptr: it has none
  long pack_tasks = 0;
  bool reads_operand = false;  ///< whether it reads the unpacked tensor, too
  std::uint64_t rows = 0;      ///< rows of its tensors; 0: its function has a fixed number
  bool takes_rows = false;     ///< whether it takes the number of rows as an argument
  double max_error = 0;
  const Test* test = nullptr;
};

/// The kernel for the numbers of rows from behind the previous member up to `to`.
struct Member {
  const Kernel* kernel = nullptr;
  std::uint64_t to = 0;
};

/// The time of a row for this many rows.
struct RowTime {
  std::uint64_t rows = 0;
  double us = 0;
};

/// The kernels that were tuned for one function on one kind of processor with one number of threads.
struct Variant {
  const char* device = "";
  const char* arch = "";
  std::uint64_t features = 0;  ///< features of the processor that its kernels use (cpu_features.h)
  std::uint32_t threads = 1;
  bool cold = false;
  const Member* members = nullptr;  ///< one if the number of rows is fixed; ascending by `to`
  std::uint32_t member_count = 0;
  const RowTime* times = nullptr;  ///< at least one; ascending by `rows`
  std::uint32_t time_count = 0;
  const Kernel* packs = nullptr;  ///< the member that fills packed memory for all; nullptr: none has any
  /// Bytes of each piece of packed memory, in the order of the parameters.
  const std::uint64_t* pieces = nullptr;
  std::uint32_t piece_count = 0;
  bool keeps_operand = false;  ///< whether some member reads the unpacked tensor
};

/// Machine code, or text for the driver, which ends in a 0.
struct Image {
  const unsigned char* bytes = nullptr;
  std::uint64_t size = 0;
};

/// A kernel for CUDA. Its parameters are the function's tensors, then workspaces.
struct CudaKernel {
  const char* name = "";  ///< its name in its images
  const char* device = "";
  const char* arch = "";              ///< "sm_90a"
  std::uint32_t arch_number = 0;      ///< 90
  bool this_arch_alone = false;       ///< "sm_90a": no other minor version runs it
  std::uint32_t multiprocessors = 0;  ///< of the device that it was tuned on
  std::uint32_t compiler = 0;         ///< 1000 major + 10 minor, as drivers report theirs
  std::uint32_t cubin = 0;            ///< position in Table::images
  std::uint32_t ptx = 0;              ///< the same; kNoImage: it has none
  std::array<unsigned, 3> grid{}, block{};
  unsigned cluster = 1;  ///< number of blocks along x
  unsigned shared_bytes = 0;
  bool programmatic = false;
  /// For each tensor the map that is passed instead of its address; nullptr: its address is passed.
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
  std::uint32_t packed = kNoTensor;  ///< position of the packed tensor
  const char* defaults = "";         ///< words of the workload that may be left out, separated by spaces
  const char* shorter = "";          ///< other words for words of it
  const Variant* variants = nullptr;
  const CudaKernel* cuda = nullptr;
  std::uint32_t variant_count = 0;  ///< of `rows` or `cuda`
};

struct Table {
  std::uint64_t interface = 0;  ///< hash of the header's declarations
  std::uint64_t content = 0;    ///< hash of all kernels: packed memory of another library is refused
  /// "x86_64": machine that the kernels for processors are for; "": there are no such kernels.
  const char* machine = "";
  const Function* functions = nullptr;
  std::uint32_t function_count = 0;
  const Image* images = nullptr;
  std::uint32_t image_count = 0;
};

/// Most parameters of a kernel.
inline constexpr std::uint32_t kMostParams = 64;

/// Returns the library's own table, which `lehr export` writes.
const Table& library_table();

}  // namespace lehr::runtime
