#include "workload/workload.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/rng.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(WorkloadText, RoundTripsEveryField) {
  Rng rng(11);
  for (int i = 0; i < 200; ++i) {
    const auto operand = [&] {
      return Operand{static_cast<DType>(rng.below(7)), rng.below(2) == 0 ? Layout::kRow : Layout::kColumn};
    };
    Workload w;
    w.gemm() = {1 + static_cast<std::int64_t>(rng.below(500)),
                1 + static_cast<std::int64_t>(rng.below(500)),
                1 + static_cast<std::int64_t>(rng.below(500)),
                1 + static_cast<std::int64_t>(rng.below(5)),
                operand(),
                operand(),
                operand(),
                static_cast<DType>(rng.below(7))};
    EXPECT_EQ(parse_workload(to_text(w)), w) << to_text(w);
  }
}

TEST(WorkloadText, IsTheDocumentedOne) {
  EXPECT_EQ(to_text(parse_workload("gemm k=3 m=1 n=2")),
            "gemm m=1 n=2 k=3 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none");
}

TEST(WorkloadText, SaysThatThereMayBeAnyNumberOfRows) {
  const Workload any = parse_workload("gemm m=..64 n=2 k=3");
  EXPECT_EQ(to_text(any),
            "gemm m=..64 n=2 k=3 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none");
  EXPECT_TRUE(any.gemm().any_rows);
  EXPECT_EQ(rows_of(any), 64);
  EXPECT_EQ(of_any_call(any), any);
  const Workload few = parse_workload("gemm rows=24 n=2 k=3 m=..64");
  EXPECT_EQ(to_text(few), to_text(any) + " rows=24");
  EXPECT_EQ(parse_workload(to_text(few)), few);
  EXPECT_EQ(of_any_call(few), any);
  EXPECT_EQ(tensors_of(few)[0].elements, 24 * 3);
  EXPECT_EQ(tensors_of(few)[2].elements, 24 * 2);
  EXPECT_EQ(flops_of(few), 2.0 * 24 * 2 * 3);
  EXPECT_EQ(to_text(fixed_rows(few)), to_text(parse_workload("gemm m=24 n=2 k=3")));
  EXPECT_EQ(distance(few, fixed_rows(few)), 0);
  EXPECT_EQ(distance(few, parse_workload("gemm m=48 n=2 k=3")), 1);
  const Workload range = parse_workload("gemm m=16..64 n=2 k=3");
  EXPECT_EQ(to_text(range).substr(0, 14), "gemm m=16..64 ");
  EXPECT_EQ(parse_workload(to_text(range)), range);
  EXPECT_EQ(fixed_rows(parse_workload("gemm m=64 n=2 k=3")), parse_workload("gemm m=64 n=2 k=3"));
}

TEST(WorkloadText, RefusesRowsThatMakeNoSense) {
  const auto message = [](const std::string& text) {
    return message_of([&] { parse_workload("gemm n=2 k=3 " + text); });
  };
  EXPECT_EQ(message("m=64 rows=3"), "rows=3 needs a size that says the most rows, as m=..64");
  EXPECT_EQ(message("m=..64 rows=64"),
            "rows=64 is out of range: it is from 1 to 63, and left out for all rows of m=..64");
  EXPECT_EQ(message("m=..64 rows=0"), "rows=0 is out of range: it is 1 or more, and left out for all rows");
  EXPECT_EQ(message("m=..64 rows=-1"),
            "rows=-1 is out of range: it is from 1 to 63, and left out for all rows of m=..64");
  EXPECT_EQ(message("m=65..64"),
            "m=65..64 is no range: the second number is at least the first, which is at least 1");
  EXPECT_EQ(message("m=0..64"), "m=0..64: a range begins with one row or more");
  EXPECT_EQ(message("m=..64 batch=2"), "any number of rows needs batch=1, and A and C stored by rows");
  EXPECT_EQ(message("m=1..64 c=f32:column"), "any number of rows needs batch=1, and A and C stored by rows");
  EXPECT_THAT(message("m=..x"), HasSubstr("is not a whole number"));
  EXPECT_THAT(message("m=.."), HasSubstr("is not a whole number"));
  EXPECT_THAT(message("m=..0"), HasSubstr("out of range"));
}

TEST(WorkloadText, RoundTripsConvolutions) {
  EXPECT_EQ(
      to_text(parse_workload("conv2d h=56 w=55 c=64 k=128 r=3 s=1 stride=2 pad=1x0 layout=nhwc")),
      "conv2d n=1 h=56 w=55 c=64 k=128 r=3 s=1 stride=2x2 pad=1x1x0x0 dilation=1x1 groups=1 layout=nhwc "
      "x=f32 f=f32 y=f32 accum=f32 epilogue=none");
  for (const char* text :
       {"conv2d h=9 w=21 c=2 k=3 r=2 s=5 stride=3x1 pad=0x2x1x4 dilation=2x1",
        "conv2d n=4 h=8 w=8 c=12 k=24 r=3 s=3 pad=1 groups=12 x=f16 f=f16 y=f16 accum=f32"}) {
    const Workload workload = parse_workload(text);
    EXPECT_EQ(parse_workload(to_text(workload)), workload) << text;
  }
}

