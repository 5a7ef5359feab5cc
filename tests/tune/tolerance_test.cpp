// Tests of the comparison of 16-bit outputs: it accepts every right sum, and finds one product that is
// missing among thousands wherever the rounding does not hide it.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "base/small_float.h"
#include "measure/core/check.h"
#include "measure/core/element.h"
#include "tests/support/problem_for.h"
#include "tune/task.h"

namespace lehr {
namespace {

constexpr std::uint64_t kSeed = 3;

struct Drops {
  int hidden = 0;   ///< the output is one that a sum within the tolerance may have
  int visible = 0;  ///< the rounding does not hide the difference
  int found = 0;    ///< of all faults
};

/// Computes each element of C in turn without one of its products, in f32 and then rounded. Checks right ones
/// as well.
Drops drop_products(const std::string& text) {
  const Workload workload = parse_workload(text);
  const Gemm& g = workload.gemm();
  const Problem problem = problem_for(workload, kSeed);
  const std::vector<std::vector<float>> inputs = inputs_of(problem);
  const Argument& output = problem.arguments[2];
  std::vector<float> right(static_cast<std::size_t>(g.m * g.n));
  std::vector<float> missing(right.size());
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      float sum = 0, without = 0;
      const std::int64_t dropped = (i * g.n + j) * 31 % g.k;
      for (std::int64_t p = 0; p < g.k; ++p) {
        const float product = inputs[0][static_cast<std::size_t>(i * g.k + p)] *
                              inputs[1][static_cast<std::size_t>(p * g.n + j)];
        sum += product;
        if (p != dropped) without += product;
      }
      right[static_cast<std::size_t>(i * g.n + j)] = sum;
      missing[static_cast<std::size_t>(i * g.n + j)] = without;
    }
  }
  std::vector<unsigned char> bytes(right.size() * static_cast<std::size_t>(size_of(g.c.type)));
  const auto fault_of = [&](const std::vector<float>& c) {
    store_elements(g.c.type, c, bytes.data());
    return compare_output(problem, bytes.data()).fault;
  };
  EXPECT_EQ(fault_of(right), "") << text;
  Drops drops;
  for (std::size_t at = 0; at < right.size(); ++at) {
    std::vector<float> c = right;
    c[at] = missing[at];
    const bool found = !fault_of(c).empty();
    // Whether the fault is visible, by the roundings themselves.
    const double expected =
        load_element(output.expected_as, output.expected.data(), static_cast<std::int64_t>(at));
    const float low = rounded_to(g.c.type, static_cast<float>(expected - output.absolute));
    const float high = rounded_to(g.c.type, static_cast<float>(expected + output.absolute));
    const float got = rounded_to(g.c.type, missing[at]);
    const bool visible = got < low || got > high;
    EXPECT_EQ(found, visible) << text << " element " << at << ": " << got << " for " << expected;
    (visible ? drops.visible : drops.hidden) += 1;
    drops.found += found ? 1 : 0;
  }
  return drops;
}

TEST(Tolerance, OneMissingProductOfThousandsIsFoundInF16) {
  EXPECT_GE(drop_products("gemm m=8 n=32 k=4096 a=f16:row b=f16:row c=f16:row").found, 230);  // of 256
}

TEST(Tolerance, OneMissingProductOfThousandsIsFoundInBf16WhereTheRoundingDoesNotHideIt) {
  const Drops drops = drop_products("gemm m=8 n=32 k=4096 a=bf16:row b=bf16:row c=bf16:row");
  EXPECT_GE(drops.found, 128);  // of 256: units of 0.25 and 0.5, where most products are below 1
}

TEST(Tolerance, OfShortSumsNothingIsHiddenButTheSmallest) {
  EXPECT_GE(drop_products("gemm m=8 n=32 k=16 a=bf16:row b=bf16:row c=bf16:row").found, 240);
}

TEST(Tolerance, RightSumsInAnyOrderPassWhateverTheirLength) {
  for (const char* type : {"f16", "bf16"}) {
    for (const int k : {1, 2, 63, 1000, 20000}) {
      const Workload workload =
          parse_workload(fmt::format("gemm m=16 n=64 k={1} a={0}:row b={0}:row c={0}:row", type, k));
      const Gemm& g = workload.gemm();
      const Problem problem = problem_for(workload, kSeed);
      const std::vector<std::vector<float>> inputs = inputs_of(problem);
      for (const int chains : {1, 8}) {
        std::vector<float> c;
        for (std::int64_t i = 0; i < g.m; ++i) {
          for (std::int64_t j = 0; j < g.n; ++j) {
            std::vector<float> sums(static_cast<std::size_t>(chains));
            for (std::int64_t p = 0; p < g.k; ++p)
              sums[static_cast<std::size_t>(p % chains)] += inputs[0][static_cast<std::size_t>(i * g.k + p)] *
                                                            inputs[1][static_cast<std::size_t>(p * g.n + j)];
            float total = 0;
            for (const float sum : sums) total += sum;
            c.push_back(total);
          }
        }
        std::vector<unsigned char> bytes(c.size() * 2);
        store_elements(g.c.type, c, bytes.data());
        const Comparison comparison = compare_output(problem, bytes.data());
        EXPECT_EQ(comparison.fault, "") << to_text(workload);
        EXPECT_LE(comparison.max_error, problem.arguments[2].absolute);
      }
    }
  }
}

}  // namespace
}  // namespace lehr
