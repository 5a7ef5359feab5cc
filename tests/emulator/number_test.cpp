// Compares conversions with known results (from the formats' definitions) and with those in measure/, which
// were written independently.
#include "number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/rng.h"
#include "measure/core/element.h"

namespace lehr::emulator {
namespace {

constexpr std::uint64_t kSeed = 3;

TEST(Number, DecodesKnownPatterns) {
  EXPECT_EQ(decode(kE4M3, 0x38), 1.0F);
  EXPECT_EQ(decode(kE4M3, 0xB8), -1.0F);
  EXPECT_EQ(decode(kE4M3, 0x7E), 448.0F);   // the largest: there is no infinity
  EXPECT_EQ(decode(kE4M3, 0x01), 0x1p-9F);  // the smallest subnormal
  EXPECT_EQ(decode(kE4M3, 0x08), 0x1p-6F);  // the smallest normal number
  EXPECT_TRUE(std::isnan(decode(kE4M3, 0x7F)));
  EXPECT_TRUE(std::isnan(decode(kE4M3, 0xFF)));
  EXPECT_EQ(decode(kE5M2, 0x3C), 1.0F);
  EXPECT_EQ(decode(kE5M2, 0x7B), 57344.0F);
  EXPECT_EQ(decode(kE5M2, 0x01), 0x1p-16F);
  EXPECT_EQ(decode(kE5M2, 0xFC), -INFINITY);
  EXPECT_TRUE(std::isnan(decode(kE5M2, 0x7D)));
  EXPECT_EQ(decode(kF16, 0x3C00), 1.0F);
  EXPECT_EQ(decode(kF16, 0x7BFF), 65504.0F);
  EXPECT_EQ(decode(kF16, 0x0001), 0x1p-24F);
  EXPECT_EQ(decode(kBF16, 0xC049), -3.140625F);
}

TEST(Number, AgreesWithTheMeasurersConversions) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    for (const auto& [type, format] : {std::pair{DType::kF16, kF16}, {DType::kBF16, kBF16}}) {
      const double theirs = load_element(type, &half, 0);
      const double ours = decode(format, bits);
      ASSERT_TRUE(theirs == ours || (std::isnan(theirs) && std::isnan(ours))) << bits;
      if (!std::isnan(ours)) {
        ASSERT_EQ(encode(format, static_cast<float>(ours)), bits);
      }
    }
  }
  Rng rng(kSeed);
  for (int i = 0; i < 100000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(rng.next()));
    if (std::isnan(value)) continue;
    for (const auto& [type, format] : {std::pair{DType::kF16, kF16}, {DType::kBF16, kBF16}}) {
      std::uint16_t theirs = 0;
      store_elements(type, {&value, 1}, &theirs);
      ASSERT_EQ(encode(format, value), theirs) << value;
    }
  }
}

TEST(Number, RoundsToTf32AwayFromZeroAtTiesAndTruncatesWhatMmaReads) {
  const float tie = 1 + 0x1p-11F;
  EXPECT_EQ(std::bit_cast<float>(round_to_tf32(tie)), 1 + 0x1p-10F);
  EXPECT_EQ(std::bit_cast<float>(round_to_tf32(-tie)), -1 - 0x1p-10F);
  EXPECT_EQ(std::bit_cast<float>(round_to_tf32(1 + 0x1p-12F)), 1.0F);
  EXPECT_EQ(std::bit_cast<float>(round_to_tf32(INFINITY)), INFINITY);
  EXPECT_EQ(truncate_to_tf32(std::bit_cast<std::uint32_t>(tie)), 1.0F);
  EXPECT_EQ(truncate_to_tf32(std::bit_cast<std::uint32_t>(1 + 0x1p-10F)), 1 + 0x1p-10F);
}

}  // namespace
}  // namespace lehr::emulator
