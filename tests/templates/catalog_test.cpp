// Tests of the families that a workload gets: those of its operator and its target, and no family that fails
// to describe itself.
#include "templates/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <array>
#include <functional>
#include <set>
#include <string>

#include "base/error.h"
#include "codegen/emit.h"
#include "cpu_problems.h"
#include "ir/analyze.h"
#include "target/cuda/archs.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Limits cpu() {
  return lehr::testing::cpu_limits(32, 2);
}

std::string error_of(const std::function<void()>& act, ErrorKind kind) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "no error";
}

const Workload kWorkload = parse_workload("gemm m=8 n=8 k=8");

FamilySpace one_knob(std::string family) {
  FamilySpace space(std::move(family));
  space.add("rows", "rows of a tile", {1, 2, 4});
  return space;
}

/// Returns a family that serves everything with one knob.
Template sound(const char* name = "sound") {
  return {
      .name = name,
      .version = 1,
      .target = Target::kCpu,
      .why_not = [](const Workload&, const Limits&) -> std::optional<std::string> { return std::nullopt; },
      .space = [](const Workload&, const Limits&) { return one_knob("sound"); },
      .lower_schedule = [](const Workload&, const Members&, const Limits&) { return ir::Kernel{}; },
      .default_in = [](const FamilySpace&, const Workload&,
                       const Limits&) { return Config{"sound", {{"rows", 2}}}; }};
}

FamilySpace space_that_fails(const Workload&, const Limits&) {
  FamilySpace space("broken");
  space.add("rows", "rows of a tile", {});
  return space;
}

Config default_that_fails(const FamilySpace&, const Workload&, const Limits&) {
  CHECK(1 > 2, "no tile fits");
  return {};
}

FamilySpace empty_space(const Workload&, const Limits&) {
  FamilySpace space("sound");
  space.add("rows", "rows of a tile", {1, 2, 4});
  space.forbid("nothing fits", [](const Members&) { return true; });
  return space;
}

TEST(Catalog, NamesTheFamiliesOfTheTargetAndTheOperatorAloneWhereNoneServes) {
  const Workload wide = parse_workload("gemm m=8 n=8 k=8 a=f64:row b=f64:row c=f64:row accum=f64");
  EXPECT_THAT(
      error_of([&] { kernel_space(wide, cpu()); }, ErrorKind::kUser),
      AllOf(HasSubstr("on avx2 (gemm_cpu: multiplies f32, bf16, and u8 or s8 by s8 only; gemm_dot_cpu: "),
            HasSubstr("gemv_cpu: "), Not(HasSubstr("gemm_simt")), Not(HasSubstr("conv2d"))));
  EXPECT_THAT(error_of([&] { kernel_space(wide, cuda_limits("sm_90a")); }, ErrorKind::kUser),
              AllOf(HasSubstr("on sm_90a (gemm_simt: it computes in f32 only, not f64; "),
                    HasSubstr("gemv_simt: "), Not(HasSubstr("gemm_cpu")), Not(HasSubstr("conv2d"))));
}

TEST(Catalog, AFamilyOfTheOtherTargetOrOperatorSaysSo) {
  EXPECT_EQ(why_unserved(template_named("gemm_simt"), kWorkload, cpu()), "it is for CUDA devices");
  EXPECT_EQ(why_unserved(template_named("gemm_cpu"), kWorkload, cuda_limits("sm_80")),
            "it is for CPU devices");
  EXPECT_EQ(why_unserved(template_named("conv2d_cpu"), kWorkload, cpu()), "it is for another operator");
  EXPECT_EQ(why_unserved(template_named("gemm_cpu"), kWorkload, cpu()), std::nullopt);
}

// A family that was written before a field came would ignore it, and be silently wrong.
TEST(Catalog, AFamilyRefusesAWorkloadWithALaterFieldThatItDoesNotList) {
  const Workload tf32 = parse_workload("gemm m=8 n=8 k=8 math=tf32");
  Template old = sound();
  EXPECT_EQ(why_unserved(old, tf32, cpu()), std::nullopt);
  old.reads = {};
  EXPECT_EQ(why_unserved(old, tf32, cpu()), "it does not know math=tf32");
  EXPECT_EQ(why_unserved(old, kWorkload, cpu()), std::nullopt);
  EXPECT_THAT(error_of([&] { kernel_space(families_for(std::array{old}, tf32, cpu()), tf32, cpu()); },
                       ErrorKind::kUser),
              HasSubstr("(sound: it does not know math=tf32)"));
}

std::string text_of(const Template& family, const Workload& workload, const Limits& limits) {
  return emit(testing::lowered(family, workload, testing::default_of(family, workload, limits), limits)).text;
}

