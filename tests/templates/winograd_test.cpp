// Tests of the minimal filtering algorithms: their matrices against the sum that they stand for, and their
// stated tolerance against the errors of f32.
#include "templates/shared/winograd.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "ir/analyze.h"
#include "templates/catalog.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

template <typename T>
std::vector<T> times(const Winograd::Matrix& matrix, const std::vector<T>& vector) {
  std::vector<T> result;
  for (const std::vector<double>& row : matrix) {
    T sum = 0;
    for (std::size_t j = 0; j < row.size(); ++j) sum += static_cast<T>(row[j]) * vector[j];
    result.push_back(sum);
  }
  return result;
}

TEST(Winograd, FiltersALineExactly) {
  const std::uint64_t seed = 5;
  Rng rng(seed);
  for (const std::int64_t tile : {2, 4}) {
    const Winograd& w = winograd(tile);
    for (int trial = 0; trial < 100; ++trial) {
      std::vector<double> d(static_cast<std::size_t>(w.inputs())), g(3);
      for (double& value : d) value = rng.uniform() * 2 - 1;
      for (double& value : g) value = rng.uniform() * 2 - 1;
      std::vector<double> products = times(w.input, d);
      const std::vector<double> u = times(w.filter, g);
      for (std::size_t i = 0; i < products.size(); ++i) products[i] *= u[i];
      const std::vector<double> y = times(w.output, products);
      for (std::size_t p = 0; p < y.size(); ++p)
        EXPECT_NEAR(y[p], d[p] * g[0] + d[p + 1] * g[1] + d[p + 2] * g[2], 1e-13) << "seed " << seed;
    }
  }
}

// Computes one output tile's last element, where F(4x4, 3x3) loses most, over c channels in f32.
// tolerance_test.cpp has the argument for the distance between the largest error and the tolerance.
TEST(Winograd, LosesSoMuchLessThanItsToleranceThatAMillionChecksDoAndMoreThanAHundredthOfIt) {
  const std::uint64_t seed = 6;
  Rng rng(seed);
  const Winograd& w = winograd(4);
  const auto normal = [&] {  // variance 1
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += rng.uniform();
    return static_cast<float>(sum - 6);
  };
  const auto both_sides = [](const Winograd::Matrix& matrix, const std::vector<std::vector<float>>& lines) {
    std::vector<std::vector<float>> half(matrix.size()), result;
    for (std::size_t column = 0; column < lines[0].size(); ++column) {
      std::vector<float> values;
      for (const auto& line : lines) values.push_back(line[column]);
      const std::vector<float> transformed = times(matrix, values);
      for (std::size_t i = 0; i < half.size(); ++i) half[i].push_back(transformed[i]);
    }
    for (const auto& line : half) result.push_back(times(matrix, line));
    return result;
  };
  constexpr int kTrials = 200;
  for (const std::int64_t channels : {1, 16, 256}) {
    double worst = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<std::vector<float>> sums(6, std::vector<float>(6, 0));
      double expected = 0;
      for (std::int64_t c = 0; c < channels; ++c) {
        std::vector<std::vector<float>> d(6, std::vector<float>(6)), g(3, std::vector<float>(3));
        for (auto& line : d)
          for (float& value : line) value = normal();
        for (auto& line : g)
          for (float& value : line) value = normal();
        for (std::size_t r = 0; r < 3; ++r)
          for (std::size_t s = 0; s < 3; ++s) expected += static_cast<double>(d[3 + r][3 + s]) * g[r][s];
        const auto v = both_sides(w.input, d), u = both_sides(w.filter, g);
        for (std::size_t i = 0; i < 6; ++i)
          for (std::size_t j = 0; j < 6; ++j) sums[i][j] += v[i][j] * u[i][j];
      }
      worst = std::max(worst, std::abs(both_sides(w.output, sums)[3][3] - expected));
    }
    Conv2d conv;
    conv.c = channels;
    const double tolerance = winograd_tolerance(conv, kTrials);
    EXPECT_LT(worst * std::log(1e6 * kTrials) / std::log(kTrials), tolerance)
        << channels << " channels, seed " << seed;
    EXPECT_GT(worst, tolerance / 100) << channels << " channels, seed " << seed;
  }
}

TEST(Winograd, TakesAQuarterOfTheProducts) {
  Limits limits;
  limits.arch = "avx512";
  limits.cores = 1;
  limits.vector_bytes = 64;
  limits.vector_registers = 32;
  limits.l2_bytes = 2 << 20;
  const Workload workload = parse_workload("conv2d h=56 w=56 c=64 k=64 r=3 s=3 pad=1");
  const Config config = testing::default_of(template_named("conv2d_winograd_cpu"), workload, limits);
  ASSERT_EQ(config.at("tile"), 4);
  const double flops = ir::analyze(lower(workload, config, limits)).flops;
  EXPECT_GT(flops, flops_of(workload) / 4);
  EXPECT_LT(flops, flops_of(workload) / 4 * 1.8);  // with its transforms
}

TEST(Winograd, AppliesWhereItsMatricesDo) {
  const auto applies = [](std::string_view text) { return winograd_applies(parse_workload(text).conv2d()); };
  EXPECT_TRUE(applies("conv2d h=8 w=8 c=4 k=4 r=3 s=3 pad=1"));
  EXPECT_FALSE(applies("conv2d h=8 w=8 c=4 k=4 r=3 s=3 stride=2"));
  EXPECT_FALSE(applies("conv2d h=8 w=8 c=4 k=4 r=3 s=3 dilation=2"));
  EXPECT_FALSE(applies("conv2d h=8 w=8 c=4 k=4 r=3 s=3 groups=2"));
  EXPECT_FALSE(applies("conv2d h=8 w=8 c=4 k=4 r=3 s=1"));
  EXPECT_FALSE(applies("conv2d h=8 w=8 c=4 k=4 r=3 s=3 x=f16 f=f16 y=f16"));
}

}  // namespace
}  // namespace lehr
