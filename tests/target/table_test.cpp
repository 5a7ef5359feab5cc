// Tests that every target has a row in each table, and that the row is whole.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/limits_json.h"
#include "target/archs.h"
#include "target/dialect.h"
#include "target/prelude.h"
#include "tests/support/isa_limits.h"

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
  EXPECT_EQ(name_of(Isa()), kNativeIsa);
}

constexpr const char* kBoth = "x86-64-v4+avx512vnni+avx512bf16";

TEST(IsaFeatures, AreOfALevelAndEachOfAnAbilityOfItsOwn) {
  int abilities = 0;
  for (const Target target : kTargets) {
    for (const IsaFeature& feature : archs_of(target).features) {
      SCOPED_TRACE(feature.name);
      ASSERT_NE(isa_level_named(feature.level), nullptr);
      EXPECT_EQ(abilities & static_cast<int>(feature.ability), 0);
      abilities |= static_cast<int>(feature.ability);
      const Isa isa = isa_named(fmt::format("{}+{}", feature.level, feature.name));
      EXPECT_TRUE(limits_of(isa, 1).has(feature.ability));
      EXPECT_THAT(feature_names(isa.abilities), testing::ElementsAre(feature.name));
    }
  }
  EXPECT_NE(abilities, 0);
}

TEST(IsaFeatures, HaveOneNameInWhicheverOrderTheyAreWritten) {
  EXPECT_EQ(name_of(isa_named(kBoth)), kBoth);
  EXPECT_EQ(name_of(isa_named("x86-64-v4+avx512bf16+avx512vnni+avx512bf16")), kBoth);
  EXPECT_EQ(isa_named("native"), Isa());
  EXPECT_NE(isa_named("x86-64-v4+avx512vnni"), isa_named("x86-64-v4"));
}

TEST(IsaFeatures, AddAbilitiesAloneToTheLimitsOfTheirLevel) {
  Limits limits = limits_of(isa_named(kBoth), 3);
  const Limits level = archs_of(Target::kCpu).limits("avx512", 3);
  EXPECT_TRUE(limits.has(Ability::kInt8Dot));
  EXPECT_TRUE(limits.has(Ability::kBf16Dot));
  EXPECT_FALSE(limits_of(isa_named("x86-64-v4+avx512bf16"), 3).has(Ability::kInt8Dot));
  limits.abilities = 0;
  EXPECT_EQ(facts_of(limits), facts_of(level));
  EXPECT_EQ(limits.arch, level.arch);
  EXPECT_EQ(level.abilities, 0) << "a log's row of before says nothing more";
}

TEST(IsaFeatures, ThatAreNoneAreRefusedInOneSentence) {
  const auto refusal = [](std::string_view text) -> std::string {
    try {
      return "taken: " + name_of(isa_named(text));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      return error.what();
    }
  };
  EXPECT_EQ(refusal("x86-64-v4+avx512vni"),
            "--isa: the feature avx512vni is not known (did you mean avx512vnni?): it must be one of "
            "avx512vnni, avx512bf16");
  EXPECT_EQ(refusal("x86-64-v3+avx512vnni"),
            "--isa x86-64-v3+avx512vnni: avx512vnni needs the level x86-64-v4, as in x86-64-v4+avx512vnni");
  EXPECT_THAT(refusal("armv8.2-a+avx512vnni"), testing::HasSubstr("needs the level x86-64-v4"));
  EXPECT_THAT(refusal("x86-64-v4+"), testing::HasSubstr("the feature '' is not known"));
  EXPECT_THAT(refusal("native+avx512vnni"), testing::HasSubstr("leave out +"));
  EXPECT_THAT(refusal("avx512vnni"), testing::HasSubstr("--isa avx512vnni is not known"));
}

TEST(IsaLevels, AreSaidByAnIdentity) {
  const auto said = [](std::string_view identity) { return name_of(isa_of_identity(identity)); };
  EXPECT_EQ(said("cpu | CPU | avx2 | cores=1 | driver= | g++ 12 -O2 -march=x86-64-v3 -w"), "x86-64-v3");
  EXPECT_EQ(said("cpu | CPU | sse2 | cores=1 | driver= | g++ 12 -O2 -march=x86-64 -w"), "x86-64");
  EXPECT_EQ(said("cpu | CPU | avx2 | cores=1 | driver= | g++ 12 -O2 -march=native -w [native=x/1]"),
            "native");
  EXPECT_EQ(said("cpu | CPU | avx512 | cores=1 | driver= | g++ 12 -O2 -march=x86-64-v4 -mavx512bf16 -w"),
            "x86-64-v4+avx512bf16");
  EXPECT_EQ(said("g++ 12 -O2 -march=x86-64-v4 -w -mavx512bf16"), "x86-64-v4") << "the user's own flag";
  EXPECT_EQ(said(fmt::format("g++ 12 -O2 {}", fmt::join(flags_of(isa_named(kBoth)), " "))), kBoth);
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

// The log of a CPU's row names its instruction set and its cores: all other facts are those of a usual
// server.
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
