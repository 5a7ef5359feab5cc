// Tests of a function with two outputs, of other types and shapes: its header, its table, its self-test,
// calls from C.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "deploy/library.h"
#include "deploy/self_test.h"
#include "tests/deploy/exported.h"

namespace lehr {
namespace {

using lehr::testing::exported;
using lehr::testing::LoadedLibrary;
using ::testing::HasSubstr;

constexpr std::int64_t kMost = 12, kTested = 11, kColumns = 6;

/// Computes means of rows, and twice the input in bf16. FAULT is what it does besides.
constexpr const char* kText = R"(extern "C" void means(void* const* params, void*, long) {
  float* mean = (float*)params[0];
  const float* x = (const float*)params[1];
  unsigned short* y = (unsigned short*)params[2];
  const long rows = *(const long*)params[3];
  const auto bf16 = [](float value) {
    unsigned bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return (unsigned short)(bits >> 16);
  };
  for (long i = 0; i < rows; ++i) {
    float sum = 0;
    for (long j = 0; j < 6; ++j) {
      sum += x[6 * i + j];
      y[6 * i + j] = bf16(2 * x[6 * i + j]);
    }
    mean[i] = sum / 6;
  }
  FAULT;
})";

/// Returns the tensors for so many rows.
std::vector<LibraryTensor> tensors_for(std::int64_t rows) {
  const Draw draw = {Draw::Kind::kNormal, 1, 0.5};
  return {{{"mean", DType::kF32, rows, TensorRole::kOutput}, {{rows, 1}}, 1},
          {{"x", DType::kF32, rows * kColumns, TensorRole::kInput, false, draw},
           {{rows, kColumns}, {kColumns, 1}},
           kColumns},
          {{"y", DType::kBF16, rows * kColumns, TensorRole::kOutput},
           {{rows, kColumns}, {kColumns, 1}},
           kColumns}};
}

/// Returns the test of kTested rows. A mean is exact but for rounding; a doubled value may be off by 0.5.
SelfTest means_test() {
  const std::vector<LibraryTensor> all = tensors_for(kTested);
  const std::vector<TensorSpec> tensors(all.begin(), all.end());
  Reference mean, doubled;
  mean.tolerance = 1e-6;
  doubled.tolerance = 0.5;
  mean.values.resize(kTested);
  const std::vector<std::vector<float>> inputs = known_inputs(tensors);
  for (const float value : inputs.at(1)) {
    mean.values[doubled.values.size() / kColumns] += value / kColumns;
    doubled.values.push_back(2 * value);
  }
  SelfTest test = self_test_of(tensors, {mean, doubled});
  test.rows = kTested;
  return test;
}

struct Fault {
  const char *code, *said;
};
/// The faults of kernels means_0, means_1, ...
constexpr Fault kFaults[] = {{"if (rows == 11) y[65] = bf16(2 * x[65] + 0.25f)", ""},
                             {"mean[4] += 0.25f", "computes mean[4] as "},
                             {"y[65] = bf16(2 * x[65] + 1)", "computes y[65] as "},
                             {"y[13] = 0xffff", "does not write y[13], or writes a NaN"},
                             {"mean[11] = 0", "writes mean behind the last of 11 rows"},
                             {"y[66] = 0", "writes y behind the last of 11 rows"}};

RebuiltKernel kernel_with(const Fault& fault, std::size_t number) {
  RebuiltKernel kernel = exported(fmt::format("gemm m=..{} n=6 k={}", kMost, 1 + number), 10, "gemm_cpu");
  std::string text = kText;
  kernel.source.text = text.replace(text.find("FAULT"), 5, fault.code);
  kernel.source.entry = "means";
  kernel.source.launch = {};
  kernel.source.scratch_bytes = 0;
  kernel.source.params = {{"mean", DType::kF32, kMost, ir::Direction::kOut},
                          {"x", DType::kF32, kMost * kColumns, ir::Direction::kIn},
                          {"y", DType::kBF16, kMost * kColumns, ir::Direction::kOut}};
  return kernel;
}

