#include "workload/epilogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "workload/reference_epilogue.h"
#include "workload/workload.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;

std::string error_of(std::string_view text) {
  try {
    parse_epilogue(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser) << text;
    return error.what();
  }
  return "no error";
}

TEST(EpilogueText, RoundTripsInItsOrder) {
  for (const char* text : {"none", "bias+relu", "relu+bias", "scale_shift+residual+relu6", "clamp(-1,6)",
                           "clamp(-1.5,0.25)+bias", "clamp(1e-10,1e+20)+tanh", "gelu_tanh", "gelu_erf",
                           "silu", "sigmoid+residual", "relu+clamp(0,1)+clamp(0,2)"})
    EXPECT_EQ(to_text(parse_epilogue(text)), text);
  EXPECT_EQ(to_text(parse_epilogue("clamp(-1.0,6.00)")), "clamp(-1,6)");
  EXPECT_NE(parse_epilogue("bias+relu"), parse_epilogue("relu+bias"));
}

/// Returns an epilogue that ends with the step.
std::string whole_example(const EpilogueRow& row) {
  return (row.of_integers && row.op != EpilogueOp::kDequant ? "dequant+" : "") + example_of(row);
}

TEST(EpilogueText, EachStepHasItsWord) {
  for (const EpilogueRow& row : kEpilogueRows) {
    const std::string text = whole_example(row);
    const Epilogue epilogue = parse_epilogue(text);
    EXPECT_EQ(epilogue.steps.back().op, row.op) << text;
    EXPECT_EQ(to_text(epilogue), text);
  }
}

TEST(EpilogueText, GeluIsTheExactOneUnderItsOwnName) {
  EXPECT_EQ(to_text(parse_epilogue("bias+gelu")), "bias+gelu_erf");
  EXPECT_EQ(parse_epilogue("gelu"), parse_epilogue("gelu_erf"));
  EXPECT_THAT(error_of("gelu_erf+gelu"), HasSubstr("has 'gelu' twice in a row"));
  const Workload listed = parse_workload("gemm m=4 n=4 k=4 epilogue=gelu");  // as in a file of problems
  EXPECT_THAT(to_text(listed), HasSubstr("epilogue=gelu_erf"));
  EXPECT_EQ(to_text(parse_workload(to_text(listed))), to_text(listed));
}

TEST(EpilogueText, SaysWhatIsWrong) {
  EXPECT_THAT(error_of("bais"), HasSubstr("unknown step 'bais' in an epilogue (did you mean bias?)"));
  EXPECT_THAT(error_of(""), HasSubstr("unknown step ''"));
  EXPECT_THAT(error_of("bias++relu"), HasSubstr("unknown step ''"));
  EXPECT_THAT(error_of("bias,relu"), HasSubstr("unknown step 'bias,relu'"));
  EXPECT_THAT(error_of("bias+relu+bias"), HasSubstr("has 'bias' twice, but there is one operand"));
  EXPECT_THAT(error_of("residual+relu+residual"), HasSubstr("has 'residual' twice"));
  EXPECT_THAT(error_of("relu+relu"), HasSubstr("has 'relu' twice in a row"));
  EXPECT_THAT(error_of("relu(1)"), HasSubstr("takes no numbers; write relu"));
  for (const char* bad : {"clamp", "clamp()", "clamp(1)", "clamp(2,1)", "clamp(1,1)", "clamp(0,x)",
                          "clamp(0,1,2)", "clamp(nan,1)", "clamp(0,inf)"})
    EXPECT_THAT(error_of(bad), HasSubstr("needs two finite numbers, the lower one first")) << bad;
  EXPECT_THAT(error_of("clamp(0,1"), HasSubstr("no closing parenthesis"));
}

TEST(EpilogueText, GatesComeLastAndOnce) {
  EXPECT_TRUE(is_gated(parse_epilogue("swiglu")));
  EXPECT_TRUE(is_gated(parse_epilogue("bias+geglu")));
  EXPECT_FALSE(is_gated(parse_epilogue("bias+silu")));
  EXPECT_EQ(to_text(parse_epilogue("scale_shift+swiglu")), "scale_shift+swiglu");
  EXPECT_THAT(error_of("swiglu+relu"), HasSubstr("has 'relu' behind swiglu"));
  EXPECT_THAT(error_of("swiglu+geglu"), HasSubstr("must be the last step"));
  EXPECT_THAT(error_of("residual+geglu"),
              HasSubstr("has a residual, which is of the output's shape, before geglu"));
}

