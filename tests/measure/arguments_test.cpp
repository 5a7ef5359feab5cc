// Tests of kernels with several outputs, arguments that are changed in place, numbers, and types that no
// workload has, from the compiler to the proof.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measuring.h"
#include "mixed_kind.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kElements = 1000;

/// Returns a right kernel that does `body` with each element i at the end.
Source mixed_source(const std::string& body) {
  Source result;
  result.entry = "kernel";
  result.text = fmt::format(R"(
extern "C" void kernel(void* const* params, void*, long) {{
  const unsigned short* count = (const unsigned short*)params[0]; const double* x = (const double*)params[1];
  float* state = (float*)params[2]; long* step = (long*)params[3];
  long* big = (long*)params[4]; unsigned* product = (unsigned*)params[5]; double* twice = (double*)params[6];
  static long calls = 0;
  ++calls;
  for (long i = 0; i < {0}; ++i) {{
    float next = state[i] / 2 + (float)x[i];
    state[i] = next;
    big[i] = *step + count[i];
    product[i] = count[i] * 40503u;
    twice[i] = 2 * x[i];
    {1}
  }}
}}
)",
                            kElements, body);
  return result;
}

class Arguments : public testing::Measuring {
 protected:
  static Problem problem() {
    return asked_problem({&testing::mixed_kind(), 1}, fmt::format("mixed {}", kElements), 5);
  }
  /// Returns the failure of a kernel that also does this; "" for a right one.
  std::string said(const std::string& body) {
    LocalMeasurer measurer = make();
    measurer.prepare(problem(), other_problem(problem()));
    const std::vector<Source> sources = {mixed_source(body)};
    const std::vector<Outcome> outcomes = measurer.measure(sources, {});
    if (const auto* failure = std::get_if<Failure>(&outcomes[0])) return failure->text;
    const std::vector<ContestEntry> entries = measurer.contest(sources, {}, {}, {.wanted_s = 0.2});
    EXPECT_FALSE(entries[0].failure);
    for (const Inputs inputs : {Inputs::kOther, Inputs::kPrepared})
      if (const std::optional<Failure> failure = measurer.prove(0, inputs, 0.05)) return failure->text;
    return "";
  }
};

TEST_F(Arguments, AreAllCheckedAndPutBack) {
  EXPECT_EQ(said(""), "");
}

TEST_F(Arguments, EachOutputIsFoundWrongByItsName) {
  EXPECT_THAT(said("if (i == 7) big[i] += 1;"), HasSubstr("element 7 of big is "));
  EXPECT_THAT(said("if (i == 999) product[i] ^= 1;"), HasSubstr("element 999 of product is "));
  EXPECT_THAT(said("if (i == 3) twice[i] *= 1 + 1e-11;"), HasSubstr("element 3 of twice is "));
  EXPECT_THAT(said("if (i == 5) state[i] += 0.01f;"), HasSubstr("element 5 of state is "));
  EXPECT_THAT(said("if (i == 5) state[i] = 0.0f / 0.0f;"), HasSubstr("element 5 of state is NaN"));
}

TEST_F(Arguments, MustBeWrittenAndNothingElse) {
  EXPECT_THAT(said("if (i == 9) __builtin_memset(twice + i, 255, 8);"),
              HasSubstr("left 1 of 1000 elements of twice unwritten"));
  EXPECT_THAT(said("if (i == 9) *step += 1;"), HasSubstr("modified its input (argument 3)"));
  EXPECT_THAT(said("if (i == 0) product[-1] = 1;"), HasSubstr("wrote outside its output (argument 5), "));
  EXPECT_THAT(said("if (i == 0) state[1000] = 1;"), HasSubstr("wrote outside its output (argument 2), "));
}

TEST_F(Arguments, AreComputedFromWhatIsThereInEachCall) {
  EXPECT_THAT(said("static float first[1000]; if (calls == 1) first[i] = state[i]; state[i] = first[i];"),
              HasSubstr("on other inputs: element "));
  EXPECT_THAT(said("if (calls > 3 && i == 2) big[i] = 0;"), HasSubstr("element 2 of big is 0"));
}

TEST_F(Arguments, AreRepeatedToTheBit) {
  LocalMeasurer measurer = make();
  measurer.prepare(problem());
  const Source same = mixed_source(""), other = mixed_source("if (i == 4) twice[i] *= 1 + calls * 1e-15;");
  measurer.measure(std::vector{same, other}, {});
  const auto repeated = [&](const Source& source) { return std::get<Repetition>(measurer.repeat(source)); };
  EXPECT_EQ(repeated(same).elements, 4 * kElements);
  EXPECT_EQ(repeated(same).different, 0);
  EXPECT_EQ(repeated(other).different, 1);
  EXPECT_EQ(repeated(other).first, 3 * kElements + 4) << "counted through all outputs";
}

TEST_F(Arguments, OfATextThatNobodyKnowsAreRefused) {
  EXPECT_THROW(asked_problem(std::vector{testing::mixed_kind()}, "gemm m=4 n=4 k=4", 1), Error);
}

}  // namespace
}  // namespace lehr
