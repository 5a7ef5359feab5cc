// Tests of shares of the roofline: roofs that rise, the time that a direct sum needs, and a session's one
// estimate.
#include "tune/roofline.h"
#include "tests/support/isa_limits.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "ir/analyze.h"
#include "support.h"
#include "target/archs.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"

namespace lehr::testing {
namespace {

constexpr const char* kDirect = "conv2d_oc_cpu";
constexpr const char* kWinograd = "conv2d_winograd_cpu";

Limits limits_of(double gflops, double gbytes) {
  Limits limits = toy_task().device.limits;
  limits.peak_gflops_f32 = gflops;
  limits.dram_gbytes_per_s = gbytes;
  return limits;
}

/// 1024 operations: at 1 GFLOP/s 1.024 us.
const Workload kSmall = *toy_task().workload;

/// Returns a workload with 33.6 MB and as many operations.
Workload row_times_matrix() {
  Workload workload = kSmall;
  workload.gemm().m = 1;
  workload.gemm().n = workload.gemm().k = 2896;
  return workload;
}

TEST(Roofline, IsTheComputeBoundInsideTheCachesAndNullForTypesThatNoUnitIsKnownFor) {
  Workload workload = kSmall;
  const Limits limits = limits_of(100, 10);
  EXPECT_NEAR(*Roofline(workload, limits).share(0.02048), 0.5, 1e-9);
  EXPECT_EQ(Roofline(workload, limits).share(0), std::nullopt);
  workload.gemm().a.type = DType::kBF16;
  EXPECT_EQ(Roofline(workload, limits).share(1), std::nullopt);
}

TEST(Roofline, CallsTimesImplausibleThatFourProbesWouldNotReach) {
  Roofline roofline(kSmall, limits_of(100, 10));
  const auto own = [](double flops) { return [flops] { return flops; }; };
  // 1024 operations in 10.24 us are 0.1 GFLOP/s; four times the probe is 400.
  EXPECT_EQ(roofline.why_implausible(10.24, own(1024)), "");
  EXPECT_EQ(roofline.why_implausible(0.0026, own(1024)), "");
  EXPECT_EQ(
      roofline.why_implausible(0.0025, own(1e9)),
      "0.0025 us for 1.02e+03 operations are 410 GFLOP/s, and the most that is known of the device is 100");
  EXPECT_EQ(roofline.why_implausible(0.0025, own(900)), "");  // Winograd's
  EXPECT_NE(roofline.why_implausible(0.001, own(900)), "");
  roofline.probed(Roof::kArithmetic, 200);
  EXPECT_EQ(roofline.why_implausible(0.0025, own(1024)), "");
  // The speed of a kernel is no probe: a wrong one must not open the door to the next.
  roofline.reached(kDirect, 0.0014);
  EXPECT_NE(roofline.why_implausible(0.00125, own(1024)), "");
  EXPECT_EQ(Roofline(kSmall, limits_of(0, 0)).why_implausible(1e-9, own(1024)), "");
}

TEST(Roofline, IsTheBandwidthBoundBeyondTheCaches) {
  const Workload workload = row_times_matrix();
  const Roofline roofline(workload, limits_of(100, 10));
  EXPECT_NEAR(*roofline.share(min_bytes_of(workload) / 10e9 * 1e6), 1, 1e-9);
  EXPECT_EQ(roofline.binding(), Roof::kMemory);
  EXPECT_EQ(Roofline(kSmall, limits_of(100, 10)).binding(), Roof::kArithmetic);
}

/// Returns a card that does not exist: each type has a rate that is no multiple of another rate.
Limits forged_card() {
  Limits limits = limits_of(100, 10);
  limits.target = Target::kCuda;
  limits.abilities = static_cast<int>(Ability::kBF16);
  limits.tensor_gflops_f16 = 700;
  limits.tensor_gflops_tf32 = 330;
  limits.tensor_gflops_s8 = 1300;
  limits.tensor_gflops_f8 = 1100;
  return limits;
}

std::string peak_text(const Workload& workload, const Limits& limits) {
  const Peaks peaks = peaks_of(workload, limits);
  return fmt::format("{} of {}", peaks.gflops, peaks.units);
}

TEST(Roofline, IsThatOfTheTensorCoresForTheTypesThatTheyMultiply) {
  const auto peak = [](const std::string& fields) {
    return peak_text(parse_workload("gemm m=64 n=64 k=64 " + fields), forged_card());
  };
  EXPECT_EQ(peak(""), "100 of f32");
  EXPECT_EQ(peak("math=tf32"), "330 of tensor cores");
  EXPECT_EQ(peak("math=3xtf32"), "110 of tensor cores");
  EXPECT_EQ(peak("a=f16:row b=f16:row c=f16"), "700 of tensor cores");
  EXPECT_EQ(peak("a=bf16:row b=bf16:row c=f32 epilogue=bias"), "700 of tensor cores");
  EXPECT_EQ(peak("a=s8:row b=s8:column c=s32 accum=s32"), "1300 of tensor cores");
  EXPECT_EQ(peak("a=e4m3:row b=e5m2:column c=bf16"), "1100 of tensor cores");
  EXPECT_EQ(peak("a=e4m3:row b=e4m3:column c=bf16 math=two_level"), "1100 of tensor cores");
}

TEST(Roofline, IsThatOfTheF32UnitsWhereTheyAreFasterOrAlone) {
  Limits limits = forged_card();
  limits.tensor_gflops_tf32 = 90;
  EXPECT_EQ(peak_text(parse_workload("gemm m=64 n=64 k=64 math=tf32"), limits), "100 of f32");
  limits.abilities = 0;
  EXPECT_EQ(peak_text(parse_workload("gemm m=64 n=64 k=64 a=bf16:row b=bf16:row c=bf16"), limits),
            "100 of f32");
  EXPECT_EQ(peak_text(parse_workload("gemm m=64 n=64 k=64 math=tf32"), toy_task().device.limits),
            fmt::format("{} of f32", toy_task().device.limits.peak_gflops_f32));
  const std::string layer = "conv2d h=9 w=9 c=32 k=32 r=3 s=3 x=f16 f=f16 y=f16 layout=nhwc";
  EXPECT_EQ(peak_text(parse_workload(layer), forged_card()), "700 of tensor cores");
  EXPECT_EQ(peak_text(parse_workload(layer + " groups=16"), forged_card()), "700 of tensor cores");
  EXPECT_EQ(peak_text(parse_workload(layer + " groups=32"), forged_card()), "100 of f32");
}

TEST(Roofline, OfACpuIsThatOfTheTypesInstructions) {
  const auto peak = [](const char* isa, const std::string& fields) {
    Limits limits = lehr::limits_of(isa_named(isa), 1);
    limits.peak_gflops_f32 = 100;
    return peak_text(parse_workload("gemm m=64 n=64 k=64 " + fields), limits);
  };
  const char* const level = "x86-64-v4";
  const char* const more = "x86-64-v4+avx512vnni+avx512bf16";
  const std::string bf16 = "a=bf16:row b=bf16:row c=f32", bytes = "a=u8:row b=s8:row c=s32 accum=s32";
  EXPECT_EQ(peak(more, ""), "100 of f32");
  EXPECT_EQ(peak(more, bf16), "200 of bf16");
  EXPECT_EQ(peak(level, bf16), "100 of f32");
  EXPECT_EQ(peak(more, bytes), "400 of s8");
  EXPECT_EQ(peak("x86-64-v4+avx512bf16", bytes), "200 of s8");
  EXPECT_EQ(peak(level, "a=f16:row b=f16:row c=f16"), "0 of f32");
}

// Probes are of f32.
TEST(Roofline, OfBytesRisesWithProbesOfF32) {
  Limits limits = lehr::limits_of(isa_named("x86-64-v4+avx512vnni"), 1);
  limits.peak_gflops_f32 = 100;
  Roofline roofline(parse_workload("gemm m=64 n=64 k=64 a=u8:row b=s8:row c=s32 accum=s32"), limits);
  roofline.probed(Roof::kArithmetic, 150);
  EXPECT_EQ(roofline.peaks().gflops, 600);
  const auto own = [] { return 2 * 64.0 * 64 * 64; };
  EXPECT_EQ(roofline.why_implausible(own() / (3.9 * 600e3), own), "");
  EXPECT_NE(roofline.why_implausible(own() / (4.1 * 600e3), own), "");
  roofline.bounded(300);
  EXPECT_EQ(roofline.why_implausible(own() / (7.9 * 600e3), own), "");
  EXPECT_EQ(roofline.peaks().gflops, 600);
}

/// 192.1 us on an H200 were 715 of the datasheet's 989 TFLOP/s, and 25.66 us 82 % of 4800 GB/s.
TEST(Roofline, IsTheShareOfTheTensorCoresOrTheMemoryOnAnH200) {
  const Limits h200 = cuda_limits("sm_90a");
  const Roofline square(parse_workload("gemm m=4096 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16"), h200);
  EXPECT_NEAR(*square.share(192.1), 0.723, 0.001);
  EXPECT_EQ(square.binding(), Roof::kArithmetic);
  const Roofline decode(parse_workload("gemm m=16 n=12288 k=4096 a=bf16:row b=bf16:column c=bf16"), h200);
  EXPECT_NEAR(*decode.share(25.66), 0.822, 0.001);
  EXPECT_EQ(decode.binding(), Roof::kMemory);
}

/// Clocks rise above those of a datasheet: such a kernel is at 100 %, and it is not implausible.
TEST(Roofline, OfTensorCoresRisesToWhatAKernelReachedAndRefusesOnlyFourTimesAsMuch) {
  Roofline roofline(parse_workload("gemm m=4096 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16"),
                    cuda_limits("sm_90a"));
  const auto own = [] { return 2 * 4096.0 * 4096 * 4096; };
  const double datasheet_us = own() / 989e12 * 1e6;
  EXPECT_EQ(roofline.why_implausible(datasheet_us / 2, own), "");
  EXPECT_EQ(roofline.why_implausible(datasheet_us / 3.9, own), "");
  EXPECT_NE(roofline.why_implausible(datasheet_us / 4.1, own), "");
  roofline.reached("gemm_wgmma", datasheet_us / 1.1);
  EXPECT_EQ(roofline.share(datasheet_us / 1.1), 1.0);
  EXPECT_NEAR(roofline.peaks().gflops, 1.1 * 989e3, 1);
}

TEST(Roofline, TakesTheBestProbe) {
  Roofline roofline(kSmall, limits_of(50, 10));  // the machine was busy
  roofline.probed(Roof::kArithmetic, 30);        // and became busier
  EXPECT_EQ(roofline.peaks().gflops, 50);
  roofline.probed(Roof::kArithmetic, 100);
  roofline.probed(Roof::kArithmetic, 60);
  roofline.probed(Roof::kMemory, 12);
  EXPECT_EQ(roofline.peaks().gflops, 100);
  EXPECT_EQ(roofline.peaks().gbytes_per_s, 12);
  EXPECT_NEAR(*roofline.share(0.02048), 0.5, 1e-9);
}

TEST(Roofline, IsNeverBelowWhatACheckedKernelHasReached) {
  Roofline roofline(kSmall, limits_of(50, 10));
  EXPECT_GT(*roofline.share(0.01024), 1.9);
  roofline.reached(kDirect, 0.01024);
  EXPECT_EQ(roofline.share(0.01024), 1.0);
  EXPECT_NEAR(roofline.peaks().gflops, 100, 1e-9);
  roofline.reached(kDirect, 0.02048);
  roofline.reached(kDirect, 0);
  EXPECT_NEAR(*roofline.share(0.02048), 0.5, 1e-9);
  EXPECT_EQ(roofline.peaks().gbytes_per_s, 10);  // the operands are in the caches
}

/// A GPU's rates follow from its clocks instead of probes. A kernel that was faster raises them all the same.
TEST(Roofline, RisesAboveAGpusComputedPeaksToo) {
  const Limits limits = cuda_limits("sm_90a");
  Roofline arithmetic(kSmall, limits);
  const double us = 1024 / (2e3 * limits.peak_gflops_f32);  // twice as fast
  arithmetic.reached("gemm_simt", us);
  EXPECT_NEAR(arithmetic.peaks().gflops, 2 * limits.peak_gflops_f32, 1);
  EXPECT_EQ(arithmetic.share(us), 1);
  Workload large = row_times_matrix();
  large.gemm().n *= 2;  // beyond the L2
  Roofline memory(large, limits);
  const double large_us = min_bytes_of(large) / (2e3 * limits.dram_gbytes_per_s);
  memory.reached("gemv_simt", large_us);
  EXPECT_NEAR(memory.peaks().gbytes_per_s, 2 * limits.dram_gbytes_per_s, 1);
  EXPECT_EQ(memory.share(large_us), 1);
}

TEST(Roofline, RaisesOnlyTheRoofThatAKernelWasAbove) {
  const Workload workload = row_times_matrix();
  Roofline roofline(workload, limits_of(100, 10));
  const double us = min_bytes_of(workload) / 20e9 * 1e6;
  roofline.reached("gemv_cpu", us);
  EXPECT_EQ(roofline.share(us), 1.0);
  EXPECT_NEAR(roofline.peaks().gbytes_per_s, 20, 1e-9);
  EXPECT_EQ(roofline.peaks().gflops, 100);
}

TEST(Roofline, IsNotRaisedByOperationsThatWinogradsKernelHasNotDone) {
  const Workload workload = parse_workload("conv2d h=30 w=30 c=8 k=8 r=3 s=3");
  const double us = flops_of(workload) / 98e9 * 1e6;
  Roofline roofline(workload, limits_of(50, 10));
  roofline.reached(kWinograd, us);
  EXPECT_EQ(roofline.peaks().gflops, 50);
  EXPECT_NEAR(*roofline.share(us), 1.96, 1e-9);
  EXPECT_THAT(std::string(why_above_all(*roofline.share(us))), ::testing::HasSubstr("Winograd"));
  EXPECT_EQ(why_above_all(1.004), "");  // is printed as 100 %
  roofline.reached(kDirect, us);
  EXPECT_EQ(roofline.share(us), 1.0);
}

TEST(Roofline, IsRaisedByTheBytesThatWinogradsKernelHasMoved) {
  const Workload workload = parse_workload("conv2d h=1026 w=1026 c=8 k=8 r=3 s=3");
  Roofline roofline(workload, limits_of(1e6, 10));
  const double us = min_bytes_of(workload) / 20e9 * 1e6;
  roofline.reached(kWinograd, us);
  EXPECT_EQ(roofline.share(us), 1.0);
}

TEST(Roofline, StaysUnknownWhereNoRateIsKnown) {
  Roofline no_peak(kSmall, limits_of(0, 10));
  no_peak.reached(kDirect, 1);
  no_peak.probed(Roof::kArithmetic, 100);
  EXPECT_EQ(no_peak.share(1), std::nullopt);
  EXPECT_EQ(no_peak.peaks().gflops, 0);
  Roofline no_memory(row_times_matrix(), limits_of(100, 0));
  no_memory.reached(kDirect, 1);
  EXPECT_EQ(no_memory.share(1), std::nullopt);
}

/// Returns the products with pixels of the image, counted one by one.
double counted_flops(const Conv2d& conv, std::int64_t rows, std::int64_t columns) {
  double products = 0;
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < columns; ++x)
      for (std::int64_t r = 0; r < conv.r; ++r)
        for (std::int64_t s = 0; s < conv.s; ++s) {
          const std::int64_t row = y * conv.stride_h + r * conv.dilation_h - conv.pad_top;
          const std::int64_t column = x * conv.stride_w + s * conv.dilation_w - conv.pad_left;
          products += row >= 0 && row < conv.h && column >= 0 && column < conv.w;
        }
  return 2 * products * static_cast<double>(conv.n * conv.k * (conv.c / conv.groups));
}

TEST(Roofline, CountsNoProductWithPaddingWhichSomeFamiliesSkip) {
  Rng rng(7);
  const auto one_of = [&](std::uint64_t most) { return static_cast<std::int64_t>(rng.below(most)); };
  for (int i = 0; i < 300; ++i) {
    Workload workload = parse_workload("conv2d h=9 w=9 c=4 k=6 r=3 s=3");
    Conv2d& conv = workload.conv2d();
    conv.h = 1 + one_of(9);
    conv.w = 1 + one_of(9);
    conv.r = 1 + one_of(5);
    conv.s = 1 + one_of(5);
    conv.stride_h = 1 + one_of(3);
    conv.stride_w = 1 + one_of(3);
    conv.dilation_h = 1 + one_of(3);
    conv.dilation_w = 1 + one_of(3);
    conv.pad_top = one_of(4);
    conv.pad_bottom = one_of(4);
    conv.pad_left = one_of(4);
    conv.pad_right = one_of(4);
    if (conv.out_h() < 1 || conv.out_w() < 1) continue;
    const double flops = counted_flops(conv, conv.out_h(), conv.out_w());
    const Roofline roofline(workload, limits_of(1, 1));
    if (flops == 0)
      EXPECT_EQ(roofline.share(1), std::nullopt) << to_text(workload);
    else
      EXPECT_NEAR(*roofline.share(1), flops * 1e-3, flops * 1e-12) << to_text(workload);
  }
}

TEST(Roofline, CountsNoOutputThatAPoolDrops) {
  const Workload pooled = parse_workload("conv2d h=9 w=7 c=4 k=6 r=3 s=3 pad=1x1x1x1 epilogue=maxpool(2)");
  EXPECT_NEAR(*Roofline(pooled, limits_of(1, 1)).share(1), counted_flops(pooled.conv2d(), 8, 6) * 1e-3, 1e-9);
}

TEST(SavesProducts, IsTrueOfTheFamiliesWhoseKernelsDoFewerThanTheDirectSum) {
  const Workload workload = parse_workload("conv2d h=18 w=18 c=32 k=32 r=3 s=3");
  int found = 0;
  for (const Limits& limits : {toy_task().device.limits, cuda_limits("sm_80")})
    for (const Config& config : families_for(catalog(), workload, limits).defaults) {
      const double flops = ir::analyze(lower(workload, config, limits)).flops;
      EXPECT_EQ(is_winograd(config.family), flops < 0.9 * flops_of(workload)) << config.family;
      found += is_winograd(config.family) ? 1 : 0;
    }
  EXPECT_EQ(found, 2);
}

/// A session whose picks do not matter here: at random, without a cost model.
struct QuickSession : ToySession {
  explicit QuickSession(double peak_gflops) {
    options.strategy = "random";
    with_model = false;
    task.device.limits.peak_gflops_f32 = peak_gflops;
  }
};
constexpr double kTooLow = 0.01;  // the fastest toys do 1024 operations in less than 30 us: above 0.03

/// Returns an outcome of a machine at half its speed: the corrected time is half of the samples' time.
Outcome at_half_speed(const Source& source) {
  Outcome outcome = toy_outcome(source);
  std::get<Timing>(outcome).time_us /= 2;
  return outcome;
}

/// Returns the toy's candidates as a family of another name.
Candidates toys_named(const std::string& family_name) {
  Candidates toys = toy_candidates();
  FamilySpace family(family_name);
  family.add("rows", "rows of a tile", powers_of_two(1, 32));
  family.add("columns", "columns of a tile", {1, 2, 3, 4, 5, 6, 7, 8});
  family.add("unroll", "unrolled iterations", {1, 2, 4, 8});
  family.add("pack", "whether b is packed", {0, 1});
  std::vector<FamilySpace> families;
  families.push_back(std::move(family));
  toys.space = Space(std::move(families));
  return toys;
}

TEST(SessionRoofline, IsAtMostAHundredPercentWhereAKernelIsFasterThanTheProbe) {
  QuickSession toy(kTooLow);
  const Summary summary = toy.run();
  ASSERT_TRUE(summary.best);
  EXPECT_EQ(summary.roofline_fraction, 1.0);
  EXPECT_EQ(summary.peaks.gflops, gflops_of(summary.flops, summary.verdict.best.us));
  EXPECT_TRUE(to_json(summary)["roofline_note"].is_null());
  EXPECT_EQ(to_json(summary)["peaks"]["gflops"], gflops_of(summary.flops, summary.verdict.best.us));
}

TEST(SessionRoofline, HoldsForAWinnerWithoutAContestToo) {
  QuickSession toy(kTooLow);
  toy.outcome_of = at_half_speed;
  toy.arrange = [&](FakeMeasurer& measurer) {
    measurer.before_trial = [&](int trial) { toy.interrupted = trial >= 20; };
  };
  const Summary summary = toy.run();
  ASSERT_TRUE(summary.best);
  EXPECT_FALSE(summary.contested);
  EXPECT_EQ(summary.roofline_fraction, 1.0);
}

TEST(SessionRoofline, TakesTheRawTimesOfTrialsAndNotTheCorrectedOnes) {
  QuickSession toy(kTooLow);
  toy.outcome_of = at_half_speed;
  toy.arrange = [](FakeMeasurer& measurer) {
    measurer.contest_us = [](const Source&, int) { return 100.0; };
  };
  const Summary summary = toy.run();
  double fastest_us = 1000;
  for (const Record& row : toy.rows("session-1")) fastest_us = std::min(fastest_us, toy_time_us(row.config));
  EXPECT_NEAR(summary.peaks.gflops, 1024e-3 / fastest_us, 1e-9);
}

TEST(SessionRoofline, IsAboveAHundredPercentForWinogradWhichSaysWhy) {
  QuickSession toy(kTooLow);
  toy.candidates = toys_named(kWinograd);
  const Summary summary = toy.run();
  ASSERT_TRUE(summary.best);
  EXPECT_NEAR(*summary.roofline_fraction, gflops_of(summary.flops, summary.verdict.best.us) / kTooLow, 1e-9);
  EXPECT_GT(*summary.roofline_fraction, 2);
  EXPECT_EQ(summary.peaks.gflops, kTooLow);
  EXPECT_EQ(to_json(summary)["roofline_note"], why_above_all(2));
}

TEST(SessionRoofline, IsOfTheBestOfProbesThatAreSpreadOverTheSessionAndCheap) {
  QuickSession toy(100);
  toy.options.stop.trials = 0;
  toy.options.stop.time_s = 20;
  std::vector<double> begun_s;
  toy.device.prober = [&](Roof roof) {
    EXPECT_EQ(roof, Roof::kArithmetic);
    begun_s.push_back(toy.clock.now_s);
    toy.clock.now_s += 0.015;
    return begun_s.size() == 2 ? 150.0 : 80.0;  // calm once; the start's probe said 100
  };
  const Summary summary = toy.run();
  EXPECT_EQ(summary.peaks.gflops, 150);
  ASSERT_GE(begun_s.size(), 4u);
  EXPECT_LT(begun_s.front(), 0.25 * summary.elapsed.total_s);
  EXPECT_GT(begun_s.back(), 0.95 * summary.elapsed.total_s);  // behind the finals
  EXPECT_LT(0.015 * static_cast<double>(begun_s.size()), 0.006 * summary.elapsed.total_s);
  for (std::size_t i = 1; i < begun_s.size(); ++i) EXPECT_GT(begun_s[i] - begun_s[i - 1], 1);
}

}  // namespace
}  // namespace lehr::testing