/// Returns a library of all these, as if an operator had such kernels.
std::vector<FolderFile> files_of_all() {
  std::vector<RebuiltKernel> kernels;
  for (const Fault& fault : kFaults) kernels.push_back(kernel_with(fault, kernels.size()));
  FolderCompilers compilers({});
  Library library =
      library_of(prepared(kernels, compilers), lehr::testing::sets_of(kernels), {"kernels", "test"});
  for (FolderKernel& kernel : library.kernels) kernel.test = means_test();
  for (std::size_t i = 0; i < library.functions.size(); ++i) {
    LibraryFunction& function = library.functions[i];
    function.name = fmt::format("means_{}", i);
    function.text = fmt::format("means m=..{} n=6 number={}", kMost, i);
    function.tensors = tensors_for(kMost);
  }
  return library_files(library, compilers);
}

TEST(SeveralOutputs, AreWhatEachHasToBe) {
  const SelfTest test = means_test();
  ASSERT_EQ(test.outputs.size(), 2U);
  EXPECT_EQ(test.outputs[0].elements.size(), 11U);
  EXPECT_EQ(test.outputs[0].tolerance, 1e-6);
  EXPECT_EQ(test.outputs[1].elements.size(), 16U);
  EXPECT_GT(test.outputs[1].tolerance, 0.5) << "with the rounding to bf16";
  EXPECT_EQ(test.inputs, (std::vector<std::pair<double, double>>{{0, 1}, {1, 0.5}, {0, 1}}));
}

constexpr const char* kProgram = R"(#include "kernels.h"
int main(void) {
  kernels_context* context = kernels_create(1);
  float mean[2], x[12] = {1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 3};
  uint16_t y[12];
  if (kernels_means_0(context, 2, mean, x, y) != KERNELS_OK) return 1;
  kernels_destroy(context);
  return mean[0] == 3.5f && mean[1] == 0.5f && y[0] == 0x4000 && y[11] == 0x40c0 ? 0 : 2;
})";

TEST(SeveralOutputs, AreArgumentsInC) {
  const std::vector<FolderFile> files = files_of_all();
  const LoadedLibrary library(files);
  EXPECT_THAT(std::ranges::find(files, "kernels.h", &FolderFile::path)->bytes,
              HasSubstr("/// means m=..12 n=6 number=0\n/// mean: f32 12, x: f32 12 x 6, y: bf16 12 x 6; "
                        "`rows` of them\nKERNELS_API kernels_status kernels_means_0(kernels_context* "
                        "context, uint64_t rows, float* mean, const float* x, uint16_t* y);\n"));
  const kernels_tensor* const tensors = library.at(0)->tensors;
  EXPECT_EQ(library.at(0)->tensor_count, 3U);
  for (const std::uint32_t i : {0, 1, 2}) EXPECT_EQ(tensors[i].role == KERNELS_OUT, i != 1);
  EXPECT_EQ(tensors[0].dimensions, 1U);
  EXPECT_EQ(tensors[0].row_bytes, 4U);
  EXPECT_EQ(tensors[2].row_bytes, 12U);
  const std::string& folder = library.folder();
  std::ofstream(folder + "/main.c") << kProgram;
  const std::string command = fmt::format(
      "cc -std=c11 -Wall -Wextra -Werror -pedantic -o {0}/main {0}/main.c {0}/libkernels.so "
      "-Wl,-rpath,{0} && {0}/main",
      folder);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  // Each has a test of its own.
  kernels_context* const context = library.create({1, 0, 0, 0, nullptr, nullptr, nullptr});
  for (std::uint32_t i = 0; i < std::size(kFaults); ++i) {
    const kernels_status status = library.self_test(context, library.at(i));
    EXPECT_EQ(status, *kFaults[i].said == '\0' ? KERNELS_OK : KERNELS_WRONG_RESULT) << kFaults[i].code;
    EXPECT_THAT(library.message(context), HasSubstr(kFaults[i].said));
  }
  library.destroy(context);
}

}  // namespace
}  // namespace lehr
