// Tests of what a library is made of: names, shapes, words, levels of instruction sets, tests of its kernels.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "deploy/library.h"
#include "deploy/self_test.h"
#include "measure/host/host_compiler.h"
#include "measure/host/processor_features.h"
#include "runtime/cpu_features.h"
#include "target/archs.h"
#include "tests/deploy/exported.h"
#include "workload/operator.h"
#include "workload/slices.h"

namespace lehr {
namespace {

using lehr::testing::exported;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SelfTests, HaveInputsThatSuitNarrowTypes) {
  using Spread = std::pair<double, double>;
  EXPECT_TRUE(self_test_of(parse_workload("gemm m=8 n=8 k=8"))->inputs.empty());
  const SelfTest bf16 = *self_test_of(parse_workload("gemm m=8 n=8 k=8 a=bf16 b=bf16 c=bf16"));
  EXPECT_TRUE(bf16.inputs.empty());
  EXPECT_GT(bf16.outputs.at(0).tolerance, 0x1p-9);
  const char* const text = "gemm m=8 n=8 k=64 a=u8 b=s8 c=u8 accum=s32 zero=input epilogue=dequant";
  const SelfTest exact = *self_test_of(parse_workload(std::string(text) + "+residual(s8)+relu+quant"));
  ASSERT_EQ(exact.outputs.size(), 1U);
  EXPECT_EQ(exact.outputs[0].tolerance, 0);
  ASSERT_EQ(exact.inputs.size(), 10U);
  EXPECT_EQ(exact.inputs[0], Spread(128, 50));
  EXPECT_EQ(exact.inputs[3], Spread(131, 0)) << "a zero point";
  EXPECT_EQ(exact.inputs[9], Spread(131, 0)) << "that of the output";
  std::set<float> values;
  for (const auto& [index, value] : exact.outputs[0].elements) values.insert(value);
  EXPECT_GT(values.size(), 5U);
  EXPECT_GT(self_test_of(parse_workload(std::string(text) + "+silu+quant"))->outputs.at(0).tolerance, 0.5);
}

TEST(Shapes, OfOutputsAreThoseOfTheWorkload) {
  const auto sizes = [](const char* text) {
    std::vector<std::int64_t> numbers;
    for (const Dimension& one : output_shape(parse_workload(text))) numbers.push_back(one.size);
    return numbers;
  };
  EXPECT_THAT(sizes("gemm m=3 n=5 k=7"), ElementsAre(3, 5));
  EXPECT_THAT(sizes("gemm m=3 n=5 k=7 batch=2"), ElementsAre(2, 3, 5));
  EXPECT_THAT(sizes("gemm m=3 n=10 k=7 epilogue=swiglu"), ElementsAre(3, 5));
  EXPECT_THAT(sizes("conv2d n=2 h=9 w=8 c=4 k=6 r=3 s=3"), ElementsAre(2, 6, 7, 6));
  EXPECT_THAT(sizes("conv2d n=2 h=9 w=8 c=4 k=6 r=3 s=3 layout=nhwc"), ElementsAre(2, 7, 6, 6));
  EXPECT_THAT(sizes("conv2d h=8 w=8 c=4 k=6 r=1 s=1 epilogue=relu+maxpool(2,2)"), ElementsAre(1, 6, 4, 4));
  for (const char* text : {"gemm m=3 n=5 k=7 batch=2 c=f32:column", "conv2d n=2 h=9 w=8 c=4 k=6 r=3 s=3"}) {
    const Workload workload = parse_workload(text);
    std::int64_t elements = 1, last = 0;
    for (const Dimension& one : output_shape(workload)) {
      elements *= one.size;
      last += (one.size - 1) * one.stride;
    }
    EXPECT_EQ(last, elements - 1) << text;
  }
  EXPECT_EQ(output_shape(parse_workload("gemm m=3 n=5 k=7 c=f32:column"))[1].stride, 3);
}

std::string shape_text(const char* workload, std::size_t tensor) {
  std::string text;
  const std::vector<Dimension> shape = tensor_shapes(parse_workload(workload)).at(tensor);
  for (const Dimension& one : shape) text += fmt::format("{}:{} ", one.size, one.stride);
  return text;
}

TEST(Shapes, OfAllTensorsHoldTheirElements) {
  EXPECT_EQ(shape_text("gemm m=3 n=5 k=7 a=f32:column", 0), "3:1 7:3 ");
  EXPECT_EQ(shape_text("gemm m=3 n=5 k=7 batch=2 b=f32:column", 1), "2:35 7:1 5:7 ");
  EXPECT_EQ(shape_text("gemm m=1 n=5 k=7 epilogue=bias+residual", 3), "5:1 ");
  EXPECT_EQ(shape_text("gemm m=1 n=5 k=7 epilogue=bias+residual", 4), "1:5 5:1 ");
  EXPECT_EQ(shape_text("conv2d n=2 h=9 w=8 c=4 k=6 r=3 s=3 layout=nhwc", 0), "2:288 9:32 8:4 4:1 ");
  EXPECT_EQ(shape_text("conv2d h=9 w=8 c=4 k=6 r=3 s=2 groups=2", 1), "6:12 2:6 3:2 2:1 ");
  for (const char* text :
       {"gemm m=3 n=10 k=7 batch=2 c=f32:column epilogue=bias", "gemm m=3 n=10 k=7 epilogue=bias+swiglu",
        "conv2d n=2 h=9 w=8 c=4 k=6 r=3 s=3 layout=nhwc epilogue=bias+relu+maxpool(2)"}) {
    const Workload workload = parse_workload(text);
    const std::vector<TensorSpec> tensors = tensors_of(workload);
    const auto shapes = tensor_shapes(workload);
    ASSERT_EQ(shapes.size(), tensors.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      std::int64_t elements = 1;
      for (const Dimension& one : shapes[i]) elements *= one.size;
      EXPECT_EQ(elements, tensors[i].elements) << text << ": " << tensors[i].name;
    }
  }
}

TEST(LibraryNames, OfKernelsHaveAHashOfAllThatTheyAreMadeOf) {
  const RebuiltKernel kernel = exported("gemm m=64 n=48 k=33", 1);
  const std::string name = deployed_name(kernel.source, "g++ 12");
  EXPECT_EQ(deployed_name(kernel.source, "g++ 12"), name);
  EXPECT_NE(deployed_name(kernel.source, "g++ 13"), name);
  Source other = kernel.source;
  other.launch.work_items += 1;
  EXPECT_NE(deployed_name(other, "g++ 12"), name);
}

TEST(LibraryNames, LeaveOutWhatGoesWithoutSaying) {
  EXPECT_EQ(optional_words(parse_workload("gemm m=2 n=3 k=4")),
            "epilogue=none accum=f32 c=f32:row b=f32:row a=f32:row batch=1");
  EXPECT_EQ(optional_words(parse_workload("gemm m=2 n=3 k=4 a=bf16 c=f32 epilogue=relu")),
            "accum=f32 c=f32:row b=f32:row batch=1");
}

TEST(LibraryNames, KnowShorterWords) {
  EXPECT_EQ(shorter_words(parse_workload("gemm m=2 n=3 k=4 b=f32:column")),
            "a=f32 c=f32 math=strict alpha=1 zero=none");
  EXPECT_EQ(shorter_words(parse_workload("conv2d h=8 w=8 c=1 k=1 r=3 s=3 pad=1 stride=2x1 dilation=2")),
            "pad=1 pad=1x1 dilation=2 math=strict zero=none");
}

std::string function_of(const std::string& text) {
  FolderKernel kernel;
  kernel.rebuilt.workload = parse_workload(text);
  kernel.rebuilt.source.target = Target::kCpu;
  return library_of({kernel}, {}, {}).functions.at(0).name;
}

TEST(LibraryNames, OfFunctionsAreTheWordsOfTheWorkload) {
  for (const auto& [text, name] : {
           std::pair{"gemm m=512 n=512 k=512", "gemm_m512_n512_k512"},
           {"gemm m=16 n=512 k=256 epilogue=bias+gelu", "gemm_m16_n512_k256_bias_gelu_erf"},
           {"gemm m=7 n=96 k=200 b=f32:column:constant", "gemm_m7_n96_k200_b_f32_column_constant"},
           {"conv2d h=14 w=14 c=16 k=16 r=3 s=3 pad=1 epilogue=bias+relu",
            "conv2d_h14_w14_c16_k16_r3_s3_pad1_bias_relu"},
           {"conv2d h=14 w=14 c=16 k=16 r=3 s=3 pad=0x1x0x1", "conv2d_h14_w14_c16_k16_r3_s3_pad_0x1x0x1"},
       })
    EXPECT_EQ(function_of(text), name);
  // A hash distinguishes workloads with a number that is not whole, or with a long text.
  EXPECT_THAT(function_of("gemm m=9 n=80 k=70 a=u8 b=s8:row:constant c=u8 accum=s32 zero=input "
                          "epilogue=bias+dequant+relu+quant"),
              ::testing::MatchesRegex("gemm_m9_n80_k70_u8_s8_u8_[0-9a-f]{8}"));
  EXPECT_THAT(function_of("gemm m=9 n=80 k=70 epilogue=bias+leaky_relu(0.1)"),
              ::testing::MatchesRegex("gemm_m9_n80_k70_f32_f32_f32_[0-9a-f]{8}"));
  EXPECT_NE(function_of("gemm m=9 n=80 k=70 epilogue=leaky_relu(0.1)"),
            function_of("gemm m=9 n=80 k=70 epilogue=leaky_relu(0.2)"));
}

TEST(LibraryNames, BeginWithWhatCBeginsNamesWith) {
  for (const char* name : {"kernels", "k", "llama_2"}) EXPECT_TRUE(is_library_name(name)) << name;
  for (const char* name :
       {"", "2k", "_k", "Kernels", "a-b", "a b", "a/b", "a.b", "a_", "m", "stdint", "class", "numpy"})
    EXPECT_FALSE(is_library_name(name)) << name;
  EXPECT_FALSE(is_library_name(std::string(41, 'k')));
}

TEST(LibraryNames, TakeThePlaceOfTheUsualOneWhereverItIs) {
  EXPECT_EQ(with_name("kernels_call(KERNELS_OK, my_kernels_call) in \"kernels.h\", lehr::runtime", "llama"),
            "llama_call(LLAMA_OK, my_kernels_call) in \"llama.h\", llama_library::runtime");
}

std::vector<std::string> features_at(const Isa& isa) {
  HostCompilerOptions options;
  options.isa = isa;
  return features_of(HostCompiler(options).macros());
}

#if defined(__x86_64__)

// Levels are those of the System V ABI's supplement for x86-64, section 3.1.1, without the features that only
// the operating system uses.
TEST(IsaLevels, UseWhatTheAbiSays) {
  const auto features = [](const char* name) { return features_at(isa_named(name)); };
  std::vector<std::string> expected;
  EXPECT_THAT(features("x86-64"), ::testing::UnorderedElementsAreArray(expected));
  for (const char* one : {"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt"}) expected.emplace_back(one);
  EXPECT_THAT(features("x86-64-v2"), ::testing::UnorderedElementsAreArray(expected));
  for (const char* one : {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"})
    expected.emplace_back(one);
  EXPECT_THAT(features("x86-64-v3"), ::testing::UnorderedElementsAreArray(expected));
  for (const char* one : {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
    expected.emplace_back(one);
  EXPECT_THAT(features("x86-64-v4"), ::testing::UnorderedElementsAreArray(expected));
}

#endif

TEST(IsaLevels, UseMoreTheHigherTheyAre) {
  std::vector<std::string> lower;
  for (const IsaLevel& level : archs_of(Target::kCpu).levels) {
    if (level.machine != runtime::cpu_machine()) continue;
    std::vector<std::string> features = features_at({&level});
    std::ranges::sort(features);
    EXPECT_TRUE(std::ranges::includes(features, lower)) << level.name;
    lower = std::move(features);
  }
}

TEST(Slices, AreRowsOfProductsAndImagesOfBatches) {
  const auto gemm = slices_of(parse_workload("gemm m=8 n=3 k=5 epilogue=bias+residual"));
  ASSERT_TRUE(gemm);
  EXPECT_EQ(gemm->field, "m");
  EXPECT_EQ(gemm->count, 8);
  EXPECT_THAT(gemm->elements, ElementsAre(5, 0, 3, 0, 3));
  EXPECT_EQ(slices_of(parse_workload("gemm m=..8 n=3 k=5"))->count, 8);
  EXPECT_EQ(slices_of(parse_workload("gemm m=..8 n=3 k=5 rows=3"))->count, 3);
  EXPECT_EQ(slices_of(parse_workload("gemm m=2..8 n=3 k=5"))->count, 8);
  EXPECT_FALSE(slices_of(parse_workload("gemm m=8 n=3 k=5 a=f32:column")));
  EXPECT_FALSE(slices_of(parse_workload("gemm m=8 n=3 k=5 batch=2")));
  const auto conv =
      slices_of(parse_workload("conv2d n=4 h=6 w=5 c=2 k=3 r=3 s=3 pad=1 epilogue=bias+relu+maxpool(2)"));
  ASSERT_TRUE(conv);
  EXPECT_EQ(conv->field, "n");
  EXPECT_THAT(conv->elements, ElementsAre(60, 0, 18, 0));
}

}  // namespace
}  // namespace lehr