// This shows that no family of ours, of either operator and target, ignores it.
TEST(Catalog, EveryFamilyRefusesAScaleOrMakesAnotherKernelOfIt) {
  int readers = 0;
  for (const Template& family : catalog()) {
    for (const char* plain :
         {"gemm m=3 n=64 k=64", "gemm m=64 n=64 k=64 b=f32:column", "gemm m=64 n=64 k=64 math=tf32",
          "gemm m=2 n=64 k=64 a=f16 b=f16:column c=f16"}) {
      const Limits limits = family.target == Target::kCpu ? cpu() : cuda_limits("sm_90a");
      if (why_unserved(family, parse_workload(plain), limits)) continue;
      SCOPED_TRACE(family.name + " " + plain);
      const Workload scaled = parse_workload(std::string(plain) + " alpha=0.75");
      if (const auto refusal = why_unserved(family, scaled, limits)) {
        EXPECT_EQ(*refusal, "it does not know alpha=0.75");
      } else {
        EXPECT_NE(text_of(family, scaled, limits), text_of(family, parse_workload(plain), limits));
        EXPECT_THAT(text_of(family, scaled, limits), HasSubstr("0.75"));
        ++readers;
      }
      Template old = family;
      old.reads = {"math"};
      EXPECT_EQ(why_unserved(old, scaled, limits), "it does not know alpha=0.75");
    }
  }
  EXPECT_GE(readers, 7);
}

// A constant B is a permission: a family without a use for it computes the same by the same kernel.
TEST(Catalog, EveryFamilyServesAConstantB) {
  std::set<std::string> others;
  for (const Template& family : catalog()) {
    for (const auto& [plain, constant] :
         {std::pair{"gemm m=3 n=64 k=64", "gemm m=3 n=64 k=64 b=f32:row:constant"},
          {"gemm m=64 n=64 k=64 b=f32:column", "gemm m=64 n=64 k=64 b=f32:column:constant"},
          {"gemm m=64 n=64 k=64 a=f16 b=f16:column c=f16",
           "gemm m=64 n=64 k=64 a=f16 b=f16:column:constant c=f16"}}) {
      SCOPED_TRACE(family.name + " " + plain);
      const Limits limits = family.target == Target::kCpu ? cpu() : cuda_limits("sm_90a");
      const Workload before = parse_workload(plain), stays = parse_workload(constant);
      EXPECT_EQ(why_unserved(family, before, limits), why_unserved(family, stays, limits));
      if (why_unserved(family, before, limits)) continue;
      if (text_of(family, before, limits) != text_of(family, stays, limits)) others.insert(family.name);
    }
  }
  EXPECT_EQ(others, std::set<std::string>{"gemm_cpu"});
}

TEST(Catalog, AFaultyFamilyIsLeftOutWithItsReasonAndTheOthersRemain) {
  Template no_space = sound("no_space"), no_default = sound("no_default"), no_config = sound("no_config");
  no_space.space = space_that_fails;
  no_default.default_in = default_that_fails;
  no_config.space = empty_space;
  const std::array all = {no_space, no_default, sound(), no_config};
  const Families found = families_for(all, kWorkload, cpu());
  ASSERT_EQ(found.spaces.size(), 1u);
  ASSERT_EQ(found.defaults.size(), 1u);
  EXPECT_EQ(to_text(found.defaults[0]), "sound(rows=2)");
  EXPECT_TRUE(found.refusing.empty());
  ASSERT_EQ(found.faulty.size(), 3u);
  EXPECT_EQ(found.faulty[0].family, "no_space");
  EXPECT_THAT(found.faulty[0].reason, HasSubstr("internal error: "));
  EXPECT_EQ(found.faulty[1].family, "no_default");
  EXPECT_THAT(found.faulty[1].reason, HasSubstr("no tile fits"));
  EXPECT_EQ(found.faulty[2].family, "no_config");
  EXPECT_THAT(found.faulty[2].reason, HasSubstr("its default sound(rows=2) is invalid: nothing fits"));
  EXPECT_EQ(kernel_space(found, kWorkload, cpu()).space.families().size(), 1u);
}

TEST(Catalog, WhereEveryFamilyIsFaultyTheMessageHasTheirReasons) {
  Template broken = sound("broken"), refusing = sound("refusing");
  broken.default_in = default_that_fails;
  refusing.why_not = [](const Workload&, const Limits&) -> std::optional<std::string> { return "too small"; };
  const std::array all = {broken, refusing};
  EXPECT_THAT(error_of([&] { kernel_space(families_for(all, kWorkload, cpu()), kWorkload, cpu()); },
                       ErrorKind::kUser),
              AllOf(HasSubstr("no kernel family serves 'gemm m=8 n=8 k=8"), HasSubstr("refusing: too small"),
                    HasSubstr("broken: internal error: 1 > 2 does not hold"), HasSubstr("no tile fits")));
}

