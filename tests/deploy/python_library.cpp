// A library made by hand, for python_library.py: functions of few lines for processors, and those for CUDA
// that the stand-in for the driver knows by their names.
#include "runtime/kernels.h"

#include LEHR_LIBRARY_RUNTIME

namespace lehr::runtime {
namespace {

float f32(void* const* params, int tensor, long index) {
  return static_cast<const float*>(params[tensor])[index];
}

// C = A B + bias, for any number of rows: B is packed by columns, a row of C is a task.
void pack_columns(void* const* params, void*, long task) {
  for (long i = 0; i < 4; ++i) static_cast<float*>(params[4])[task * 4 + i] = f32(params, 1, i * 8 + task);
}
void row_of_product(void* const* params, long row) {
  for (long j = 0; j < 8; ++j) {
    float sum = f32(params, 3, j);
    for (long i = 0; i < 4; ++i) sum += f32(params, 0, row * 4 + i) * f32(params, 4, j * 4 + i);
    static_cast<float*>(params[2])[row * 8 + j] = sum;
  }
}
void one_row(void* const* params, void*, long) {
  row_of_product(params, 0);
}
void told_rows(void* const* params, void*, long task) {
  if (task < *static_cast<const std::int64_t*>(params[5])) row_of_product(params, task);
}

// C = A of 4 x 8, by columns.
void by_columns(void* const* params, void*, long row) {
  for (long j = 0; j < 8; ++j) static_cast<float*>(params[1])[j * 4 + row] = f32(params, 0, row * 8 + j);
}

// The same bits.
void copied(void* const* params, void*, long task) {
  static_cast<std::uint16_t*>(params[1])[task] = static_cast<const std::uint16_t*>(params[0])[task];
}

constexpr kernels_tensor tensor(const char* name, const char* type, std::uint64_t bytes, std::uint32_t role,
                                std::uint64_t rows, std::uint64_t columns) {
  return {name,
          type,
          role,
          0,
          static_cast<std::uint32_t>(bytes),
          2,
          {rows, columns},
          {columns, 1},
          bytes * rows * columns,
          0};
}
constexpr kernels_tensor with_rows(kernels_tensor tensor) {
  tensor.row_bytes = tensor.bytes / tensor.shape[0];
  return tensor;
}
constexpr kernels_tensor packed(kernels_tensor tensor) {
  tensor.packed = 1;
  tensor.alignment = 64;
  return tensor;
}
constexpr kernels_tensor columns(kernels_tensor tensor) {
  tensor.strides[0] = 1;
  tensor.strides[1] = tensor.shape[0];
  return tensor;
}
constexpr kernels_tensor of_layer[] = {with_rows(tensor("a", "f32", 4, KERNELS_IN, 64, 4)),
                                       packed(tensor("b", "f32", 4, KERNELS_IN, 4, 8)),
                                       with_rows(tensor("c", "f32", 4, KERNELS_OUT, 64, 8)),
                                       {"bias", "f32", KERNELS_IN, 0, 4, 1, {8}, {1}, 32, 0}};
constexpr kernels_tensor of_columns[] = {tensor("a", "f32", 4, KERNELS_IN, 4, 8),
                                         columns(tensor("c", "f32", 4, KERNELS_OUT, 4, 8))};
constexpr kernels_tensor of_copy[] = {tensor("a", "bf16", 2, KERNELS_IN, 2, 3),
                                      tensor("c", "bf16", 2, KERNELS_OUT, 2, 3)};
constexpr kernels_tensor on_16_bytes(kernels_tensor tensor) {
  tensor.alignment = 16;
  return tensor;
}
constexpr kernels_tensor of_product[] = {on_16_bytes(tensor("a", "f32", 4, KERNELS_IN, 4, 4)),
                                         tensor("b", "f32", 4, KERNELS_IN, 4, 8),
                                         tensor("c", "f32", 4, KERNELS_OUT, 4, 8)};
constexpr kernels_tensor of_double[] = {tensor("a", "f32", 4, KERNELS_IN, 4, 4),
                                        tensor("c", "f32", 4, KERNELS_OUT, 4, 4)};

const Kernel layer_kernels[] = {{"one", one_row, 1, 0, pack_columns, 8, false, 1, false, 0, nullptr},
                                {"few", told_rows, 16, 0, pack_columns, 8, false, 16, true, 0, nullptr},
                                {"many", told_rows, 64, 0, pack_columns, 8, false, 64, true, 0, nullptr}};
const Member layer_members[] = {{&layer_kernels[0], 1}, {&layer_kernels[1], 16}, {&layer_kernels[2], 64}};
const RowTime layer_times[] = {{1, 1}, {64, 50}}, time_of_all[] = {{0, 2}};
const std::uint64_t layer_pieces[] = {4 * 4 * 8};
const Kernel columns_kernel = {"columns", by_columns, 4, 0, nullptr, 0, false, 0, false, 0, nullptr};
const Kernel copy_kernel = {"copy", copied, 6, 0, nullptr, 0, false, 0, false, 0, nullptr};
const Member columns_member = {&columns_kernel, 0}, copy_member = {&copy_kernel, 0};
const Row layer_row = {
    "", "any", 0, 1, false, layer_members, 3, layer_times, 2, &layer_kernels[0], layer_pieces, 1, false};
// It needs the first feature that is known.
const Row columns_row = {"", "any",   1,       1, false, &columns_member, 1, time_of_all,
                         1,  nullptr, nullptr, 0, false};
const Row copy_row = {"", "any", 0, 1, false, &copy_member, 1, time_of_all, 1, nullptr, nullptr, 0, false};

CudaKernel cuda_kernel(const char* name, unsigned threads) {
  CudaKernel kernel;
  kernel.name = name;
  kernel.device = "H200";
  kernel.arch = "sm_90a";
  kernel.arch_number = 90;
  kernel.this_arch_alone = true;
  kernel.multiprocessors = 132;
  kernel.compiler = 13000;
  kernel.ptx = kNoImage;
  kernel.grid = {1, 1, 1};
  kernel.block = {threads, 1, 1};
  kernel.time_us = 3;
  return kernel;
}
CudaKernel with_workspace(CudaKernel kernel) {
  static constexpr std::uint64_t bytes[] = {512};
  kernel.workspaces = bytes;
  kernel.workspace_count = 1;
  return kernel;
}
const CudaKernel product_kernel = cuda_kernel("gemm_4_8_4", 32);
// It says that its workspace was used before.
const CudaKernel double_kernel = with_workspace(cuda_kernel("workspace_left_dirty", 16));

Function function(kernels_function shown, const Row* row, const CudaKernel* cuda,
                  std::uint32_t operand = kNoTensor) {
  return {shown, operand, "", "", row, cuda, 1};
}
const Function functions[] = {
    function({"kernels_gemm_m1to64_n8_k4_b_f32_row_constant_bias",
              "gemm m=1..64 n=8 k=4 b=f32:row:constant epilogue=bias", of_layer, 4, KERNELS_CPU, 1, 64},
             &layer_row, nullptr, 1),
    function({"kernels_columns", "columns m=4 n=8", of_columns, 2, KERNELS_CPU, 0, 0}, &columns_row, nullptr),
    function({"kernels_copy", "copy m=2 n=3", of_copy, 2, KERNELS_CPU, 0, 0}, &copy_row, nullptr),
    function({"kernels_gemm_m4_n8_k4_cuda", "gemm m=4 n=8 k=4", of_product, 3, KERNELS_CUDA, 0, 0}, nullptr,
             &product_kernel),
    function({"kernels_double_cuda", "double width=16", of_double, 2, KERNELS_CUDA, 0, 0}, nullptr,
             &double_kernel)};
const unsigned char image[] = "FAKE CUBIN";
const Image images[] = {{image, sizeof image - 1}};

}  // namespace

const Table& library_table() {
  static const Table table = {7, 11, cpu_machine().data(), functions, 5, images, 1};
  return table;
}

}  // namespace lehr::runtime
