// A library as `lehr export` writes it, whose kernels a test can read: products of 8 columns, 4 deep.
//   m=4 on the processor, tuned with one thread;  m=1..16 with a constant B, packed by columns;
//   m=4 on a GPU (a stand-in computes it);  m=4 there, 5 deep, whose kernel is a wrong one.
// It also has functions that are no products: a copy by columns, for which the processor has to have the
// first feature that is known; one of bf16; 2 A on a GPU, whose kernel leaves a workspace that it doesn't
// take again. Functions with two outputs: the means of up to 16 rows, and 2 X in bf16; the sums of 4 rows,
// and 2 X; 2 A on a GPU, beside a number.
#include <array>
#include <bit>
#include <cstdint>

#include "runtime/cpu_features.h"
#include "runtime/table.h"

namespace lehr::runtime {
namespace {

constexpr int kN = 8, kK = 4;

void product(const float* a, const float* b, long step, long column, float* c, long rows) {
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < kN; ++j) {
      float sum = 0;
      for (long p = 0; p < kK; ++p) sum += a[i * kK + p] * b[p * step + j * column];
      c[i * kN + j] = sum;
    }
}

void of_four_rows(void* const* params, void*, long) {
  product(static_cast<float*>(params[0]), static_cast<float*>(params[1]), kN, 1,
          static_cast<float*>(params[2]), 4);
}

void of_told_rows(void* const* params, void*, long) {
  product(static_cast<float*>(params[0]), static_cast<float*>(params[3]), 1, kK,
          static_cast<float*>(params[2]), static_cast<long>(*static_cast<std::int64_t*>(params[4])));
}

void packs(void* const* params, void*, long) {
  const auto* b = static_cast<const float*>(params[1]);
  auto* packed = static_cast<float*>(params[3]);
  for (int p = 0; p < kK; ++p)
    for (int j = 0; j < kN; ++j) packed[j * kK + p] = b[p * kN + j];
}

void turns(void* const* params, void*, long) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < kN; ++j)
      static_cast<float*>(params[1])[j * 4 + i] = static_cast<const float*>(params[0])[i * kN + j];
}

void copies_bits(void* const* params, void*, long task) {
  static_cast<std::uint16_t*>(params[1])[task] = static_cast<const std::uint16_t*>(params[0])[task];
}

void doubles_with_means(void* const* params, void*, long) {
  const auto* x = static_cast<const float*>(params[1]);
  const auto rows = *static_cast<std::int64_t*>(params[3]);
  for (std::int64_t i = 0; i < rows; ++i) {
    float sum = 0;
    for (int j = 0; j < kN; ++j) sum += x[i * kN + j];
    static_cast<float*>(params[0])[i] = sum / kN;
  }
  for (std::int64_t i = 0; i < rows * kN; ++i)  // cut, not rounded
    static_cast<std::uint16_t*>(params[2])[i] =
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(2 * x[i]) >> 16);
}

void doubles_with_sums(void* const* params, void*, long) {
  const auto* x = static_cast<const float*>(params[0]);
  for (int i = 0; i < 4; ++i) {
    float& sum = static_cast<float*>(params[1])[i] = 0;
    for (int j = 0; j < kN; ++j) {
      static_cast<float*>(params[2])[i * kN + j] = 2 * x[i * kN + j];
      sum += x[i * kN + j];
    }
  }
}

constexpr kernels_tensor tensor(const char* name, std::uint64_t rows, std::uint64_t columns,
                                std::uint32_t role = KERNELS_IN, std::uint64_t row_bytes = 0) {
  return {name, "f32", role, 0, 16, 2, {rows, columns}, {columns, 1}, 4 * rows * columns, row_bytes};
}
constexpr kernels_tensor packed(kernels_tensor tensor) {
  tensor.packed = 1;
  return tensor;
}
constexpr kernels_tensor by_columns(kernels_tensor tensor) {
  tensor.strides[0] = 1;
  tensor.strides[1] = tensor.shape[0];
  return tensor;
}
constexpr kernels_tensor of_bf16(kernels_tensor tensor) {
  tensor.type = "bf16";
  tensor.bytes /= 2;
  tensor.row_bytes /= 2;
  return tensor;
}
constexpr kernels_tensor flat(kernels_tensor tensor) {
  tensor.dimensions = 1;
  return tensor;
}
constexpr kernels_tensor kFixed[] = {tensor("a", 4, kK), tensor("b", kK, kN),
                                     tensor("c", 4, kN, KERNELS_OUT)};
