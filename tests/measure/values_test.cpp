// Tests of pure functions of measure/: statistics, names, elements, comparison, messages.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "base/rng.h"
#include "host_support.h"
#include "measure/core/check.h"
#include "measure/core/element.h"
#include "measure/core/problem_file.h"
#include "measure/core/sample_limits.h"
#include "measure/core/sampling.h"
#include "measure/core/stats.h"
#include "measure/host/cpu_device.h"
#include "measure/worker/backends.h"
#include "measure/worker/messages.h"
#include "target/archs.h"
#include "tests/support/problem_for.h"

namespace lehr {
namespace {

using testing::gemm_of;
using testing::gemm_problem;

TEST(Statistics, PercentilesInterpolateBetweenNeighbours) {
  const std::array<double, 5> samples = {50, 10, 40, 20, 30};
  EXPECT_EQ(percentile(samples, 0), 10);
  EXPECT_EQ(percentile(samples, 0.25), 20);
  EXPECT_EQ(percentile(samples, 0.5), 30);
  EXPECT_EQ(percentile(samples, 0.625), 35);
  EXPECT_EQ(percentile(samples, 1), 50);
}

TEST(Statistics, TheMedianOfAnEvenCountIsTheMeanOfTheMiddle) {
  EXPECT_EQ(median(std::array<double, 4>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(std::array<double, 1>{7}), 7);
}

TEST(Statistics, SpreadIsTheQuartileRangeOverTheMedian) {
  EXPECT_EQ(spread(std::array<double, 5>{1, 2, 3, 4, 5}), 2.0 / 3);
  EXPECT_EQ(spread(std::array<double, 1>{3}), 0);
}

TEST(Statistics, TheEstimateIsTheLowerQuartile) {
  EXPECT_EQ(estimate(std::array<double, 5>{5, 1, 4, 2, 300}), 2);
}

TEST(Statistics, IntervalsAreOrderStatisticsByRank) {
  std::vector<double> samples(9);
  std::iota(samples.begin(), samples.end(), 1.0);
  // The table of the sign test: 9 values, ranks 2 and 8, 96.1 %.
  EXPECT_EQ(quantile_interval(samples, 0.5), (Interval{2, 8}));
  samples.resize(3);
  EXPECT_EQ(quantile_interval(samples, 0.5), (Interval{1, 3}));
  EXPECT_EQ(quantile_interval(std::array<double, 1>{4}, 0.25), (Interval{4, 4}));
  samples.resize(15);
  std::iota(samples.begin(), samples.end(), 1.0);
  EXPECT_EQ(estimate_interval(samples), (Interval{1, 8}));  // 1 to 7 of 15 below the quartile: 96.9 %
}

TEST(Statistics, IntervalsHoldTheTruthAsOftenAsTheySay) {
  Rng rng(20261121);
  for (const double fraction : {0.25, 0.5}) {
    const double truth = -std::log(1 - fraction);  // of the exponential distribution
    for (const std::size_t count : {15, 40, 200}) {
      int held = 0;
      constexpr int kDraws = 2000;
      for (int draw = 0; draw < kDraws; ++draw) {
        std::vector<double> samples(count);
        for (double& sample : samples) sample = -std::log(1 - rng.uniform());
        const Interval interval = quantile_interval(samples, fraction);
        held += interval.low <= truth && truth <= interval.high;
      }
      EXPECT_GE(held, 0.935 * kDraws) << fraction << ' ' << count;
      EXPECT_LE(held, 0.985 * kDraws) << fraction << ' ' << count;
    }
  }
}

TEST(Statistics, TheIntervalOfATimingIsCorrectedAsItsTimeWas) {
  Timing timing;
  timing.samples_us.assign(15, 10);
  timing.time_us = 11;  // the machine was a tenth faster than the session's reference
  EXPECT_NEAR(interval_of(timing).low, 11, 1e-9);
  timing.samples_us.clear();
  timing.spread = 0.1;
  EXPECT_NEAR(interval_of(timing).high, 11.55, 1e-9);
}

TEST(Sampling, CountsALongFirstCallAsASample) {
  const auto calls_for = [](int milliseconds, SampleRequest request) {
    int calls = 0;
    const Samples samples = sample_calls(
        [&] {
          ++calls;
          std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        },
        request, 1);
    EXPECT_EQ(static_cast<int>(samples.us.size()), request.few_samples);
    return calls;
  };
  EXPECT_EQ(calls_for(210, {.max_total_us = 0}), 3);
  EXPECT_EQ(calls_for(210, {100, 1, 2000, 2000, 1, 0}), 1);  // a contest's block
  EXPECT_EQ(calls_for(5, {.max_total_us = 0}), 4);           // one to warm up
}

TEST(Sampling, GoesOnUntilTheTimeIsTightOrDoesNotMatter) {
  SampleRequest request = {
      .min_total_us = 15000, .tolerance = 0.01, .tight_total_us = 60000, .contender_us = 110};
  const auto samples = [](int count, double low, double high) {
    Samples result;
    for (int i = 0; i < count; ++i) result.us.push_back(i % 2 == 0 ? high : low);
    return result;
  };
  EXPECT_FALSE(enough(samples(9, 100, 100), 15000, request));
  EXPECT_FALSE(enough(samples(10, 100, 100), 14999, request));
  EXPECT_TRUE(enough(samples(15, 100, 100), 15000, request));
  EXPECT_FALSE(enough(samples(15, 100, 106), 15000, request));  // min to median: 100 to 106
  EXPECT_TRUE(enough(samples(15, 100, 106), 60000, request));
  EXPECT_TRUE(enough(samples(60, 100, 106), 59000, request));  // the interval is within the lower half
  EXPECT_TRUE(enough(samples(15, 111, 120), 15000, request));  // slower than what matters
  EXPECT_FALSE(enough(samples(15, 109, 120), 15000, request));
  EXPECT_FALSE(enough(samples(3, 900, 900), 3000, request));
  request.hopeless_us = 400;
  EXPECT_FALSE(enough(samples(2, 900, 900), 2000, request));
  EXPECT_TRUE(enough(samples(3, 900, 900), 3000, request));
  EXPECT_FALSE(enough(samples(3, 900, 300), 3000, request));  // the first one was disturbed, or cold
  request.hopeless_us = 0;
  EXPECT_TRUE(enough(samples(3, 1, 2), 500000, request));
}

TEST(Statistics, NoSamplesIsAMisuse) {
  EXPECT_THROW(median({}), Error);
}

TEST(FailureNames, ParseBackToTheSameKind) {
  for (int i = 0; i <= static_cast<int>(FailureKind::kImplausible); ++i) {
    const auto kind = static_cast<FailureKind>(i);
    EXPECT_EQ(parse_failure_kind(name_of(kind)), kind) << name_of(kind);
  }
  EXPECT_EQ(parse_failure_kind("nonsense"), std::nullopt);
}

double round_trip(DType type, float value) {
  std::array<unsigned char, 8> bytes{};
  store_elements(type, {&value, 1}, bytes.data());
  return load_element(type, bytes.data(), 0);
}

TEST(Elements, RoundToNearestEvenAndSaturate) {
  EXPECT_EQ(round_trip(DType::kF32, 0.1F), 0.1F);
  EXPECT_EQ(round_trip(DType::kF64, 0.1F), 0.1F);
  EXPECT_EQ(round_trip(DType::kBF16, 1.0F + 0x1p-8F), 1.0);  // halfway: to even
  EXPECT_EQ(round_trip(DType::kBF16, 1.0F + 3 * 0x1p-8F), 1.0 + 0x1p-6);
  EXPECT_EQ(round_trip(DType::kF16, 1.0F + 0x1p-11F), 1.0);
  EXPECT_EQ(round_trip(DType::kF16, 1.0F + 3 * 0x1p-11F), 1.0 + 0x1p-9);
  EXPECT_EQ(round_trip(DType::kF16, 65504.0F), 65504.0);
  EXPECT_TRUE(std::isinf(round_trip(DType::kF16, 65520.0F)));
  EXPECT_EQ(round_trip(DType::kF16, 0x1p-24F), 0x1p-24);  // the smallest subnormal
  EXPECT_EQ(round_trip(DType::kF16, -0x1.8p-23F), -0x1.8p-23);
  EXPECT_EQ(round_trip(DType::kS8, 200.0F), 127);
  EXPECT_EQ(round_trip(DType::kU8, -3.0F), 0);
  EXPECT_EQ(round_trip(DType::kS32, -7.0F), -7);
}

TEST(Elements, EveryF16ValueSurvives) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto word = static_cast<std::uint16_t>(bits);
    const double value = load_element(DType::kF16, &word, 0);
    if (std::isnan(value)) continue;
    const auto exact = static_cast<float>(value);
    std::uint16_t back = 0;
    store_elements(DType::kF16, {&exact, 1}, &back);
    ASSERT_EQ(back, word) << "bits " << bits;
  }
}

TEST(Elements, PoisonIsANaNInEveryFloatType) {
  std::array<unsigned char, 8> bytes;
  bytes.fill(kPoisonByte);
  for (DType type : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16}) {
    EXPECT_TRUE(std::isnan(load_element(type, bytes.data(), 0))) << name_of(type);
    EXPECT_TRUE(is_poison(type, bytes.data(), 0)) << name_of(type);
  }
  EXPECT_FALSE(is_poison(DType::kS8, bytes.data(), 0));
}