TEST(EpilogueText, ALeakyReluSaysItsSlope) {
  EXPECT_EQ(to_text(parse_epilogue("bias+leaky_relu(0.1)+hard_swish")), "bias+leaky_relu(0.1)+hard_swish");
  for (const char* bad : {"leaky_relu", "leaky_relu()", "leaky_relu(0)", "leaky_relu(1)", "leaky_relu(-0.1)",
                          "leaky_relu(0.1,2)"})
    EXPECT_THAT(error_of(bad), HasSubstr("needs its slope, a number between 0 and 1")) << bad;
}

TEST(EpilogueText, PoolsComeLastAndSayTheirWindow) {
  EXPECT_EQ(window_of(parse_epilogue("bias+relu+maxpool(2)")), 2);
  EXPECT_EQ(window_of(parse_epilogue("avgpool(3)")), 3);
  EXPECT_EQ(window_of(parse_epilogue("relu")), 1);
  EXPECT_EQ(to_text(parse_epilogue("relu+avgpool(3)")), "relu+avgpool(3)");
  EXPECT_THAT(error_of("maxpool(2)+relu"), HasSubstr("has 'relu' behind maxpool, which makes one pixel"));
  EXPECT_THAT(error_of("residual+maxpool(2)"), HasSubstr("before maxpool(2), which shrinks it"));
  for (const char* bad : {"maxpool", "maxpool()", "maxpool(1)", "maxpool(17)", "avgpool(2.5)", "maxpool(3,)",
                          "maxpool(3,2,1,1,1)"})
    EXPECT_THAT(error_of(bad), HasSubstr("needs the height and width of its windows, 2 to 16, as in")) << bad;
}

TEST(EpilogueText, PoolsSayWhereTheirWindowsLie) {
  for (const char* text :
       {"maxpool(3,2)", "maxpool(3,2,1)", "relu+maxpool(3,2,0,1)", "avgpool(3,1)", "maxpool(2,3)"})
    EXPECT_EQ(to_text(parse_epilogue(text)), text);
  EXPECT_EQ(to_text(parse_epilogue("maxpool(2,2)")), "maxpool(2)");
  EXPECT_EQ(to_text(parse_epilogue("maxpool(3,2,1,1)")), "maxpool(3,2,1)");
  EXPECT_EQ(to_text(parse_epilogue("avgpool(3,2,0)")), "avgpool(3,2)");
  EXPECT_THAT(error_of("maxpool(3,0)"), HasSubstr("has a stride of 0; it can be 1 to 16"));
  EXPECT_THAT(error_of("maxpool(3,2,3)"), HasSubstr("has 3 pixels outside of the image; they can be 0 to 2"));
  EXPECT_THAT(error_of("maxpool(3,2,0,-1)"), HasSubstr("has -1 pixels outside of the image"));
  EXPECT_THAT(error_of("avgpool(3,2,1)"), HasSubstr("only maxpool takes these"));
}

TEST(PoolWindows, AreCountedAsFrameworksDo) {
  EXPECT_EQ(windows_of(parse_epilogue("maxpool(3,2,1)")).over(112), 56);
  EXPECT_EQ(windows_of(parse_epilogue("maxpool(3,2)")).over(112), 55);
  EXPECT_EQ(windows_of(parse_epilogue("maxpool(3,2,0,1)")).over(112), 56);
  EXPECT_EQ(windows_of(parse_epilogue("maxpool(3,1,1)")).over(13), 13);
  EXPECT_EQ(windows_of(parse_epilogue("maxpool(3,2)")).over(2), 0);
  EXPECT_EQ(windows_of(parse_epilogue("relu")).over(7), 7);
}

double value_of(std::string_view text, double x) {
  const Epilogue epilogue = parse_epilogue(text);
  const std::vector<std::vector<float>> operands = {{0, 2, 0}, {0, 3, 0}, {0, 0, 5}};
  return reference_value(epilogue, x, std::span<const std::vector<float>>(operands), 1, 2);
}