TEST(WorkloadText, SaysWhatIsWrongWithAConvolution) {
  const std::string good = "conv2d h=8 w=8 c=4 k=4 r=3 s=3";
  const auto error = [&](const std::string& more) {
    return message_of([&] { parse_workload(good + more); });
  };
  EXPECT_EQ(error(""), "no error");
  EXPECT_THAT(error(" pad=-1"), HasSubstr("pad=-1 is out of range"));
  EXPECT_THAT(error(" pad=1x1x1"), HasSubstr("four (top x bottom x left x right)"));
  EXPECT_THAT(error(" stride=0"), HasSubstr("stride=0 is out of range"));
  EXPECT_THAT(error(" stride=1x1x1"), HasSubstr("two as in 2x1"));
  EXPECT_THAT(error(" stride=ax1"), HasSubstr("'a' is not a whole number"));
  EXPECT_THAT(error(" groups=3"), HasSubstr("groups=3 does not divide c=4"));
  EXPECT_THAT(error(" dilation=4"),
              HasSubstr("the filter covers 9 x 9 pixels, more than the padded image of 8 x 8"));
  EXPECT_THAT(error(" layout=chwn"), HasSubstr("known are nchw, nhwc"));
  EXPECT_THAT(error(" m=4"), HasSubstr("unknown key 'm'"));
  EXPECT_THAT(error(" n=100000 h=4096 w=4096"), HasSubstr("the input would have"));
  EXPECT_THAT(error(" h=x"), HasSubstr("h=x is not a whole number"));
}

TEST(WorkloadText, NamesTheMathOfAConvolutionAlike) {
  const std::string strict = to_text(parse_workload("conv2d h=8 w=8 c=4 k=4 r=3 s=3 epilogue=bias"));
  EXPECT_EQ(strict.find("math"), std::string::npos);
  const Workload tf32 = parse_workload("conv2d math=tf32 h=8 w=8 c=4 k=4 r=3 s=3 epilogue=bias");
  EXPECT_EQ(to_text(tf32), strict + " math=tf32");
  EXPECT_EQ(parse_workload(to_text(tf32)), tf32);
  EXPECT_EQ(math_of(tf32), Math::kTf32);
  EXPECT_NE(tf32, parse_workload(strict));
  EXPECT_THAT(
      message_of([] { parse_workload("conv2d h=8 w=8 c=4 k=4 r=3 s=3 x=f16 f=f16 y=f16 math=tf32"); }),
      HasSubstr("math=tf32 is for f32 operands; with f16 leave it at strict"));
  EXPECT_THAT(message_of([] { parse_workload("conv2d h=8 w=8 c=4 k=4 r=3 s=3 math=two_level"); }),
              HasSubstr("math=two_level is for e4m3 and e5m2 operands"));
}

