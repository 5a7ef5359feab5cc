// Every target has a row in each table, and the row is whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "target/archs.h"
#include "target/dialect.h"
#include "target/prelude.h"

namespace lehr {
namespace {

TEST(TargetTable, HasAWholeDialectForEach) {
  for (const Target target : kTargets) {
    SCOPED_TRACE(name_of(target));
    const Dialect& dialect = dialect_of(target);
    EXPECT_EQ(dialect.type_name(DType::kF32, 1), "float");
    EXPECT_NE(dialect.type_name(DType::kF32, 4), "float");
    EXPECT_NE(dialect.block_barrier.empty(), target.has(Feature::kBlocks));
    EXPECT_NE(dialect.launch_text({}, 0), "");
    const ir::LoopKind bound = target.has(Feature::kBlocks) ? ir::LoopKind::kBlockX : ir::LoopKind::kParallel;
    EXPECT_NE(dialect.launch_index(bound), "");
    EXPECT_THROW(dialect.launch_index(ir::LoopKind::kSerial), Error);
    EXPECT_THAT(prelude(target, {"base"}), testing::HasSubstr("LEHR_MIN"));
    EXPECT_THROW(prelude(target, {"warp_drive"}), Error);
  }
}

TEST(IsaLevels, HaveLimitsOfTheirOwnAndAreFoundByName) {
  int count = 0;
  for (const Target target : kTargets) {
    int lanes = 0;
    std::string_view machine;
    for (const IsaLevel& level : archs_of(target).levels) {
      SCOPED_TRACE(level.name);
      ++count;
      EXPECT_EQ(isa_level_named(level.name), &level) << "two levels have one name";
      const Limits limits = archs_of(target).limits(level.arch, 1);
      EXPECT_EQ(limits.arch, level.arch);
      EXPECT_GE(limits.vector_bytes, level.machine == machine ? lanes : 1) << "lower ones come first";
      lanes = limits.vector_bytes;
      machine = level.machine;
    }
  }
  EXPECT_GT(count, 4);
  EXPECT_EQ(isa_level_named(kNativeIsa), nullptr);
  EXPECT_EQ(name_of(static_cast<const IsaLevel*>(nullptr)), kNativeIsa);
}

TEST(IsaLevels, AreSaidByAnIdentity) {
  const auto said = [](std::string_view identity) { return name_of(isa_level_said(identity)); };
  EXPECT_EQ(said("cpu | CPU | avx2 | cores=1 | driver= | g++ 12 -O2 -march=x86-64-v3 -w"), "x86-64-v3");
  EXPECT_EQ(said("cpu | CPU | sse2 | cores=1 | driver= | g++ 12 -O2 -march=x86-64 -w"), "x86-64");
  EXPECT_EQ(said("cpu | CPU | avx2 | cores=1 | driver= | g++ 12 -O2 -march=native -w [native=x/1]"),
            "native");
  EXPECT_EQ(said("cuda | GPU | sm_90a | cores=132 | driver=1 | NVRTC"), "native");
}

TEST(TargetTable, HasLimitsOfItsOwnTargetForEachArchThatItKnows) {
  for (const Target target : kTargets) {
    const Archs& archs = archs_of(target);
    for (const std::string& arch : archs.known()) {
      SCOPED_TRACE(arch);
      EXPECT_EQ(archs.limits(arch, 0).target, target);
      EXPECT_EQ(archs.limits(arch, 0).arch, arch);
      EXPECT_GT(archs.limits(arch, 0).cores, 1);
      EXPECT_EQ(archs.limits(arch, 7).cores, 7);
    }
  }
}

TEST(TargetTable, KnowsArchsByNameOnlyWhereKernelsDependOnNothingElse) {
  for (const Target target : kTargets)
    EXPECT_EQ(archs_of(target).portable, !archs_of(target).known().empty()) << name_of(target);
}

// The log of a CPU's row names its instruction set and its cores: all the rest is that of a usual server.
TEST(CpuArchs, FollowFromTheInstructionSetAndTheCores) {
  const Limits wide = archs_of(Target::kCpu).limits("avx512", 4),
               narrow = archs_of(Target::kCpu).limits("neon", 0);
  EXPECT_EQ(wide.target, Target::kCpu);
  EXPECT_EQ(wide.vector_bytes, 64);
  EXPECT_EQ(wide.cores, 4);
  EXPECT_DOUBLE_EQ(wide.peak_gflops_f32, 640);
  EXPECT_EQ(narrow.vector_bytes, 16);
  EXPECT_EQ(narrow.vector_registers, 32);
  EXPECT_EQ(narrow.cores, 1);
}

}  // namespace
}  // namespace lehr
