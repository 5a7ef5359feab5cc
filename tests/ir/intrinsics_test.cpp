// Tests of names of intrinsics: which are known, and of what kind they are.
#include "ir/intrinsics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace lehr::ir {
namespace {

TEST(Intrinsics, HaveARuleForEachWidthOfWgmma) {
  const IntrinsicRule* rule = intrinsic_rule("wgmma_m64k16_f32_bf16");
  ASSERT_NE(rule, nullptr);
  for (int n = 8; n <= 256; n += 8) {
    const std::string name = "wgmma_m64n" + std::to_string(n) + "k16_f32_bf16";
    EXPECT_EQ(intrinsic_rule(name), rule) << name;
    EXPECT_EQ(wgmma_columns(name), n);
  }
  EXPECT_EQ(intrinsic_rule("wgmma_m64n264k16_f32_bf16"), nullptr);
  EXPECT_EQ(intrinsic_rule("wgmma_m64n12k16_f32_bf16"), nullptr);
  EXPECT_EQ(intrinsic_rule("wgmma_m64n40k32_s32_s8"), nullptr);  // multiples of 16 from 32 on
  EXPECT_NE(intrinsic_rule("wgmma_m64n48k32_s32_s8"), nullptr);
  EXPECT_EQ(intrinsic_rule("no_such"), nullptr);
}

TEST(Intrinsics, GiveNamesThatStay) {
  const StaticText name = [] {
    const std::string text = "cp_async_" + std::to_string(16);
    return intrinsic_name(text);
  }();
  EXPECT_EQ(name, "cp_async_16");
  EXPECT_EQ(intrinsic_name("wgmma_m64n128k16_f32_f16"), "wgmma_m64n128k16_f32_f16");
  EXPECT_THROW(intrinsic_name("cp_async_5"), Error);
}

TEST(Intrinsics, AreOfTheKindThatTheirNameSays) {
  for (const IntrinsicRule& rule : intrinsic_rules()) {
    const IntrinsicKind kind = kind_of(rule.name);
    EXPECT_EQ(is_tma(kind), rule.name.starts_with("tma_")) << rule.name;
    EXPECT_EQ(is_cp_async(kind), rule.name.starts_with("cp_async_")) << rule.name;
    EXPECT_EQ(kind == IntrinsicKind::kTmaLoad,
              rule.name.starts_with("tma_load_") || rule.name.starts_with("tma_multicast_"))
        << rule.name;
    EXPECT_EQ(kind == IntrinsicKind::kSetRegisters, rule.name.starts_with("setmaxnreg_")) << rule.name;
  }
  EXPECT_EQ(kind_of("cp_async_wait"), IntrinsicKind::kAsyncWait);
  EXPECT_EQ(kind_of("cp_async_commit"), IntrinsicKind::kAsync);
  EXPECT_EQ(kind_of("cp_async_8"), IntrinsicKind::kAsync);
  EXPECT_EQ(kind_of("prefetch"), IntrinsicKind::kPrefetch);
  EXPECT_EQ(kind_of("mbarrier_expect_tx"), IntrinsicKind::kBarrierExpects);
  EXPECT_EQ(kind_of("mbarrier_wait"), IntrinsicKind::kOther);
  EXPECT_EQ(kind_of(""), IntrinsicKind::kOther);
}

}  // namespace
}  // namespace lehr::ir