TEST(Catalog, WhatIsNoBugOfTheFamilyEndsTheCommand) {
  Template asks = sound();
  asks.space = [](const Workload&, const Limits&) -> FamilySpace { throw_user("bad input"); };
  const std::array all = {asks, sound("other")};
  EXPECT_EQ(error_of([&] { families_for(all, kWorkload, cpu()); }, ErrorKind::kUser), "bad input");
}

TEST(Catalog, NoFamilyIsFaultyAndDefaultsAreOfTheSameFamiliesAsTheSpace) {
  std::vector<Workload> workloads;
  for (const char* text :
       {"gemm m=1 n=1 k=1", "gemm m=1 n=4096 k=4096", "gemm m=4 n=11008 k=4096 b=f32:column",
        "gemm m=31 n=17 k=5 batch=3", "gemm m=512 n=512 k=512 epilogue=bias+gelu",
        "gemm m=64 n=64 k=64 a=bf16 b=bf16 c=f32", "gemm m=16 n=4096 k=4096 a=f16 b=f16 c=f16",
        "gemm m=2048 n=2048 k=2048 a=e4m3 b=e4m3 c=bf16 math=two_level", "gemm m=64 n=128 k=256 math=tf32",
        "conv2d h=1 w=1 c=1 k=1 r=1 s=1", "conv2d h=7 w=7 c=512 k=512 r=3 s=3 pad=1",
        "conv2d h=56 w=56 c=64 k=64 r=3 s=3 pad=1 layout=nhwc", "conv2d h=9 w=9 c=4 k=4 r=9 s=9",
        "conv2d h=112 w=112 c=32 k=32 r=3 s=3 pad=1 groups=32",
        "conv2d n=8 h=28 w=28 c=256 k=512 r=1 s=1 stride=2",
        "conv2d h=56 w=56 c=64 k=64 r=3 s=3 pad=1 epilogue=bias+relu+maxpool(2)",
        "conv2d h=14 w=14 c=256 k=256 r=3 s=3 pad=1 layout=nhwc x=f16 f=f16 y=f16"})
    workloads.push_back(parse_workload(text));
  std::vector<Limits> devices = {cpu()};
  for (const std::string& arch : known_cuda_archs()) devices.push_back(cuda_limits(arch));
  int served = 0;
  for (const Workload& workload : workloads) {
    for (const Limits& limits : devices) {
      SCOPED_TRACE(to_text(workload) + " on " + limits.arch);
      for (const LeftOut& one : families_for(catalog(), workload, limits).faulty)
        ADD_FAILURE() << one.family << ": " << one.reason;
      const std::vector<Config> defaults = families_for(catalog(), workload, limits).defaults;
      if (defaults.empty()) continue;
      const Space space = kernel_space(workload, limits).space;
      ASSERT_EQ(defaults.size(), space.families().size());
      for (const Config& config : defaults) EXPECT_EQ(space.why_invalid(config), std::nullopt);
      ++served;
    }
  }
  EXPECT_GT(served, 50);
}

// A dilated 3 x 3 filter on a map smaller than its steps costs as much as one of 1 x 1, in every type and
// layout.
TEST(Catalog, CudaFamiliesLeaveOutTapsThatOnlyMeetPadding) {
  const Limits limits = cuda_limits("sm_90a");
  std::set<std::string> families;
  for (const char* types : {"", "math=tf32", "math=3xtf32", "x=f16 f=f16 y=f16", "x=s8 f=s8 y=s32 accum=s32",
                            "x=e4m3 f=e4m3 y=bf16"})
    for (const char* layout : {"nchw", "nhwc"})
      for (const char* groups : {"1", "2", "128"}) {
        const auto with_filter = [&](const char* filter) {
          return parse_workload(fmt::format("conv2d h=33 w=33 c=128 k=128 {} groups={} layout={} {}", filter,
                                            groups, layout, types));
        };
        const Workload workload = with_filter("r=3 s=3 pad=36 dilation=36"),
                       pointwise = with_filter("r=1 s=1");
        for (const Config& config : families_for(catalog(), workload, limits).defaults) {
          if (config.family == "conv2d_winograd") continue;  // its tiles are of 3 x 3 taps
          EXPECT_EQ(ir::analyze(lower(workload, config, limits)).flops,
                    ir::analyze(lower(pointwise, config, limits)).flops)
              << to_text(workload) << " " << to_text(config);
          families.insert(config.family);
        }
      }
  EXPECT_EQ(families,
            (std::set<std::string>{"conv2d_depthwise", "conv2d_mma", "conv2d_simt", "conv2d_wgmma"}));
}

}  // namespace
}  // namespace lehr