constexpr kernels_tensor kRange[] = {tensor("a", 16, kK, KERNELS_IN, 4 * kK), packed(tensor("b", kK, kN)),
                                     tensor("c", 16, kN, KERNELS_OUT, 4 * kN)};
constexpr kernels_tensor kDeeper[] = {tensor("a", 4, 5), tensor("b", 5, kN), tensor("c", 4, kN, KERNELS_OUT)};
constexpr kernels_tensor kTurned[] = {tensor("a", 4, kN), by_columns(tensor("c", 4, kN, KERNELS_OUT))};
constexpr kernels_tensor kBits[] = {of_bf16(tensor("a", 2, 3)), of_bf16(tensor("c", 2, 3, KERNELS_OUT))};
constexpr kernels_tensor kDoubled[] = {tensor("a", 4, 4), tensor("c", 4, 4, KERNELS_OUT)};
constexpr kernels_tensor kMeans[] = {flat(tensor("mean", 16, 1, KERNELS_OUT, 4)),
                                     tensor("x", 16, kN, KERNELS_IN, 4 * kN),
                                     of_bf16(tensor("y", 16, kN, KERNELS_OUT, 4 * kN))};
constexpr kernels_tensor kSums[] = {tensor("x", 4, kN), flat(tensor("sum", 4, 1, KERNELS_OUT)),
                                    tensor("y", 4, kN, KERNELS_OUT)};
constexpr kernels_tensor kNumbered[] = {tensor("a", 4, 4), tensor("c", 4, 4, KERNELS_OUT),
                                        tensor("number", 1, 1, KERNELS_OUT)};

constexpr RowTime kTimeOfFour[] = {{0, 2}}, kTimesOfRange[] = {{1, 1}, {16, 4}};
constexpr std::uint64_t kPieces[] = {4 * kK * kN}, kWorkspaces[] = {300};

Kernel kernel(const char* name, Entry entry, std::uint64_t rows) {
  Kernel kernel;
  kernel.name = name;
  kernel.entry = entry;
  kernel.rows = rows;
  kernel.takes_rows = rows > 0;
  kernel.pack = rows > 0 ? &packs : nullptr;
  kernel.pack_tasks = rows > 0 ? 1 : 0;
  return kernel;
}
Kernel without_pack(Kernel kernel) {
  kernel.pack = nullptr;
  return kernel;
}
Kernel with_tasks(Kernel kernel, long tasks) {
  kernel.tasks = tasks;
  return kernel;
}
const Kernel kOfFour = kernel("by_hand", &of_four_rows, 0),
             kOfRange = kernel("packed_by_hand", &of_told_rows, 16), kTurns = kernel("turns", &turns, 0),
             kCopies = with_tasks(kernel("copies", &copies_bits, 0), 6),
             kHasSums = kernel("sums", &doubles_with_sums, 0),
             kHasMeans = without_pack(kernel("means", &doubles_with_means, 16));
const Member kMemberOfFour[] = {{&kOfFour, 0}}, kMemberOfRange[] = {{&kOfRange, 16}},
             kMemberThatTurns[] = {{&kTurns, 0}}, kMemberThatCopies[] = {{&kCopies, 0}},
             kMemberWithSums[] = {{&kHasSums, 0}}, kMemberWithMeans[] = {{&kHasMeans, 16}};

Variant row(const Member* member, const RowTime* times, std::uint32_t time_count) {
  Variant row;
  row.device = "this";
  row.arch = "any";
  row.members = member;
  row.member_count = 1;
  row.times = times;
  row.time_count = time_count;
  return row;
}
Variant packed_row() {
  Variant filled = row(kMemberOfRange, kTimesOfRange, 2);
  filled.threads = 2;
  filled.packs = &kOfRange;
  filled.pieces = kPieces;
  filled.piece_count = 1;
  return filled;
}
Variant with_features(Variant row, std::uint64_t features) {
  row.features = features;
  return row;
}
const Variant kRowOfFour[] = {row(kMemberOfFour, kTimeOfFour, 1)}, kRowOfRange[] = {packed_row()},
              kRowThatTurns[] = {with_features(row(kMemberThatTurns, kTimeOfFour, 1), 1)},
              kRowThatCopies[] = {row(kMemberThatCopies, kTimeOfFour, 1)},
              kRowWithSums[] = {row(kMemberWithSums, kTimeOfFour, 1)},
              kRowWithMeans[] = {row(kMemberWithMeans, kTimesOfRange, 2)};

