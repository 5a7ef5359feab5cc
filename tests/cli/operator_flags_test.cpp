// Tests of the operators' flags, which become workloads.
#include "cli/operator_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "tests/cli/support.h"

namespace lehr::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Returns the texts of the workloads of "gemm --m 3 ...", or what is wrong.
std::vector<std::string> texts_of(const std::string& line) {
  std::vector<std::string> arguments = words(line);
  OperatorFlags flags(*find_operator(arguments[0]));
  CLI::App app;
  flags.add_to(app);
  arguments.erase(arguments.begin());
  std::reverse(arguments.begin(), arguments.end());
  app.parse(arguments);
  std::vector<std::string> texts;
  try {
    for (const Workload& workload : flags.workloads()) texts.push_back(to_text(workload));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    return {error.what()};
  }
  return texts;
}

TEST(OperatorFlags, ReadListsInTheOrderOfTheTableWithTheFirstOneSlowest) {
  const std::string rest = " batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none";
  EXPECT_THAT(texts_of("gemm --k 4,5+1 --m 1:2 --n 3"),
              ElementsAre("gemm m=1 n=3 k=4" + rest, "gemm m=1 n=3 k=6" + rest, "gemm m=2 n=3 k=4" + rest,
                          "gemm m=2 n=3 k=6" + rest));
}

TEST(OperatorFlags, TakeStridesBehindSizesAndSquareFilters) {
  std::vector<std::string> strides;
  for (const std::string& text :
       texts_of("conv2d --stride 1,2x1 --groups 1,2 --h 8 --w 8 --c 4 --k 4 --r 1,3 --pad 1x2"))
    strides.push_back(text.substr(text.find("r="), 18) + text.substr(text.find("groups="), 8));
  EXPECT_THAT(strides, ElementsAre("r=1 s=1 stride=1x1groups=1", "r=1 s=1 stride=2x1groups=1",
                                   "r=1 s=1 stride=1x1groups=2", "r=1 s=1 stride=2x1groups=2",
                                   "r=3 s=3 stride=1x1groups=1", "r=3 s=3 stride=2x1groups=1",
                                   "r=3 s=3 stride=1x1groups=2", "r=3 s=3 stride=2x1groups=2"));
}

TEST(OperatorFlags, CompleteTypesThatAreNotGiven) {
  EXPECT_THAT(texts_of("gemm --m 1 --n 2 --k 3 --a s8 --layout tn"),
              ElementsAre("gemm m=1 n=2 k=3 batch=1 a=s8:column b=s8:row c=s32:row accum=s32 epilogue=none"));
  EXPECT_THAT(
      texts_of("gemm --m 1 --n 2 --k 3 --b f16:col --math strict"),
      ElementsAre("gemm m=1 n=2 k=3 batch=1 a=f32:row b=f16:column c=f32:row accum=f32 epilogue=none"));
  EXPECT_THAT(texts_of("gemm --alpha -0.50 --m 1 --n 2 --k 3 --epilogue relu --math tf32"),
              ElementsAre("gemm m=1 n=2 k=3 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=relu "
                          "math=tf32 alpha=-0.5"));
  EXPECT_THAT(
      texts_of("conv2d --h 4 --w 4 --c 2 --k 2 --r 1 --dtype e4m3 --layout nhwc --math two_level"),
      ElementsAre(
          "conv2d n=1 h=4 w=4 c=2 k=2 r=1 s=1 stride=1x1 pad=0x0x0x0 dilation=1x1 groups=1 layout=nhwc "
          "x=e4m3 f=e4m3 y=f32 accum=f32 epilogue=none math=two_level"));
}

