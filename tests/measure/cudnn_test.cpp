// The cuDNN baselines: graphs, the choice of a plan, and calls against fakes of library and driver; and what
// the installed library says of the graphs, for a device that is not there.
#include <dlfcn.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/rng.h"
#include "fake_cudnn.h"
#include "host_support.h"
#include "measure/baseline_cudnn.h"

namespace lehr {
namespace {

using Op = BaselineStep::Op;
using lehr::testing::error_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

double after(const std::vector<BaselineStep>& steps, const Problem& problem, double value,
             std::int64_t channel, std::int64_t element) {
  for (const BaselineStep& step : steps) {
    const auto operand = [&] {
      return static_cast<double>(problem.tensors[step.tensor]
                                     .values[static_cast<std::size_t>(step.per_channel ? channel : element)]);
    };
    if (step.op == Op::kAdd) value += operand();
    if (step.op == Op::kMultiply) value *= operand();
    if (step.op == Op::kClamp) value = std::min(std::max(value, step.low), step.high);
    if (step.op == Op::kTanh) value = std::tanh(value);
    if (step.op == Op::kSigmoid) value = 1 / (1 + std::exp(-value));
    if (step.op == Op::kSilu) value = value / (1 + std::exp(-value));
    if (step.op == Op::kGeluErf) value = value * 0.5 * (1 + std::erf(value * M_SQRT1_2));
    if (step.op == Op::kGeluTanh)
      value *= 0.5 * (1 + std::tanh(std::sqrt(M_2_PI) * (value + 0.044715 * std::pow(value, 3))));
  }
  return value;
}

/// With its expected output, naively in double.
Problem conv_problem(BaselineConv2d conv, const std::vector<BaselineStep>& steps = {},
                     DType type = DType::kF32) {
  conv.out_h =
      (conv.h + conv.pad_top + conv.pad_bottom - conv.dilation_h * (conv.r - 1) - 1) / conv.stride_h + 1;
  conv.out_w =
      (conv.w + conv.pad_left + conv.pad_right - conv.dilation_w * (conv.s - 1) - 1) / conv.stride_w + 1;
  Problem problem;
  problem.conv2d = conv;
  problem.steps = steps;
  Rng rng(5);
  const auto add = [&](std::int64_t elements, bool output) {
    ProblemTensor tensor = {type, elements, output, {}};
    for (std::int64_t i = 0; !output && i < elements; ++i)
      tensor.values.push_back(static_cast<float>(std::round(rng.uniform() * 16 - 8) / 8));
    problem.tensors.push_back(std::move(tensor));
  };
  const std::int64_t per_group = conv.c / conv.groups, outputs = conv.n * conv.k * conv.out_h * conv.out_w;
  add(conv.n * conv.c * conv.h * conv.w, false);
  add(conv.k * per_group * conv.r * conv.s, false);
  add(outputs, true);
  for (const BaselineStep& step : steps)
    if (step.op == Op::kAdd || step.op == Op::kMultiply) add(step.per_channel ? conv.k : outputs, false);
  const auto place = [&](std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x,
                         std::int64_t channels, std::int64_t height, std::int64_t width) {
    return conv.nhwc ? ((n * height + y) * width + x) * channels + c
                     : ((n * channels + c) * height + y) * width + x;
  };
  problem.expected.resize(static_cast<std::size_t>(outputs));
  for (std::int64_t n = 0; n < conv.n; ++n) {
    for (std::int64_t k = 0; k < conv.k; ++k) {
      for (std::int64_t oy = 0; oy < conv.out_h; ++oy) {
        for (std::int64_t ox = 0; ox < conv.out_w; ++ox) {
          double sum = 0;
          for (std::int64_t c = 0; c < per_group; ++c) {
            for (std::int64_t r = 0; r < conv.r; ++r) {
              for (std::int64_t s = 0; s < conv.s; ++s) {
                const std::int64_t y = oy * conv.stride_h + r * conv.dilation_h - conv.pad_top;
                const std::int64_t x = ox * conv.stride_w + s * conv.dilation_w - conv.pad_left;
                if (y < 0 || x < 0 || y >= conv.h || x >= conv.w) continue;
                const std::int64_t channel = k / (conv.k / conv.groups) * per_group + c;
                sum += static_cast<double>(problem.tensors[0].values[static_cast<std::size_t>(
                           place(n, channel, y, x, conv.c, conv.h, conv.w))]) *
                       static_cast<double>(problem.tensors[1].values[static_cast<std::size_t>(
                           place(k, c, r, s, per_group, conv.r, conv.s))]);
              }
            }
          }
          const std::int64_t element = place(n, k, oy, ox, conv.k, conv.out_h, conv.out_w);
          problem.expected[static_cast<std::size_t>(element)] =
              static_cast<float>(after(steps, problem, sum, k, element));
        }
      }
    }
  }
  problem.tolerance = type == DType::kF32 ? 1e-4 : 0.1;
  return problem;
}

BaselineConv2d odd_conv(bool nhwc) {
  return {.n = 2,
          .c = 4,
          .h = 7,
          .w = 6,
          .k = 6,
          .r = 3,
          .s = 2,
          .groups = 2,
          .stride_h = 2,
          .stride_w = 1,
          .dilation_h = 1,
          .dilation_w = 2,
          .pad_top = 1,
          .pad_bottom = 2,
          .pad_left = 0,
          .pad_right = 1,
          .nhwc = nhwc};
}

BaselineConv2d wide_conv(bool nhwc) {
  return {.n = 1,
          .c = 32,
          .h = 7,
          .w = 7,
          .k = 32,
          .r = 3,
          .s = 3,
          .groups = 1,
          .pad_top = 1,
          .pad_bottom = 1,
          .pad_left = 1,
          .pad_right = 1,
          .nhwc = nhwc};
}

const std::vector<BaselineStep> kBnReluResidual = {{.op = Op::kMultiply, .tensor = 3, .per_channel = true},
                                                   {.op = Op::kAdd, .tensor = 4, .per_channel = true},
                                                   {.op = Op::kClamp, .low = 0},
                                                   {.op = Op::kAdd, .tensor = 5}};

/// Few calls fill a sample of them.
const FakePlan kLongCalls = {.us = 5000, .pointwise_us = 5000};

class CudnnOnFakes : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.cuda = {LEHR_FAKE_CUDA_DRIVER, LEHR_FAKE_CUDA_DRIVER};
    options_.paths = {"libno_such_cudnn.so.9", LEHR_FAKE_CUDNN};
    driver_ = dlopen(LEHR_FAKE_CUDA_DRIVER, RTLD_NOW | RTLD_LOCAL);
    library_ = dlopen(LEHR_FAKE_CUDNN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(driver_ != nullptr && library_ != nullptr) << dlerror();
    function<void(std::size_t)>(driver_, "fake_cuda_reset")(std::size_t{1} << 30);
    offer({kLongCalls});
  }
  template <typename Signature>
  static Signature* function(void* library, const char* name) {
    return reinterpret_cast<Signature*>(dlsym(library, name));
  }
  void offer(const std::vector<FakePlan>& plans) {
    function<void(const std::vector<FakePlan>*)>(library_, "fake_cudnn_reset")(&plans);
  }
  const FakeDnnCounts& counts() { return *function<const FakeDnnCounts*()>(library_, "fake_cudnn_counts")(); }
  /// The note of a right result, else the fault's text.
  template <typename R>
  std::string checked(R& runner) {
    const auto result = runner.check(0);
    if (const auto* fault = std::get_if<Fault>(&result)) return "FAULT " + fault->failure.text;
    return std::get<Checked>(result).note;
  }