constexpr CudaTensorMapArguments map_of_a() {
  CudaTensorMapArguments map;
  map.type = 7;
  map.rank = 2;
  map.dims = {4, 4};
  map.stride_bytes = {16};
  map.box = {4, 2};
  map.steps = {1, 1};
  return map;
}
constexpr CudaTensorMapArguments kMap = map_of_a();
constexpr const CudaTensorMapArguments* kMaps[] = {&kMap, nullptr, nullptr};

CudaKernel cuda_kernel() {
  CudaKernel kernel;
  kernel.name = "gemm_4_8_4";
  kernel.device = "H200";
  kernel.arch = "sm_90a";
  kernel.arch_number = 90;
  kernel.this_arch_alone = true;
  kernel.multiprocessors = 132;
  kernel.compiler = 13000;
  kernel.ptx = kNoImage;
  kernel.grid = {2, 3, 4};
  kernel.block = {32, 2, 1};
  kernel.maps = kMaps;
  kernel.workspaces = kWorkspaces;
  kernel.workspace_count = 1;
  kernel.time_us = 3;
  return kernel;
}
CudaKernel dirty_kernel() {
  CudaKernel kernel = cuda_kernel();
  kernel.name = "workspace_left_dirty";
  kernel.grid = {1, 1, 1};
  kernel.block = {16, 1, 1};
  kernel.maps = nullptr;
  return kernel;
}
CudaKernel numbered_kernel() {
  CudaKernel kernel = dirty_kernel();
  kernel.name = "workspace_none";  // this argument, a workspace to the stand-in, is an output here
  kernel.workspace_count = 0;
  return kernel;
}
const CudaKernel kCuda[] = {cuda_kernel()}, kDirty[] = {dirty_kernel()}, kNumbers[] = {numbered_kernel()};
constexpr unsigned char kCubin[] = "FAKE CUBIN";
constexpr Image kImages[] = {{kCubin, sizeof kCubin}};

Function function(kernels_function shown, const Variant* rows, const CudaKernel* cuda) {
  Function function;
  function.shown = shown;
  function.defaults = "batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none";
  function.variants = rows;
  function.cuda = cuda;
  function.variant_count = 1;
  return function;
}
Function packs_b(Function function) {
  function.packed = 1;
  return function;
}
constexpr const char* kOfM4 =
    "gemm m=4 n=8 k=4 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none";
const Function kFunctions[] = {
    function({"kernels_four", kOfM4, kFixed, 3, KERNELS_CPU, 0, 0}, kRowOfFour, nullptr),
    packs_b(function({"kernels_range",
                      "gemm m=1..16 n=8 k=4 batch=1 a=f32:row b=f32:row:constant c=f32:row accum=f32 "
                      "epilogue=none",
                      kRange, 3, KERNELS_CPU, 1, 16},
                     kRowOfRange, nullptr)),
    function({"kernels_four_cuda", kOfM4, kFixed, 3, KERNELS_CUDA, 0, 0}, nullptr, kCuda),
    function({"kernels_wrong_cuda",
              "gemm m=4 n=8 k=5 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none", kDeeper, 3,
              KERNELS_CUDA, 0, 0},
             nullptr, kCuda),
    function({"kernels_turned", "turned m=4 n=8", kTurned, 2, KERNELS_CPU, 0, 0}, kRowThatTurns, nullptr),
    function({"kernels_copied", "copied m=2 n=3", kBits, 2, KERNELS_CPU, 0, 0}, kRowThatCopies, nullptr),
    function({"kernels_doubled_cuda", "doubled m=4 n=4", kDoubled, 2, KERNELS_CUDA, 0, 0}, nullptr, kDirty),
    function({"kernels_means", "means m=1..16 n=8", kMeans, 3, KERNELS_CPU, 1, 16}, kRowWithMeans, nullptr),
    function({"kernels_sums", "sums m=4 n=8", kSums, 3, KERNELS_CPU, 0, 0}, kRowWithSums, nullptr),
    function({"kernels_numbered_cuda", "numbered m=4 n=4", kNumbered, 3, KERNELS_CUDA, 0, 0}, nullptr,
             kNumbers)};

}  // namespace

const Table& library_table() {
  static const Table table = {
      .interface = 7,
      .content = 8,
      .machine = cpu_machine().data(),
      .functions = kFunctions,
      .function_count = sizeof kFunctions / sizeof *kFunctions,
      .images = kImages,
      .image_count = 1,
  };
  return table;
}

}  // namespace lehr::runtime