TEST(WorkloadText, NamesTheMathOnlyWhereItIsNotStrict) {
  const std::string strict = to_text(parse_workload("gemm m=1 n=2 k=3 math=strict"));
  EXPECT_EQ(strict, to_text(parse_workload("gemm m=1 n=2 k=3")));
  for (const char* math : {"tf32", "3xtf32"}) {
    const Workload w = parse_workload(fmt::format("gemm m=1 n=2 k=3 math={}", math));
    EXPECT_EQ(to_text(w), strict + " math=" + math);
    EXPECT_EQ(parse_workload(to_text(w)), w);
    EXPECT_NE(w, parse_workload(strict));
  }
  const std::string fp8 = to_text(parse_workload("gemm m=1 n=2 k=3 a=e4m3 b=e5m2 c=bf16"));
  EXPECT_EQ(to_text(parse_workload(fp8 + " math=two_level")), fp8 + " math=two_level");
  EXPECT_EQ(parse_workload(fp8 + " math=two_level").gemm().math, Math::kTwoLevel);
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k=1 math=fast"); }),
              HasSubstr("known are strict, tf32, 3xtf32, two_level"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k=1 math=two_level"); }),
              HasSubstr("math=two_level is for e4m3 and e5m2 operands; with f32 leave it at strict"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k=1 a=e4m3 b=f16 math=two_level"); }),
              HasSubstr("with f16 leave it"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k=1 a=e4m3 b=e4m3 accum=f16 math=two_level"); }),
              HasSubstr("math=two_level is for sums in f32; with f16 leave it"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k=1 a=e4m3 b=e4m3 math=tf32"); }),
              HasSubstr("math=tf32 is for f32 operands; with e4m3 leave it at strict"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k=1 a=bf16 b=bf16 math=tf32"); }),
              HasSubstr("math=tf32 is for f32 operands"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k=1 a=u32"); }), HasSubstr("unknown dtype 'u32'"));
}

TEST(WorkloadText, NamesTheScaleLastAndOnlyWhereItIsNotOne) {
  const std::string plain = to_text(parse_workload("gemm m=1 n=2 k=3"));
  for (const char* one : {"1", "1.0", "1e0"})
    EXPECT_EQ(to_text(parse_workload(fmt::format("gemm alpha={} m=1 n=2 k=3", one))), plain);
  EXPECT_EQ(to_text(parse_workload("gemm m=1 n=2 k=3 alpha=0.50 math=tf32")), plain + " math=tf32 alpha=0.5");
  EXPECT_EQ(parse_workload("gemm m=1 n=2 k=3 alpha=-2.5e-7").gemm().alpha, -2.5e-7F);
  Rng rng(12);
  for (int i = 0; i < 2000; ++i) {  // shortest digits that give the number back
    Workload w = parse_workload(plain);
    w.gemm().alpha = std::ldexp(1 + static_cast<float>(rng.below(1 << 23)) / (1 << 23),
                                static_cast<int>(rng.below(190)) - 95);
    if (rng.below(2) == 0) w.gemm().alpha = -w.gemm().alpha;
    EXPECT_EQ(parse_workload(to_text(w)), w) << to_text(w);
  }
}

TEST(WorkloadText, SaysWhatIsWrongWithAScale) {
  const auto error = [](const std::string& text) {
    return message_of([&] { parse_workload("gemm m=1 n=2 k=3 " + text); });
  };
  for (const char* word : {"x", "", "nan", "inf", "-inf", "1e60", "+1", "0.5x", "1,5"})
    EXPECT_EQ(error(fmt::format("alpha={}", word)), fmt::format("alpha={} is not a finite number", word));
  for (const char* word : {"0", "-0", "1e-40", "-1e-31", "2e+30"})
    EXPECT_EQ(
        error(fmt::format("alpha={}", word)),
        fmt::format("alpha={} is out of range: it is a number from 1e-30 to 1e+30, of either sign", word));
  EXPECT_EQ(error("a=s8 b=s8 c=s32 accum=s32 alpha=2"),
            "alpha=2 needs sums and outputs that are floating-point numbers, not s32");
  EXPECT_EQ(error("c=s32 alpha=2"),
            "alpha=2 needs sums and outputs that are floating-point numbers, not s32");
  EXPECT_EQ(error("a=s8 b=s8 c=s32 accum=s32 alpha=1"), "no error");
  EXPECT_THAT(message_of([] { parse_workload("conv2d h=8 w=8 c=4 k=4 r=3 s=3 alpha=2"); }),
              HasSubstr("unknown key 'alpha'"));
}

TEST(WorkloadText, SaysThatBIsConstantOnlyWhereItIs) {
  const Workload plain = parse_workload("gemm m=1 n=2 k=3 b=f32:column");
  const Workload constant = parse_workload("gemm m=1 n=2 k=3 b=f32:col:constant");
  EXPECT_EQ(to_text(plain),
            "gemm m=1 n=2 k=3 batch=1 a=f32:row b=f32:column c=f32:row accum=f32 epilogue=none");
  EXPECT_EQ(to_text(constant),
            "gemm m=1 n=2 k=3 batch=1 a=f32:row b=f32:column:constant c=f32:row accum=f32 epilogue=none");
  EXPECT_EQ(parse_workload(to_text(constant)), constant);
  EXPECT_NE(constant, plain);
  for (const char* operand : {"a", "c"})
    EXPECT_EQ(
        message_of([&] { parse_workload(fmt::format("gemm m=1 n=2 k=3 {}=f32:row:constant", operand)); }),
        fmt::format("{}=f32:row:constant: only b may be constant; for a constant A write the transposed "
                    "product, whose B it is",
                    operand));
  for (const char* operand : {"f32:row:const", "f32:row:constant:constant", "f32:row:", "f32:constant:row"})
    EXPECT_THAT(message_of([&] { parse_workload(fmt::format("gemm m=1 n=2 k=3 b={}", operand)); }),
                HasSubstr(operand));
}

TEST(WorkloadText, SaysWhatIsWrong) {
  EXPECT_THAT(message_of([] { parse_workload("gem m=1 n=1 k=1"); }), HasSubstr("known operator"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k=x"); }), HasSubstr("'k=x'"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 kk=1"); }), HasSubstr("unknown key 'kk'"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k"); }), HasSubstr("not key=value"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k=1 a=f33:row"); }),
              HasSubstr("did you mean f32?"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k=1 a=f32:diagonal"); }), HasSubstr("'diagonal'"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k=1 epilogue=relu7"); }),
              HasSubstr("unknown step 'relu7' in an epilogue (did you mean relu?)"));
  for (const char* text :
       {"gemm m=8 n=8 k=4 epilogue=maxpool(2)", "conv2d h=3 w=8 c=4 k=4 r=3 s=3 epilogue=avgpool(2)"})
    EXPECT_THAT(message_of([&] { parse_workload(text); }),
                HasSubstr("needs a conv2d whose output has 2 x 2 pixels or more"));
  for (const char* text : {"gemm m=2 n=3 k=4 epilogue=swiglu", "gemm m=2 n=4 k=4 c=f32:column epilogue=geglu",
                           "conv2d h=8 w=8 c=4 k=4 r=3 s=3 epilogue=swiglu"})
    EXPECT_THAT(message_of([&] { parse_workload(text); }),
                HasSubstr("it needs a gemm with an even n and a row-major c"))
        << text;
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=1 k=1 a=s8 b=s8 c=s32 accum=s32 epilogue=relu"); }),
              HasSubstr("epilogue=relu needs sums and outputs that are floating-point numbers, not s32"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=0 n=1 k=1"); }), HasSubstr("m=0 is out of range"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=-4 n=1 k=1"); }), HasSubstr("m=-4 is out of range"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=99999999999999999999 n=1 k=1"); }),
              HasSubstr("whole number"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=100000 n=100000 k=1"); }), HasSubstr("C would have"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=2000000000 n=1 k=2000000000 batch=2000000000"); }),
              HasSubstr("A would have"));
}