class Comparing : public ::testing::Test {
 protected:
  Problem problem = gemm_problem(gemm_of(2, 3, 4));
  Argument& expected = problem.arguments[2];
  std::vector<float> output = floats_of(expected.expected_as, expected.expected);
};

TEST_F(Comparing, AcceptsWhatIsWithinTheTolerance) {
  output[3] += static_cast<float>(expected.absolute / 2);
  const Comparison result = compare_output(problem, output.data());
  EXPECT_EQ(result.fault, "");
  EXPECT_GT(result.max_error, expected.absolute / 4);
}

TEST_F(Comparing, NamesTheFirstWrongElement) {
  output[4] += 1;
  output[5] -= 2;
  const Comparison result = compare_output(problem, output.data());
  EXPECT_EQ(result.fault.rfind("element 4 is ", 0), 0U) << result.fault;
  EXPECT_NE(result.fault.find("2 of 6"), std::string::npos) << result.fault;
  EXPECT_NEAR(result.max_error, 2, 1e-5);
}

TEST_F(Comparing, FindsAnUnwrittenElementThatIsNotAmongTheIndices) {
  expected.indices = {0, 5};
  expected.expected = elements_of(DType::kF32, std::vector{output[0], output[5]});
  EXPECT_EQ(compare_output(problem, output.data()).fault, "");
  std::memset(&output[2], kPoisonByte, sizeof(float));
  EXPECT_NE(compare_output(problem, output.data()).fault.find("left 1 of 6 output elements unwritten"),
            std::string::npos);
}