  CudnnOptions options_;
  void* driver_ = nullptr;
  void* library_ = nullptr;
};

TEST_F(CudnnOnFakes, ComputesConvolutionsAndAllThatMayFollowThem) {
  std::vector<std::vector<BaselineStep>> epilogues = {{}, kBnReluResidual};
  for (const Op op : {Op::kGeluTanh, Op::kGeluErf, Op::kSilu, Op::kSigmoid, Op::kTanh})
    epilogues.push_back({{.op = Op::kAdd, .tensor = 3, .per_channel = true}, {.op = op}});
  epilogues.push_back({{.op = Op::kClamp, .low = -0.5, .high = 2}});
  for (const bool nhwc : {false, true}) {
    for (const std::vector<BaselineStep>& steps : epilogues) {
      for (const DType type : {DType::kF32, DType::kF16}) {
        SCOPED_TRACE(fmt::format("nhwc={} steps={} {}", nhwc, steps.size(), name_of(type)));
        const Problem problem = conv_problem(odd_conv(nhwc), steps, type);
        CudnnRunner first(options_);
        first.prepare(problem, {});
        EXPECT_EQ(checked(first), "cuDNN 9.19.0, plan 0: engine 0");
        if (steps.empty()) continue;
        CudnnUnfusedRunner unfused(options_);
        unfused.prepare(problem, {});
        EXPECT_THAT(checked(unfused), HasSubstr("; then fastest of 1 (of 1 offered), plan 0: engine 0"));
      }
    }
  }
}

TEST_F(CudnnOnFakes, RunsTheFusedGraphInOneAndTheUnfusedOneInTwo) {
  const Problem problem = conv_problem(odd_conv(true), kBnReluResidual);
  CudnnRunner fused(options_);
  fused.prepare(problem, {});
  checked(fused);
  EXPECT_EQ(counts().graphs, "conv+4 ");
  offer({kLongCalls});
  CudnnUnfusedRunner unfused(options_);
  unfused.prepare(problem, {});
  checked(unfused);
  EXPECT_THAT(counts().graphs, ::testing::EndsWith("conv+0 pointwise+4 "));
  EXPECT_EQ(error_of([&] { unfused.prepare(conv_problem(odd_conv(true)), {}); }),
            "cudnn-unfused has nothing to leave unfused here");
}

TEST_F(CudnnOnFakes, BestIsTheFastestOfAllHeuristicsThatRunsAndIsRight) {
  offer({{.us = 50},
         {.us = 5, .fails = true},
         {.us = 10, .wrong = true},
         {.us = 6, .refused = true},
         {.us = 7, .workspace_bytes = std::int64_t{2} << 30},
         {.us = 20, .workspace_bytes = 1 << 20, .heuristics = {2}},
         {.us = 30, .heuristics = {1}}});
  const Problem problem = conv_problem(odd_conv(false));
  CudnnBestRunner best(options_);
  best.prepare(problem, {});
  EXPECT_EQ(
      checked(best),
      "cuDNN 9.19.0, fastest of 7 (of 7 offered; 1 faster ones were wrong), plan 6: engine 5, workspace "
      "1048576 bytes");
  const auto timed = best.time(0, {});
  ASSERT_TRUE(std::holds_alternative<Samples>(timed));
  EXPECT_NEAR(std::get<Samples>(timed).us[0], 20, 0.1);
  EXPECT_EQ(counts().first_calls_in_capture, 0);
  CudnnRunner first(options_);
  first.prepare(problem, {});
  EXPECT_EQ(checked(first), "cuDNN 9.19.0, plan 0: engine 0");
}

TEST_F(CudnnOnFakes, EachHalfOfTheUnfusedPairIsTheFastest) {
  offer({{.us = 50, .pointwise_us = 3}, {.us = 20, .pointwise_us = 9}, {.us = 30, .pointwise_us = 2}});
  CudnnUnfusedRunner runner(options_);
  runner.prepare(conv_problem(odd_conv(false), kBnReluResidual), {});
  EXPECT_THAT(checked(runner), ::testing::ContainsRegex("plan 1: engine 1.*; then .*plan 2: engine 2"));
  const auto timed = runner.time(0, {});
  ASSERT_TRUE(std::holds_alternative<Samples>(timed));
  EXPECT_NEAR(std::get<Samples>(timed).us[0], 22, 0.1);
}

TEST_F(CudnnOnFakes, LeavesOutPlansThatRoundMoreThanTheProblemPermits) {
  const FakePlan tf32 = {.us = 5, .notes = {0}}, narrow = {.us = 4, .notes = {0, 2}}, plain = {.us = 20};
  offer({tf32, narrow, plain});
  CudnnBestRunner best(options_);
  best.prepare(conv_problem(odd_conv(true)), {});
  EXPECT_THAT(checked(best), HasSubstr("of 1 offered), plan 0: engine 2"));
  best.prepare(conv_problem(odd_conv(true), {}, DType::kF16), {});
  EXPECT_THAT(checked(best), HasSubstr("of 2 offered), plan 0: engine 0"));
  BaselineConv2d permits_tf32 = odd_conv(true);
  permits_tf32.tf32 = true;
  best.prepare(conv_problem(permits_tf32), {});
  EXPECT_THAT(checked(best), HasSubstr("of 2 offered), plan 0: engine 0"));
  offer({tf32});
  EXPECT_EQ(error_of([&] { best.prepare(conv_problem(odd_conv(true)), {}); }),
            "cudnn has no plan for this graph that rounds nothing in between");
}

TEST_F(CudnnOnFakes, SaysWhatIsMissing) {
  const Problem problem = conv_problem(odd_conv(true));
  CudnnOptions without = options_;
  without.paths = {"libno_such_cudnn.so.9"};
  CudnnRunner no_library(without);
  EXPECT_THAT(error_of([&] { no_library.prepare(problem, {}); }),
              HasSubstr("libcudnn.so.9 was not found: install"));
  without.paths = {LEHR_FAKE_CUDA_DRIVER};
  CudnnRunner other_library(without);
  EXPECT_THAT(error_of([&] { other_library.prepare(problem, {}); }),
              HasSubstr("is older than cuDNN 9: it has no function cudnn"));
  offer({});
  CudnnRunner runner(options_);
  EXPECT_EQ(error_of([&] { runner.prepare(problem, {}); }), "cudnn has no plan for this graph");
  offer({{.refused = true}});
  EXPECT_EQ(error_of([&] { runner.prepare(problem, {}); }),
            "none of cudnn's 1 plans for this graph can be built: CUDNN_STATUS_NOT_SUPPORTED from "
            "cudnnBackendFinalize (this plan cannot be built)");
  offer({{.fails = true}});
  runner.prepare(problem, {});
  EXPECT_EQ(checked(runner), "FAULT CUDNN_STATUS_OTHER from cudnnBackendExecute (it does not run)");
  CudnnBestRunner best(options_);
  EXPECT_EQ(error_of([&] { best.prepare(problem, {}); }), "none of cudnn's 1 plans for this graph runs");
  Problem gemm = problem;
  gemm.conv2d.reset();
  EXPECT_EQ(error_of([&] { runner.prepare(gemm, {}); }), "cudnn is asked for convolutions only");
  Problem unsigned_problem = problem;
  unsigned_problem.tensors[0].type = DType::kU8;
  EXPECT_EQ(error_of([&] { runner.prepare(unsigned_problem, {}); }), "cudnn has no call for u8 operands");
}

TEST_F(CudnnOnFakes, DestroysWhatItMade) {
  {
    CudnnUnfusedRunner runner(options_);
    runner.prepare(conv_problem(odd_conv(true), kBnReluResidual), {});
    runner.prepare(conv_problem(odd_conv(false), kBnReluResidual), {});
    EXPECT_GT(counts().objects, 0);
  }
  EXPECT_EQ(counts().objects, 0);
  EXPECT_EQ(function<int()>(driver_, "fake_cuda_allocations")(), 0);
}

/// The installed library, told of an H200.
class InstalledCudnn : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why_not;
    const char* path = std::getenv("LD_LIBRARY_PATH");
    std::vector<std::string> folders;
    if (path != nullptr) folders.emplace_back(path);
    library_ = Cudnn::open(cudnn_paths(folders), why_not);
    if (!library_) GTEST_SKIP() << why_not;
    const DnnStatus status = library_->start_without_device(
        R"({"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
        R"("multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,)"
        R"("maxSharedMemoryPerBlockOptin":232448,"reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,)"
        R"("maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,)"
        R"("supportCoopLaunch":1,"totalGlobalMem":150000000000,"smClockRateKHz":1980000,)"
        R"("memClockRateKHz":3201000,"l2CacheSize":62914560,"cudaDeviceId":0,"deviceVer":900,)"
        R"("driverVer":13000,"deviceName":"NVIDIA H200"})");
    if (!status.ok()) GTEST_SKIP() << "cuDNN before 9.8: " << library_->text_of(status);
  }
  /// How many plans of heuristic A it builds for `graph`, of which the first is described in `text`.
  std::size_t plans(const DnnGraph& graph, std::string& text) {
    DnnOperations operations;
    if (const DnnStatus status = operations.describe(*library_, graph, 256); !status.ok()) {
      text = library_->text_of(status);
      return 0;
    }
    std::vector<DnnConfig> configs;
    if (const DnnStatus status = operations.configs(DnnHeuristic::kA, configs); !status.ok())
      text = library_->text_of(status);
    std::size_t built = 0;
    for (const DnnConfig& config : configs) {
      DnnPlan plan;
      const DnnStatus status = plan.build(*library_, config);
      if (!status.ok() && built == 0) text = library_->text_of(status);
      if (status.ok() && built++ == 0) text = config.text;
    }
    return built;
  }
  std::unique_ptr<Cudnn> library_;
};

