// Tests of listings written by hand: which instructions are a loop's, and which of its instructions are not
// to be there.
#include "sass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "rules.h"

namespace lehr::sass {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Tiles, each of them a loop along k whose wait lies behind the end, as ptxas puts it.
constexpr std::string_view kListing = R"(
gemm_wgmma:
.text.gemm_wgmma:
        /*0000*/                   MEMBAR.ALL.GPU ;
.L_x_0:
        /*0010*/                   IADD3 R1, R1, 0x1, RZ ;
.L_x_1:
        /*0020*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR5+0x18000], R0 ;
        /*0030*/              @!P1 BRA `(.L_x_4) ;
.L_x_2:
        /*0040*/                   HGMMA.64x64x16.F32.BF16 R56, gdesc[UR12], R56, UP0 ;
        /*0050*/               @P2 BRA `(.L_x_1) ;
        /*0060*/                   STG.E desc[UR16][R4.64+0x24000], R31 ;
        /*0070*/               @P3 BRA `(.L_x_0) ;
        /*0080*/                   EXIT ;
.L_x_4:
        /*0090*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR5+0x18000], R0 ;
        /*00a0*/              @!P1 BRA `(.L_x_4) ;
        /*00b0*/                   BRA `(.L_x_2) ;
.L_x_5:
        /*00c0*/                   BRA `(.L_x_5);
)";

TEST(Sass, InstructionsHaveOpcodesPredicatesAndWhatComesNext) {
  const std::vector<Instruction> function = parse(kListing);
  ASSERT_THAT(function, SizeIs(13));
  EXPECT_EQ(function[4].opcode, "HGMMA.64x64x16.F32.BF16");
  EXPECT_TRUE(is_tensor_core(function[4]));
  EXPECT_FALSE(is_tensor_core(function[2]));
  EXPECT_EQ(function[3].predicate, "@!P1");
  EXPECT_THAT(function[3].to, ElementsAre(9, 4));
  EXPECT_THAT(function[8].to, IsEmpty());
  EXPECT_THAT(function[11].to, ElementsAre(4));
}

TEST(Sass, ALoopHasWhatLiesBehindTheEndAndNotTheLoopAroundIt) {
  const std::vector<Instruction> function = parse(kListing);
  EXPECT_THAT(loops(function), SizeIs(3));  // instructions that nobody reaches form no loop
  EXPECT_THAT(innermost(function, is_tensor_core), ElementsAre(ElementsAre(2, 3, 4, 5, 9, 10, 11)));
  EXPECT_THAT(innermost(function, is_tensor_core, 2), IsEmpty());
}

TEST(Sass, BranchesWithAConditionAmongTheirOperandsMayGoOn) {
  const std::vector<Instruction> function = parse(R"(
.L_x_0:
        /*0000*/                   BSSY B1, `(.L_x_2) ;
        /*0010*/                   BRA.U !UP0, `(.L_x_1) ;
        /*0020*/                   BSYNC B1 ;
.L_x_1:
        /*0030*/                   HMMA.16816.F32 R4, R8, R12, R4 ;
.L_x_2:
        /*0040*/                   BRA UP0, `(.L_x_0) ;
        /*0050*/                   EXIT ;
)");
  EXPECT_THAT(function[1].to, ElementsAre(3, 2));
  EXPECT_THAT(function[2].to, ElementsAre(4));
  EXPECT_THAT(function[4].to, ElementsAre(0, 5));
}

TEST(Sass, ABranchToNowhereIsAnError) {
  EXPECT_THROW(parse("        /*0000*/                   BRA `(.L_x_9) ;\n"), Error);
}

TEST(SassRules, FencesLocalMemoryAndCacheControlAreNamed) {
  const auto found = [](std::string_view line) { return why_forbidden(parse(line).at(0)).has_value(); };
  EXPECT_TRUE(found("        /*0cb0*/              @!P0 MEMBAR.ALL.GPU ;"));
  EXPECT_TRUE(found("        /*0cd0*/              @!P0 ERRBAR;"));
  EXPECT_TRUE(found("        /*0ce0*/              @!P0 CGAERRBAR ;"));
  EXPECT_TRUE(found("        /*0ce0*/                   LDL.LU R4, [R1+0x8] ;"));
  EXPECT_TRUE(found("        /*0ce0*/                   STL.64 [R1], R4 ;"));
  EXPECT_TRUE(found("        /*0ce0*/               @P0 CCTL.IVALL ;"));
  EXPECT_FALSE(found("        /*0ce0*/                   LDG.E R4, desc[UR4][R2.64] ;"));
  EXPECT_FALSE(found("        /*0ce0*/                   LDSM.16.M88.4 R4, [R2] ;"));
}

}  // namespace
}  // namespace lehr::sass
