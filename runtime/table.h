// The constant tables of a library: the functions, their kernels, and the processors or GPUs that each kernel
// needs. `lehr export` writes a library's table as text after these declarations.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/cuda_api.h"
#include "runtime/kernels.h"

namespace lehr::runtime {

/// A kernel's function (codegen/source.h). It is called once for each work item of a step. The calls of the
/// next step begin when all calls of the previous step have returned; their numbers `task` continue after
/// those of the previous step. Calls at the same time have different scratch memory, aligned to 64 bytes.
using Entry = void (*)(void* const* params, void* scratch, long task);

/// An element of an output of a self-test.
struct Sample {
  std::uint64_t index = 0;
  double value = 0;
};

/// A self-test of a kernel: how its input is made (self_test.h), and expected elements of an output.
struct Test {
  std::uint64_t rows = 0;  ///< rows that the kernel is called with; 0: their number is fixed
  double tolerance = 0;    ///< tolerance of each sample
  const Sample* samples = nullptr;
  std::uint32_t sample_count = 0;
  /// Mean and deviation of each tensor, two numbers per tensor; nullptr: 0 and 1.
  const double* inputs = nullptr;
  /// Test of the next output, in argument order: its samples and their tolerance.
  const Test* next = nullptr;
};

/// A kernel for processors. Its parameters are, in this order: the function's tensors, packed memory, a
/// workspace, and the address of an int64 with the number of rows, if the kernel takes that as an argument.
struct Kernel {
  const char* name = "";
  Entry entry = nullptr;
  long tasks = 1;  ///< work items of one step
  long steps = 1;
  std::uint64_t scratch_bytes = 0;  ///< scratch memory per worker
  /// Workspace of all workers together, aligned to 64 bytes; 0: the kernel has no workspace.
  std::uint64_t workspace_bytes = 0;
  Entry pack = nullptr;  ///< fills packed memory from the operand; nullptr: the kernel reads no packed memory
  long pack_tasks = 0;
  bool reads_operand = false;  ///< whether the kernel reads the unpacked operand, too
  /// Number of rows that it was compiled for; 0: its function has a fixed number of rows.
  std::uint64_t rows = 0;
  bool takes_rows = false;  ///< whether the kernel takes the number of rows as an argument
  double max_error = 0;
  const Test* test = nullptr;
};

/// A kernel that serves the numbers of rows above the previous member's `to`, up to its own `to`.
struct Member {
  const Kernel* kernel = nullptr;
  std::uint64_t to = 0;
};

/// The measured time of a call with this number of rows.
struct RowTime {
  std::uint64_t rows = 0;
  double us = 0;
};

/// The kernels that were tuned for one function on one kind of processor with one number of threads.
struct Variant {
  const char* device = "";
  const char* arch = "";
  std::uint64_t features = 0;  ///< features of the processor that the kernels use (cpu_features.h)
  std::uint32_t threads = 1;
  bool cold = false;
  /// Members in ascending order of `to`; a single member if the number of rows is fixed.
  const Member* members = nullptr;
  std::uint32_t member_count = 0;
  const RowTime* times = nullptr;  ///< times in ascending order of `rows`; at least one
  std::uint32_t time_count = 0;
  /// The member that fills packed memory for all members; nullptr: no member reads packed memory.
  const Kernel* packs = nullptr;
  /// Bytes of each piece of packed memory, in the order of the parameters.
  const std::uint64_t* pieces = nullptr;
  std::uint32_t piece_count = 0;
  bool keeps_operand = false;  ///< whether a member reads the unpacked operand
};

/// Machine code for a GPU, or PTX that ends in a 0.
struct Image {
  const unsigned char* bytes = nullptr;
  std::uint64_t size = 0;
};

/// A kernel for CUDA. Its parameters are the function's tensors, then workspaces.
struct CudaKernel {
  const char* name = "";  ///< name of the kernel's function in its images
  const char* device = "";
  const char* arch = "";              ///< "sm_90a"
  std::uint32_t arch_number = 0;      ///< 90
  bool this_arch_alone = false;       ///< "sm_90a": no other minor version runs it
  std::uint32_t multiprocessors = 0;  ///< number on the device that the kernel was tuned on
  std::uint32_t compiler = 0;         ///< 1000 major + 10 minor, as drivers report theirs
  std::uint32_t cubin = 0;            ///< position of the machine code in Table::images
  std::uint32_t ptx = 0;              ///< position of the PTX in Table::images; kNoImage: there is no PTX
  std::array<unsigned, 3> grid{}, block{};
  unsigned cluster = 1;  ///< number of blocks along x
  unsigned shared_bytes = 0;
  bool programmatic = false;
  /// For each tensor, the map that is passed instead of the tensor's address; nullptr: the address is passed.
  const CudaTensorMapArguments* const* maps = nullptr;
  const std::uint64_t* workspaces = nullptr;  ///< bytes of each workspace
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
  const char* shorter = "";          ///< other words that a query may use for words of the workload
  const Variant* variants = nullptr;
  const CudaKernel* cuda = nullptr;
  std::uint32_t variant_count = 0;  ///< number of elements in `variants` or `cuda`
};

struct Table {
  std::uint64_t interface = 0;  ///< hash of the header's declarations
  /// Hash of all kernels; memory that was packed by a library with another hash is refused.
  std::uint64_t content = 0;
  /// "x86_64": machine that the kernels for processors are for; "": there are no such kernels.
  const char* machine = "";
  const Function* functions = nullptr;
  std::uint32_t function_count = 0;
  const Image* images = nullptr;
  std::uint32_t image_count = 0;
};

/// Maximum number of parameters of a kernel.
inline constexpr std::uint32_t kMostParams = 64;

/// Returns the library's own table, which `lehr export` writes.
const Table& library_table();

}  // namespace lehr::runtime
