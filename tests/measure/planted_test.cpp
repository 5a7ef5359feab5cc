// Tests of kernels that are right when they are checked first and wrong later: not one may be timed and
// proven.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measuring.h"

namespace lehr {
namespace {

using testing::gemm_of;
using testing::gemm_problem;
using ::testing::HasSubstr;
using testing::kSize;
using testing::local_options;
using testing::right_source;
using testing::source;
using testing::square_problem;

class Planted : public testing::Measuring {
 protected:
  static Problem other_problem() { return gemm_problem(gemm_of(kSize, kSize, kSize), 99); }

  /// Returns the message by which the source is found out, in a trial or in the finals; "" if it is not. The
  /// second participant is right, and must stay so.
  static std::string found_out(LocalMeasurer& measurer, const Source& bad, double budget_s = 1) {
    measurer.prepare(square_problem(), other_problem());
    const std::vector<Source> sources = {bad, right_source()};
    const std::vector<Outcome> outcomes = measurer.measure(sources, {});
    EXPECT_TRUE(std::holds_alternative<Timing>(outcomes[1])) << std::get<Failure>(outcomes[1]).text;
    if (const auto* failure = std::get_if<Failure>(&outcomes[0])) return said(*failure);
    const std::vector<ContestEntry> entries = measurer.contest(sources, {}, {}, {.wanted_s = budget_s});
    EXPECT_FALSE(entries[1].failure) << entries[1].failure->text;
    EXPECT_FALSE(entries[1].round_us.empty());
    EXPECT_EQ(entries[0].round_us.empty(), entries[0].failure.has_value());
    if (entries[0].failure) return said(*entries[0].failure);
    std::string first;
    for (const Inputs inputs : {Inputs::kOther, Inputs::kPrepared})
      for (const std::size_t source : {0, 1}) {
        const std::optional<Failure> failure = measurer.prove(source, inputs, budget_s);
        EXPECT_TRUE(!failure || source == 0) << failure->text;
        if (failure && first.empty()) first = said(*failure);
      }
    return first;
  }

  static std::string said(const Failure& failure) {
    return fmt::format("{}: {}", name_of(failure.kind), failure.text);
  }
};

TEST_F(Planted, WhatIsRightStaysSo) {
  LocalMeasurer measurer = make();
  EXPECT_EQ(found_out(measurer, right_source()), "");
}

TEST_F(Planted, AreFoundByWhatTimedCallsLeave) {
  LocalMeasurer measurer = make();
  for (const char* body : {"static long calls; rows(a, b, c, 0, N); if (++calls > 1) c[3] += 1;",
                           "static long calls; rows(a, b, c, 0, N); if (++calls > 60) for (long i = 0; i < N "
                           "* N; ++i) c[i] = 0;",
                           "float old = c[9]; rows(a, b, c, 0, N); if (old == old) c[9] += old * 0.01f;"})
    EXPECT_THAT(found_out(measurer, source(body)),
                HasSubstr("wrong result: right in its first call, but not when it was timed: element"))
        << body;
  EXPECT_THAT(found_out(measurer, source("static long calls; if (++calls > 1) return; rows(a, b, c, 0, N);")),
              HasSubstr("not when it was timed: left 2304 of 2304 output elements unwritten"));
  EXPECT_THAT(
      found_out(measurer, source("static long calls; rows(a, b, c, 0, N); if (++calls > 3) c[N * N] = 1;")),
      HasSubstr("not when it was timed: wrote outside its output (argument 2), 0 bytes after its end"));
}

TEST_F(Planted, WhoDamagesAnInputLaterIsBlamedAndNobodyElse) {
  LocalMeasurer measurer = make();
  EXPECT_THAT(
      found_out(measurer,
                source("static long calls; rows(a, b, c, 0, N); if (++calls > 3) ((float*)a)[0] += 1;")),
      HasSubstr("not when it was timed: modified its input (argument 0)"));
  // The kernel is the reference kernel, which is called beside others, long after its own trial.
  measurer.prepare(square_problem(), other_problem());
  const Source late =
      source("static long calls; rows(a, b, c, 0, N); if (++calls == 20000) ((float*)a)[0] += 1;");
  std::vector<Source> sources = {late};
  for (int i = 0; i < 12; ++i) sources.push_back(right_source(1 + i % 3));
  const std::vector<Outcome> outcomes = measurer.measure(sources, {});
  for (std::size_t i = 1; i < outcomes.size(); ++i)
    EXPECT_TRUE(std::holds_alternative<Timing>(outcomes[i])) << i << std::get<Failure>(outcomes[i]).text;
}

TEST_F(Planted, AnAnswerFromMemoryIsFoundByOtherInputs) {
  LocalMeasurer measurer = make();
  EXPECT_THAT(
      found_out(measurer,
                source("static float keep[N * N]; static int have;"
                       "if (have) { for (long i = 0; i < N * N; ++i) c[i] = keep[i]; return; }"
                       "rows(a, b, c, 0, N); for (long i = 0; i < N * N; ++i) keep[i] = c[i]; have = 1;")),
      HasSubstr("wrong result: right before, but wrong in call 1 on other inputs: element"));
}

TEST_F(Planted, WhatIsWrongNowAndThenIsFoundByManyCalls) {
  LocalMeasurer measurer = make();
  for (const int each : {7, 50, 200})
    EXPECT_THAT(found_out(measurer, source(fmt::format("static unsigned calls; rows(a, b, c, 0, N);"
                                                       "if (++calls % {} == 0) c[11] += 1;",
                                                       each))),
                HasSubstr("wrong result: "))  // by the first check already where it falls on such a call
        << each;
}

TEST_F(Planted, APrepackedInputIsPackedAgainForOtherInputs) {
  LocalMeasurer measurer = make();
  Source packed = source("const float* p = (const float*)params[3]; rows(a, p, c, 0, N);");
  packed.text +=
      "extern \"C\" void kernel_prepack(void* const* params, void*, long) {"
      "  for (long i = 0; i < N * N; ++i) ((float*)params[3])[i] = ((const float*)params[1])[i]; }";
  packed.launch.prepack_work_items = 1;
  packed.params = {
      {.name = "p", .type = DType::kF32, .elements = kSize * kSize, .direction = ir::Direction::kPrepacked}};
  EXPECT_EQ(found_out(measurer, packed), "");
}

}  // namespace
}  // namespace lehr