TEST(EpilogueReference, IsTheDefinitionOfEachStep) {
  EXPECT_EQ(value_of("none", -3), -3);
  EXPECT_EQ(value_of("bias", -3), -1);
  EXPECT_EQ(value_of("scale_shift", -4), -5);
  EXPECT_EQ(value_of("scale_shift+residual", -4), 0);
  EXPECT_EQ(value_of("scale_shift+relu+residual", -4), 5);
  EXPECT_EQ(value_of("relu", -3), 0);
  EXPECT_EQ(value_of("relu", 3), 3);
  EXPECT_EQ(value_of("relu6", 7), 6);
  EXPECT_EQ(value_of("clamp(-1,6)", -3), -1);
  EXPECT_EQ(value_of("leaky_relu(0.25)", -4), -1);
  EXPECT_EQ(value_of("leaky_relu(0.25)", 4), 4);
  EXPECT_EQ(value_of("hard_swish", 4), 4);
  EXPECT_EQ(value_of("hard_swish", -3.5), 0);
  EXPECT_NEAR(value_of("hard_swish", 1), 2.0 / 3, 1e-15);
  EXPECT_NEAR(value_of("sigmoid", 1), 0.7310585786300049, 1e-15);
  EXPECT_NEAR(value_of("silu", -2), -0.2384058440442351, 1e-15);
  EXPECT_NEAR(value_of("tanh", 0.5), 0.46211715726000975, 1e-15);
  EXPECT_NEAR(value_of("gelu_erf", 1), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(value_of("gelu_erf", -1), -0.15865525393145707, 1e-15);
  EXPECT_NEAR(value_of("gelu_tanh", 1), 0.8411919906082768, 1e-15);
  EXPECT_TRUE(std::isnan(value_of("relu6+clamp(0,1)", std::nan(""))));
}

TEST(EpilogueReference, APoolIsTheLargestOrTheMeanOfItsWindow) {
  const std::vector<double> window = {1, -4, 3, 2};
  const std::span<const std::vector<float>> none;
  EXPECT_EQ(reference_pooled(parse_epilogue("relu+maxpool(2)"), window, none), 3);
  EXPECT_EQ(reference_pooled(parse_epilogue("avgpool(2)"), window, none), 0.5);
  const std::vector<std::vector<float>> operands = {{0}, {0.5}, {4}};
  const std::span<const std::vector<float>> of_quant = operands;
  EXPECT_EQ(reference_pooled(parse_epilogue("dequant+maxpool(2)+quant"), window, of_quant), 6);  // 1.5 is 2
  EXPECT_EQ(reference_pooled(parse_epilogue("dequant+avgpool(2)+quant"), window, of_quant), 4.25);
}

TEST(EpilogueReference, AGateIsTheActivationOfOneTimesTheOther) {
  EXPECT_NEAR(reference_gated(parse_epilogue("bias+swiglu"), -2, 3), -0.2384058440442351 * 3, 1e-15);
  EXPECT_NEAR(reference_gated(parse_epilogue("geglu"), 1, -5), 0.8411919906082768 * -5, 1e-15);
  const double largest = 20, off = 1e-3;
  for (const char* text : {"swiglu", "geglu"}) {
    const Epilogue epilogue = parse_epilogue(text);
    const double bound = tolerance_behind(epilogue, off, largest, 0x1p-23);
    for (double x = -largest; x < largest; x += 0.3)
      for (double y = -largest; y < largest; y += 0.7)
        EXPECT_LE(std::abs(reference_gated(epilogue, x + off, y - off) - reference_gated(epilogue, x, y)),
                  bound * (1 + 1e-9))
            << text << " at " << x << " " << y;
  }
}

// The bound of the result holds where the sum is off by the bound of the sum.
TEST(EpilogueReference, ErrorsStayWithinTheirBound) {
  std::vector<std::string> texts = {"bias+relu",        "scale_shift+gelu_erf", "silu+residual",
                                    "tanh+scale_shift", "residual+clamp(-2,9)", "gelu_tanh+bias"};
  for (const EpilogueRow& row : kEpilogueRows)
    if (!row.shrinks() && !row.of_integers) texts.push_back(example_of(row));
  for (const std::string& text : texts) {
    const Epilogue epilogue = parse_epilogue(text);
    const double largest = 20, off = 1e-3;
    const double bound = tolerance_behind(epilogue, off, largest, 0x1p-23);
    for (double x = -largest; x < largest; x += 0.01)
      EXPECT_LE(std::abs(value_of(text, x + off) - value_of(text, x)), bound * (1 + 1e-9))
          << text << " at " << x;
  }
}

}  // namespace
}  // namespace lehr
