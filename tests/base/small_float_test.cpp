// Narrow floats: known bit patterns, and every pattern survives the way to f32 and back.
#include "base/small_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/rng.h"

namespace lehr {
namespace {

TEST(SmallFloat, HasTheValuesOfItsSpecification) {
  EXPECT_EQ(from_e4m3(0x7E), 448);
  EXPECT_EQ(from_e4m3(0x01), 0x1p-9F);
  EXPECT_EQ(from_e4m3(0x08), 0x1p-6F);
  EXPECT_EQ(from_e4m3(0xB8), -1);
  EXPECT_EQ(from_e5m2(0x7B), 57344);
  EXPECT_EQ(from_e5m2(0x01), 0x1p-16F);
  EXPECT_EQ(from_e5m2(0x3C), 1);
  EXPECT_EQ(from_bf16(0x3F80), 1);
  EXPECT_EQ(from_f16(0x3C00), 1);
  EXPECT_TRUE(std::isnan(from_e4m3(0x7F)));
  EXPECT_TRUE(std::isnan(from_e4m3(to_e4m3(std::nanf("")))));
  EXPECT_TRUE(std::isnan(from_e5m2(to_e5m2(std::nanf("")))));
}

TEST(SmallFloat, EveryPatternSurvivesTheWayToF32AndBack) {
  for (int bits = 0; bits < 256; ++bits) {
    const auto byte = static_cast<std::uint8_t>(bits);
    if (!std::isnan(from_e4m3(byte))) {
      EXPECT_EQ(to_e4m3(from_e4m3(byte)), byte) << bits;
    }
    if (std::isfinite(from_e5m2(byte))) {
      EXPECT_EQ(to_e5m2(from_e5m2(byte)), byte) << bits;
    }
  }
}

TEST(SmallFloat, SaturatesIn8Bits) {
  EXPECT_EQ(rounded_to(DType::kE4M3, 1e9F), 448);
  EXPECT_EQ(rounded_to(DType::kE4M3, -460), -448);
  EXPECT_EQ(rounded_to(DType::kE5M2, INFINITY), 57344);
  EXPECT_EQ(rounded_to(DType::kS8, -200), -128);
  EXPECT_EQ(rounded_to(DType::kS8, 3.5F), 4);
}

TEST(SmallFloat, RoundsToTheNearestValueAndTiesToEven) {
  EXPECT_EQ(rounded_to(DType::kE4M3, 1 + 0x1p-4F), 1);
  EXPECT_EQ(rounded_to(DType::kE4M3, 1 + 3 * 0x1p-4F), 1.25F);
  EXPECT_EQ(rounded_to(DType::kE4M3, 0x1p-10F), 0);
  EXPECT_EQ(rounded_to(DType::kE5M2, 1.999F), 2);
  const std::uint64_t seed = 11;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Rng rng(seed);
  for (int i = 0; i < 2000; ++i) {
    const auto value = static_cast<float>((2 * rng.uniform() - 1) * std::exp2(rng.uniform() * 20 - 12));
    for (const auto& [type, decode] : {std::pair{DType::kE4M3, &from_e4m3}, {DType::kE5M2, &from_e5m2}}) {
      const float got = rounded_to(type, value);
      for (int bits = 0; bits < 256; ++bits) {
        const float other = decode(static_cast<std::uint8_t>(bits));
        if (!std::isfinite(other)) continue;
        ASSERT_LE(std::fabs(got - value), std::fabs(other - value)) << value;
      }
    }
  }
}

}  // namespace
}  // namespace lehr