TEST_F(InstalledCudnn, HasPlansForConvolutionsAlsoWithBiasAndRelu) {
  const std::vector<BaselineStep> bias_relu = {{.op = Op::kAdd, .tensor = 3, .per_channel = true},
                                               {.op = Op::kClamp, .low = 0}};
  for (const bool nhwc : {false, true}) {
    for (const DType type : {DType::kF32, DType::kF16, DType::kBF16}) {
      for (const std::vector<BaselineStep>& steps : {std::vector<BaselineStep>{}, bias_relu}) {
        SCOPED_TRACE(fmt::format("nhwc={} {} steps={}", nhwc, name_of(type), steps.size()));
        std::string text;
        EXPECT_GT(plans(fused_graph(conv_problem(wide_conv(nhwc), steps, type)), text), 0U) << text;
        EXPECT_THAT(text, StartsWith("engine "));
      }
    }
  }
}

/// Whether it has plans cannot be asked: those that it compiles at run time want a driver.
TEST_F(InstalledCudnn, TakesTheGraphsOfAllThatMayFollowAConvolution) {
  std::vector<std::vector<BaselineStep>> epilogues = {kBnReluResidual,
                                                      {{.op = Op::kClamp, .low = -0.5, .high = 2}}};
  for (const Op op : {Op::kGeluTanh, Op::kGeluErf, Op::kSilu, Op::kSigmoid, Op::kTanh})
    epilogues.push_back({{.op = op}});
  for (const std::vector<BaselineStep>& steps : epilogues) {
    for (const DType type : {DType::kF32, DType::kE4M3}) {
      const Problem problem = conv_problem(wide_conv(true), steps, type);
      std::vector<DnnGraph> graphs = unfused_graphs(problem);
      graphs.push_back(fused_graph(problem));
      for (const DnnGraph& graph : graphs) {
        DnnOperations operations;
        const DnnStatus status = operations.describe(*library_, graph, 256);
        EXPECT_TRUE(status.ok()) << library_->text_of(status);
      }
    }
  }
}

}  // namespace
}  // namespace lehr