TEST_F(Comparing, ANaNIsNeverRight) {
  output[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(compare_output(problem, output.data()).fault, "");
}

TEST_F(Comparing, RefusesMalformedProblems) {
  expected.expected.resize(expected.expected.size() - 4);
  EXPECT_THROW(outputs_of(problem), Error);
  problem = gemm_problem(gemm_of(2, 3, 4));
  problem.arguments[1].values.pop_back();
  EXPECT_THROW(outputs_of(problem), Error);
  problem = gemm_problem(gemm_of(2, 3, 4));
  problem.arguments[2].role = Role::kIn;
  EXPECT_THROW(outputs_of(problem), Error);
  problem = only_asked(gemm_problem(gemm_of(2, 3, 4)));
  problem.arguments[2].elements = 5;
  EXPECT_THROW(outputs_of(problem), Error);
  problem.arguments[2].elements = 6;
  EXPECT_EQ(outputs_of(problem), std::vector<std::size_t>{2});
  problem.arguments[2].type = DType::kS64;
  EXPECT_THROW(outputs_of(problem), Error);
}

TEST(ProblemFile, ReadsBackWhatWasWritten) {
  const TempDir directory;
  const std::string path = directory.path() + "/problem";
  for (const char* text :
       {"gemm m=3 n=4 k=5 batch=2 a=f64:column b=f64 c=f64:column accum=f64 epilogue=bias+relu",
        "gemm m=4 n=4 k=5 math=tf32", "gemm m=4 n=4 k=32 a=s8 b=s8 c=s32 accum=s32",
        "conv2d n=2 h=6 w=5 c=4 k=6 r=3 s=2 stride=2x1 pad=1x0x2x1 dilation=1x2 groups=2 layout=nhwc "
        "x=f16 f=f16 y=f16 epilogue=scale_shift+residual+clamp(-1,2.5)"}) {
    Problem problem = problem_for(parse_workload(text), 0xfedcba9876543210);
    Argument& output = output_argument(problem);
    output.indices = {1, 7};
    output.expected = elements_of(DType::kF32, std::vector{0.5F, -0.25F});
    write_problem(path, problem);
    const Problem back = read_problem(path, workload_kinds());
    EXPECT_EQ(back.text, problem.text) << text;
    EXPECT_EQ(back.seed, problem.seed);
    ASSERT_EQ(back.arguments.size(), problem.arguments.size());
    for (std::size_t i = 0; i < back.arguments.size(); ++i) {
      const Argument &got = back.arguments[i], &wanted = problem.arguments[i];
      EXPECT_EQ(got.name, wanted.name) << text << i;
      EXPECT_EQ(got.type, wanted.type) << text << i;
      EXPECT_EQ(got.elements, wanted.elements) << text << i;
      EXPECT_EQ(got.role, wanted.role) << text << i;
      EXPECT_EQ(got.values, wanted.values) << text << i;
      EXPECT_EQ(got.indices, wanted.indices);
      EXPECT_EQ(got.expected, wanted.expected);
      EXPECT_EQ(got.absolute, wanted.absolute);
    }
  }
}

TEST(Messages, SurviveTheJourney) {
  TrialRequest trial;
  trial.candidate.path = "k.so";
  trial.candidate.launch.grid = {4, 5, 6};
  trial.candidate.launch.cluster = 2;
  trial.candidate.launch.programmatic = true;
  trial.candidate.launch.work_items = 7;
  trial.candidate.launch.further_steps = 2;
  trial.candidate.launch.prepack_work_items = 3;
  trial.candidate.workspace_bytes = {1 << 20, 12};
  trial.candidate.prepacked_bytes = {4096};
  ir::TensorMap map;
  map.dims = {8, 16, 0};
  map.strides = {1, 8, 0};
  map.box = {8, 4, 0};
  map.swizzle = 32;
  ir::TensorMap image;
  image.rank = 4;
  image.dims = {8, 5, 3, 2};
  image.strides = {1, 8, 40, 120};
  image.box = {8, 0, 0, 0};
  image.im2col = {64, {-1, -2}, {-3, 4}, {2, 3}};
  trial.candidate.tensor_maps = {{1, DType::kBF16, map}, {0, DType::kF16, image}};
  trial.sampling.min_total_us = 0.1;
  trial.sampling.tolerance = 0.02;
  trial.sampling.contender_us = 1.5;
  trial.reference = ReferenceKernel{trial.candidate, 1.0 / 3};
  trial.wanted_s = -0.25;
  const std::optional<Request> back = parse_request(to_text(Request(trial)));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(std::get<TrialRequest>(*back), trial);

  Timing timing;
  timing.samples_us = {0.1, 1.0 / 7};
  timing.windows = 3;
  timing.disturbed = true;
  timing.resources.registers = 12;
  timing.resources.advisories = "(C7510) first\n(C7519) second";
  const std::optional<Reply> reply = parse_reply(to_text(Reply(timing)));
  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(std::get<Timing>(*reply).samples_us, timing.samples_us);
  EXPECT_EQ(std::get<Timing>(*reply).windows, 3);
  EXPECT_TRUE(std::get<Timing>(*reply).disturbed);
  EXPECT_EQ(std::get<Timing>(*reply).resources.registers, 12);
  EXPECT_EQ(std::get<Timing>(*reply).resources.spill_bytes, std::nullopt);
  EXPECT_EQ(std::get<Timing>(*reply).resources.advisories, timing.resources.advisories);

  Samples samples;
  samples.us = {0.3};
  EXPECT_FALSE(std::get<Samples>(parse_reply(to_text(Reply(samples))).value()).gpu.has_value());
  samples.gpu = GpuState{1755, 690.5, 64};
  const Samples sampled = std::get<Samples>(parse_reply(to_text(Reply(samples))).value());
  EXPECT_EQ(sampled.us, samples.us);
  EXPECT_EQ(sampled.gpu->power_w, 690.5);
  EXPECT_EQ(std::get<Done>(parse_reply(to_text(Reply(Done{"a note"}))).value()).note, "a note");
}

TEST(Messages, CarryTheComparisonOfTwoRuns) {
  RepeatRequest request;
  request.candidate.entry = "kernel";
  EXPECT_EQ(std::get<RepeatRequest>(parse_request(to_text(Request(request))).value()), request);
  const Reply reply = parse_reply(to_text(Reply(Repetition{4096, 12, 17}))).value();
  EXPECT_EQ(std::get<Repetition>(reply).elements, 4096);
  EXPECT_EQ(std::get<Repetition>(reply).different, 12);
  EXPECT_EQ(std::get<Repetition>(reply).first, 17);
}

TEST(Messages, SurviveTheWayToACompileWorkerAndBack) {
  const CompileWork compiler = CompilerRequest{"cuda", {"sm_90a", {"/a", "/b"}, 1.5}, 1 << 20};
  EXPECT_EQ(parse_compile_work(to_text(compiler)), compiler);
  const CompileWork work = CompileRequest{"entry", "a\n\"text\"", 1024, "/tmp/0.cubin"};
  EXPECT_EQ(parse_compile_work(to_text(work)), work);
  EXPECT_EQ(parse_compile_work("{\"kind\": \"compile\"}"), std::nullopt);
  Binary binary{"/tmp/0.cubin", "a log", {}};
  binary.resources.registers = 40;
  const std::optional<Reply> reply = parse_reply(to_text(Reply(binary)));
  ASSERT_TRUE(reply && std::holds_alternative<Binary>(*reply));
  EXPECT_EQ(std::get<Binary>(*reply).path, binary.path);
  EXPECT_EQ(std::get<Binary>(*reply).log, binary.log);
  EXPECT_EQ(std::get<Binary>(*reply).resources.registers, 40);
}

TEST(Messages, GarbageIsNoMessage) {
  EXPECT_EQ(parse_request("hello"), std::nullopt);
  EXPECT_EQ(parse_request("{\"kind\": \"time\"}"), std::nullopt);
  EXPECT_FALSE(parse_reply("[1, 2]").has_value());
  EXPECT_TRUE(
      parse_reply(to_text(Reply(Fault{{FailureKind::kLaunch, "bad \xff byte", {}}, false}))).has_value());
}

TEST(CpuDevice, SaysWhatCandidatesNeedToKnow) {
  const Device device = cpu_device(0, false);
  EXPECT_EQ(device.limits.target, Target::kCpu);
  EXPECT_FALSE(device.name.empty());
  EXPECT_GE(device.limits.cores, 1);
  EXPECT_GE(device.limits.vector_bytes, 16);
  EXPECT_GE(device.limits.vector_registers, 16);
  EXPECT_GE(device.limits.l1_bytes, 8 << 10);
  EXPECT_GE(device.limits.l2_bytes, device.limits.l1_bytes);
  EXPECT_EQ(device.limits.peak_gflops_f32, 0);
  EXPECT_EQ(cpu_device(1, false).limits.cores, 1);
  EXPECT_THROW(cpu_device(-1, false), Error);
}

TEST(CpuDevice, IsOfALevelWhateverTheMachineHas) {
  const Limits widest = cpu_device(1, false).limits;
  for (const IsaLevel& level : archs_of(Target::kCpu).levels) {
    SCOPED_TRACE(level.name);
    const Limits usual = archs_of(Target::kCpu).limits(level.arch, 1);
    if (usual.vector_bytes > widest.vector_bytes) {
      EXPECT_THROW(cpu_device(1, false, {&level}), Error);
      continue;
    }
    const Limits limits = cpu_device(1, false, {&level}).limits;
    EXPECT_EQ(limits.arch, level.arch);
    EXPECT_EQ(limits.vector_bytes, usual.vector_bytes);
    EXPECT_EQ(limits.vector_registers, usual.vector_registers);
    EXPECT_EQ(limits.l2_bytes, widest.l2_bytes);
  }
}

TEST(CpuDevice, MeasuresPlausibleRates) {
  const Limits limits = cpu_device(1, true).limits;
  EXPECT_GT(limits.peak_gflops_f32, 0.05);  // under a sanitizer, beside others
  EXPECT_LT(limits.peak_gflops_f32, 1000);  // no core does 128 fused multiply-adds at 4 GHz
  EXPECT_GT(limits.dram_gbytes_per_s, 0.1);
  EXPECT_LT(limits.dram_gbytes_per_s, 1000);
}

TEST(CpuDevice, TheIdentityHoldsWhatDecidesOverATime) {
  Device device;
  device.name = "Some CPU";
  device.limits.arch = "avx512";
  device.limits.cores = 2;
  device.compiler = "g++ 12.2.0 -O2";
  EXPECT_EQ(identity_of(device), "cpu | Some CPU | avx512 | cores=2 | driver= | g++ 12.2.0 -O2");
  EXPECT_EQ(cache_policy(device), "warm");
  device.cold = true;  // such a time does not answer a task with warm caches
  EXPECT_EQ(identity_of(device),
            "cpu | Some CPU | avx512 | cores=2 | driver= | g++ 12.2.0 -O2 | cold caches");
  EXPECT_EQ(cache_policy(device), "cold");
}

}  // namespace
}  // namespace lehr