TEST(WorkloadText, TakesASumOfColumns) {
  EXPECT_EQ(parse_workload("gemm m=1 n=4096+1024 k=3"), parse_workload("gemm m=1 n=5120 k=3"));
  EXPECT_THAT(message_of([] { parse_workload("gemm m=1 n=4096+ k=3"); }),
              HasSubstr("'n=4096+' is not a whole number"));
}

TEST(WorkloadText, HoldsTheEpilogue) {
  for (const char* text : {"gemm m=1 n=2 k=3 epilogue=bias+relu math=tf32",
                           "conv2d h=8 w=8 c=4 k=4 r=3 s=3 epilogue=scale_shift+residual+clamp(-1,6)"}) {
    const Workload workload = parse_workload(text);
    EXPECT_EQ(parse_workload(to_text(workload)), workload) << text;
    EXPECT_NE(workload.epilogue, Epilogue());
  }
}

TEST(Workload, HasTheEpiloguesOperandsBehindTheOutput) {
  const auto tensors =
      tensors_of(parse_workload("gemm m=2 n=3 k=5 batch=7 c=bf16 epilogue=residual+scale_shift+tanh+bias"));
  ASSERT_EQ(tensors.size(), 7u);
  EXPECT_TRUE(tensors[2].is_output());
  const std::vector<std::pair<std::string, std::int64_t>> expected = {
      {"residual", 42}, {"scale", 3}, {"shift", 3}, {"bias", 3}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(tensors[3 + i].name, expected[i].first);
    EXPECT_EQ(tensors[3 + i].elements, expected[i].second);
    EXPECT_EQ(tensors[3 + i].type, DType::kBF16);
    EXPECT_FALSE(tensors[3 + i].is_output());
  }
  const std::vector<TensorSpec> gated =
      tensors_of(parse_workload("gemm m=2 n=6 k=5 batch=7 epilogue=bias+swiglu"));
  EXPECT_EQ(gated[1].elements, 7 * 5 * 6);
  EXPECT_EQ(gated[2].elements, 7 * 2 * 3);
  EXPECT_EQ(gated[3].elements, 6);
  EXPECT_EQ(tensors_of(parse_workload("conv2d n=2 h=8 w=9 c=4 k=6 r=3 s=3 epilogue=bias")).back().elements,
            6);
}

TEST(Workload, CountsOperationsAndBytes) {
  const Workload w = parse_workload("gemm m=2 n=3 k=5 batch=7");
  EXPECT_EQ(flops_of(w), 2.0 * 2 * 3 * 5 * 7);
  EXPECT_EQ(min_bytes_of(w), 4.0 * 7 * (2 * 5 + 5 * 3 + 2 * 3));
  const auto tensors = tensors_of(w);
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[1].elements, 7 * 15);
  EXPECT_TRUE(tensors[2].is_output());
  EXPECT_FALSE(tensors[0].is_output());
}

}  // namespace
}  // namespace lehr
