// Tests that ptxas's log is read back: the forms below are recorded from NVRTC 13.0 (ptxas 13.0.88).
#include "measure/cuda/ptxas_log.h"

#include <gtest/gtest.h>

namespace lehr {
namespace {

constexpr const char* kClean = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k1' for 'sm_90a'
ptxas info    : Function properties for k1
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 14 registers, used 1 barriers
ptxas info    : Compile time = 3.215 ms
)";
constexpr const char* kSpilling = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k2' for 'sm_90a'
ptxas info    : Function properties for k2
ptxas         .     288 bytes stack frame, 560 bytes spill stores, 604 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 288 bytes cumulative stack size
)";
constexpr const char* kStaticShared = R"(ptxas info    : Compiling entry function 'k3' for 'sm_80'
ptxas info    : Function properties for k3
    256 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 38 registers, used 1 barriers, 256 bytes cumulative stack size, 400 bytes smem, 376 bytes cmem[0]
)";

TEST(PtxasLog, GivesRegistersAndNoSpillsOfACleanKernel) {
  const PtxasReport report = parse_ptxas_log(kClean, "k1");
  EXPECT_EQ(report.registers, 14);
  EXPECT_EQ(report.stack_bytes, 0);
  EXPECT_EQ(report.spill_store_bytes, 0);
  EXPECT_EQ(report.spill_load_bytes, 0);
  EXPECT_EQ(report.shared_bytes, std::nullopt);
  EXPECT_TRUE(report.advisories.empty());
  EXPECT_EQ(why_rejected(report), std::nullopt);
}

TEST(PtxasLog, AddsSpillStoresAndLoads) {
  const Resources resources = resources_of(parse_ptxas_log(kSpilling), 1024, 0.5);
  EXPECT_EQ(resources.spill_bytes, 560 + 604);
  EXPECT_EQ(resources.stack_bytes, 288);
  EXPECT_EQ(resources.shared_bytes, 1024);
  EXPECT_EQ(resources.compile_s, 0.5);
}

TEST(PtxasLog, AddsStaticToDynamicSharedMemory) {
  EXPECT_EQ(resources_of(parse_ptxas_log(kStaticShared), 1000, 0).shared_bytes, 1400);
}

TEST(PtxasLog, ReadsTheNamedEntryAmongSeveral) {
  const std::string both = std::string(kSpilling) + kStaticShared;
  EXPECT_EQ(parse_ptxas_log(both, "k2").registers, 32);
  EXPECT_EQ(parse_ptxas_log(both, "k3").registers, 38);
  EXPECT_EQ(parse_ptxas_log(both, "k4").registers, std::nullopt);
}

TEST(PtxasLog, KeepsAdvisoriesAsText) {
  const PtxasReport report = parse_ptxas_log(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due "
      "to x in the "
      "function 'k'\nptxas info    : (C7999) nothing of that kind: xC7510, C75\n");
  ASSERT_EQ(report.advisories.size(), 1u);
  EXPECT_TRUE(report.advisories[0].starts_with("(C7510) Potential Performance Loss")) << report.advisories[0];
  EXPECT_EQ(resources_of(report, 0, 0).advisories, report.advisories[0]);
  EXPECT_NE(why_rejected(report), std::nullopt);
}

TEST(PtxasLog, RejectsByTheSumOfSpills) {
  const PtxasReport report = parse_ptxas_log(kSpilling);
  const auto reason = why_rejected(report);
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("1164"), std::string::npos) << *reason;
}

TEST(PtxasLog, PassesOverUnknownText) {
  for (const char* text :
       {"", "\n\n", "Used registers", " bytes spill stores", "Used 99999999999999999999 registers"}) {
    const PtxasReport report = parse_ptxas_log(text);
    EXPECT_EQ(report.registers, std::nullopt) << text;
    EXPECT_EQ(report.spill_store_bytes, std::nullopt) << text;
  }
}

}  // namespace
}  // namespace lehr