TEST(OperatorFlags, CompleteTypesOfIntegersByTheEpilogue) {
  EXPECT_THAT(texts_of("gemm --m 1 --n 2 --k 3 --a u8 --b s8:column:constant --zero input"),
              ElementsAre("gemm m=1 n=2 k=3 batch=1 a=u8:row b=s8:column:constant c=s32:row accum=s32 "
                          "epilogue=none zero=input"));
  EXPECT_THAT(texts_of("gemm --m 1 --n 2 --k 3 --a u8 --epilogue dequant+bias"),
              ElementsAre("gemm m=1 n=2 k=3 batch=1 a=u8:row b=s8:row c=f32:row accum=s32 "
                          "epilogue=dequant+bias"));
  const std::string conv =
      "conv2d n=1 h=4 w=4 c=2 k=2 r=1 s=1 stride=1x1 pad=0x0x0x0 dilation=1x1 groups=1 "
      "layout=nchw x=u8 f=s8 ";
  const std::string flags = "conv2d --h 4 --w 4 --c 2 --k 2 --r 1 --dtype u8 --epilogue dequant+relu+quant ";
  EXPECT_THAT(texts_of(flags), ElementsAre(conv + "y=u8 accum=s32 epilogue=dequant+relu+quant"));
  EXPECT_THAT(texts_of(flags + "--y s8"), ElementsAre(conv + "y=s8 accum=s32 epilogue=dequant+relu+quant"));
}

TEST(OperatorFlags, SayWhatIsWrong) {
  const auto sentence = [](const std::string& line) { return texts_of(line).at(0); };
  EXPECT_EQ(sentence("gemm --m 1 --n 2"), "--k is missing: a GEMM needs --m, --n and --k");
  EXPECT_EQ(sentence("conv2d --h 1 --w 2 --c 2 --r 1"),
            "--k is missing: a convolution needs --h, --w, --c, --k and --r");
  EXPECT_THAT(sentence("gemm --m 1 --n 2 --k 3 --b f33"),
              HasSubstr("--b f33: unknown dtype 'f33' (did you mean f32?)"));
  EXPECT_THAT(sentence("conv2d --h 1 --w 1 --c 2 --k 2 --r 1 --y f33"),
              ::testing::StartsWith("unknown dtype 'f33'"));
  EXPECT_EQ(sentence("gemm --m 1 --n 2 --k 3 --alpha half"), "--alpha=half is not a finite number");
  EXPECT_EQ(sentence("gemm --m 1 --n 2 --k 3 --alpha 0"),
            "--m 1 --n 2 --k 3 --batch 1: alpha=0 is out of range: it is a number from 1e-30 to 1e+30, of "
            "either sign");
  EXPECT_EQ(sentence("gemm --m 1 --n 2 --k 3 --a f32:row --layout tn"),
            "--a f32:row contradicts --layout tn: give only one of the two");
  EXPECT_EQ(sentence("conv2d --h 1 --w 1 --c 2 --k 2 --r 1 --layout nhcw"),
            "--layout nhcw is not known (did you mean nchw?): it must be one of nchw, nhwc");
  EXPECT_EQ(sentence("conv2d --h 1 --w 1 --c 2 --k 2 --r 1 --dilation 1xa"),
            "--dilation=1xa: 'a' is not a whole number");
  EXPECT_EQ(sentence("gemm --m 1:200 --n 1:200 --k 3"),
            "--m, --n, --k and --batch make 40000 problems together, more than 10000");
  EXPECT_EQ(sentence("conv2d --h 1:200 --w 1:200 --c 2 --k 2 --r 1"),
            "the lists make more than 10000 problems together");
  EXPECT_EQ(sentence("gemm --m 1 --n 3 --k 3 --epilogue swiglu"),
            "--m 1 --n 3 --k 3 --batch 1: epilogue=swiglu makes one column of two neighbours: it needs a "
            "gemm with an even n "
            "and a row-major c");
  EXPECT_THAT(
      sentence("conv2d --h 2 --w 2 --c 2 --k 2 --r 3"),
      HasSubstr("epilogue=none': the filter covers 3 x 3 pixels, more than the padded image of 2 x 2"));
}

}  // namespace
}  // namespace lehr::testing
