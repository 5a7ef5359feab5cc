// Tests of the cuDNN baselines against fakes of library and driver: graphs, the choice of a plan, and calls.
// The installed library is asked whether it takes the graphs, for a device that is not there.
#include <dlfcn.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "fake_cudnn.h"
#include "host_support.h"
#include "measure/vendor/cudnn/baseline_cudnn.h"
#include "tests/support/problem_for.h"

namespace lehr::cudnn {
namespace {

using lehr::testing::error_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Returns "conv2d ..." in one type, with a tolerance for what the fake rounds in between.
Problem conv_problem(const std::string& conv, const std::string& epilogue = "none",
                     DType type = DType::kF32) {
  Problem problem = problem_for(
      parse_workload(fmt::format("{0} x={1} f={1} y={1} epilogue={2}", conv, name_of(type), epilogue)), 5);
  output_argument(problem).absolute = type == DType::kF32 ? 1e-4 : 0.1;
  return problem;
}

std::string odd_conv(bool nhwc) {
  return fmt::format(
      "conv2d n=2 c=4 h=7 w=6 k=6 r=3 s=2 groups=2 stride=2x1 dilation=1x2 pad=1x2x0x1 layout={}",
      nhwc ? "nhwc" : "nchw");
}

std::string wide_conv(bool nhwc) {
  return fmt::format("conv2d c=32 h=7 w=7 k=32 r=3 s=3 pad=1 layout={}", nhwc ? "nhwc" : "nchw");
}

const char* const kBnReluResidual = "scale_shift+relu+residual";

/// A sample holds few calls of this plan.
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
  /// Returns the note of a right result, else the fault's text.
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
  for (const bool nhwc : {false, true}) {
    for (const std::string epilogue : {"none", kBnReluResidual, "bias+gelu_tanh", "bias+gelu_erf",
                                       "bias+silu", "bias+sigmoid", "bias+tanh", "clamp(-0.5,2)", "relu6"}) {
      for (const DType type : {DType::kF32, DType::kF16}) {
        SCOPED_TRACE(fmt::format("nhwc={} {} {}", nhwc, epilogue, name_of(type)));
        const Problem problem = conv_problem(odd_conv(nhwc), epilogue, type);
        CudnnRunner first(options_);
        first.prepare(problem, {});
        EXPECT_EQ(checked(first), "cuDNN 9.19.0, plan 0: engine 0");
        if (epilogue == "none") continue;
        CudnnRunner unfused(options_, Mode::kUnfused);
        unfused.prepare(problem, {});
        EXPECT_THAT(checked(unfused), HasSubstr("; then fastest of 1 algorithm, plan 0: engine 0"));
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
  CudnnRunner unfused(options_, Mode::kUnfused);
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
  CudnnRunner best(options_, Mode::kBest);
  best.prepare(problem, {});
  EXPECT_EQ(checked(best),
            "cuDNN 9.19.0, fastest of 7 algorithms (1 faster one was wrong), plan 6: engine 5, workspace "
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
  CudnnRunner runner(options_, Mode::kUnfused);
  runner.prepare(conv_problem(odd_conv(false), kBnReluResidual), {});
  EXPECT_THAT(checked(runner), ::testing::ContainsRegex("plan 1: engine 1.*; then .*plan 2: engine 2"));
  const auto timed = runner.time(0, {});
  ASSERT_TRUE(std::holds_alternative<Samples>(timed));
  EXPECT_NEAR(std::get<Samples>(timed).us[0], 22, 0.1);
}

TEST_F(CudnnOnFakes, SearchesWithinItsLimitAndGoesOnLater) {
  const std::vector<FakePlan> plans = {{.us = 50, .pointwise_us = 3}, {.us = 20, .pointwise_us = 2}};
  offer(plans);
  const Problem problem = conv_problem(odd_conv(false), kBnReluResidual);
  CudnnRunner runner(options_, Mode::kUnfused);
  runner.prepare(problem, {.search = {.seconds = 1e-9}});
  EXPECT_THAT(checked(runner),
              ::testing::ContainsRegex("1 of 2 algorithms tried, plan 0.*; then 1 of 2 algorithms tried"));
  ASSERT_TRUE(runner.finding().has_value());
  const LibraryFinding cut = *runner.finding();
  EXPECT_EQ(cut.library, "cuDNN 9.19.0");
  ASSERT_EQ(cut.lists.size(), 2U);
  EXPECT_EQ(algorithms_of(cut).tried, 2);
  EXPECT_EQ(algorithms_of(cut).offered, 4);
  runner.prepare(problem, {.search = {.known = {cut}}});
  EXPECT_THAT(
      checked(runner),
      ::testing::ContainsRegex("fastest of 2 algorithms, plan 1.*; then fastest of 2 algorithms, plan 1"));
  const LibraryFinding whole = runner.finding().value();
  offer(plans);
  runner.prepare(problem, {.search = {.known = {whole}}});
  EXPECT_EQ(counts().graphs, "conv+0 pointwise+4 conv+0 pointwise+4 ") << "each half checked once";
  EXPECT_EQ(runner.finding(), whole);
  EXPECT_THAT(checked(runner), ::testing::ContainsRegex(
                                   "2 algorithms by an earlier search, plan 1.*; then .*plan 1: engine 1"));
  CudnnRunner first(options_);
  first.prepare(problem, {});
  EXPECT_FALSE(first.finding().has_value());
}

TEST_F(CudnnOnFakes, LeavesOutPlansThatRoundMoreThanTheProblemPermits) {
  const FakePlan tf32 = {.us = 5, .notes = {0}}, narrow = {.us = 4, .notes = {0, 2}}, plain = {.us = 20};
  offer({tf32, narrow, plain});
  CudnnRunner best(options_, Mode::kBest);
  best.prepare(conv_problem(odd_conv(true)), {});
  EXPECT_THAT(checked(best), HasSubstr("fastest of 1 algorithm, plan 0: engine 2"));
  best.prepare(conv_problem(odd_conv(true), "none", DType::kF16), {});
  EXPECT_THAT(checked(best), HasSubstr("fastest of 2 algorithms, plan 0: engine 0"));
  best.prepare(conv_problem(odd_conv(true) + " math=tf32"), {});
  EXPECT_THAT(checked(best), HasSubstr("fastest of 2 algorithms, plan 0: engine 0"));
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
  CudnnRunner best(options_, Mode::kBest);
  EXPECT_EQ(error_of([&] { best.prepare(problem, {}); }), "none of cudnn's 1 plans for this graph runs");
}

TEST(DnnGraphs, AreOfConvolutionsWithTypesThatTheLibraryHas) {
  const auto refusal = [](const std::string& text) {
    return error_of([&] { fused_graph(parse_workload(text)); });
  };
  EXPECT_EQ(refusal("gemm m=4 n=4 k=4"), "cudnn is asked for convolutions only");
  EXPECT_EQ(refusal("conv2d h=4 w=4 c=4 k=4 r=1 s=1 x=u8 f=u8 y=s32 accum=s32"),
            "cudnn has no call for u8 operands");
  EXPECT_EQ(refusal("conv2d h=4 w=4 c=4 k=4 r=1 s=1 epilogue=relu+maxpool(2)"),
            "cudnn is not asked for a pool behind a convolution");
}

TEST(DnnGraphs, HaveTheConvolutionsNumbersAndEveryStep) {
  const DnnGraph graph = fused_graph(parse_workload(
      "conv2d n=2 h=9 w=8 c=6 k=4 r=3 s=2 stride=2x1 pad=1x0x2x1 groups=2 layout=nhwc x=f16 f=f16 y=f16 "
      "epilogue=scale_shift+residual+relu6+clamp(-1,2)+relu"));
  ASSERT_TRUE(graph.convolution.has_value());
  EXPECT_EQ(*graph.convolution,
            (DnnConvolution{.before = {1, 2}, .after = {0, 1}, .strides = {2, 1}, .dilations = {1, 1}}));
  using Extents = std::array<std::int64_t, 4>;
  EXPECT_EQ(graph.tensors[1].extents, (Extents{4, 3, 3, 2}));
  EXPECT_EQ(graph.tensors[2].extents, (Extents{2, 4, 4, 10}));
  EXPECT_EQ(graph.tensors[2].strides, (Extents{160, 1, 40, 4}));
  ASSERT_EQ(graph.pointwise.size(), 6U);
  const auto operand = [&](std::size_t i) { return graph.tensors[*graph.pointwise[i].b]; };
  const std::vector<int> modes = {1, 0, 0, 100, 100, 100};
  for (std::size_t i = 0; i < modes.size(); ++i) {
    EXPECT_EQ(graph.pointwise[i].mode, modes[i]) << i;
    EXPECT_EQ(graph.pointwise[i].b.has_value(), i < 3) << i;
  }
  // Tensors 0 to 2 are the input, the filter and the output.
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(operand(i).tensor, 3 + i);
  EXPECT_EQ(operand(0).extents, (Extents{1, 4, 1, 1}));
  EXPECT_EQ(operand(2).extents, (Extents{2, 4, 4, 10}));
  EXPECT_EQ(graph.pointwise[3].low, std::nullopt);
  EXPECT_EQ(graph.pointwise[3].high, 6);
  EXPECT_EQ(graph.pointwise[4].low, -1);
  EXPECT_EQ(graph.pointwise[4].high, 2);
  EXPECT_EQ(graph.pointwise[5].high, std::nullopt);
  EXPECT_EQ(graph.tensors[graph.pointwise[5].y].tensor, 2U);
}

TEST_F(CudnnOnFakes, DestroysWhatItMade) {
  {
    CudnnRunner runner(options_, Mode::kUnfused);
    runner.prepare(conv_problem(odd_conv(true), kBnReluResidual), {});
    runner.prepare(conv_problem(odd_conv(false), kBnReluResidual), {});
    EXPECT_GT(counts().objects, 0);
  }
  EXPECT_EQ(counts().objects, 0);
  EXPECT_EQ(function<int()>(driver_, "fake_cuda_allocations")(), 0);
}

/// The installed library, with an H200's description as its device.
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
  /// Returns how many plans of heuristic A it builds for `graph`. `text` describes the first one.
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
  for (const bool nhwc : {false, true}) {
    for (const DType type : {DType::kF32, DType::kF16, DType::kBF16}) {
      for (const char* epilogue : {"none", "bias+relu"}) {
        SCOPED_TRACE(fmt::format("nhwc={} {} {}", nhwc, name_of(type), epilogue));
        std::string text;
        EXPECT_GT(plans(fused_graph(workload_of(conv_problem(wide_conv(nhwc), epilogue, type))), text), 0U)
            << text;
        EXPECT_THAT(text, StartsWith("engine "));
      }
    }
  }
}

/// Whether it has plans cannot be asked: those that it compiles at run time want a driver.
TEST_F(InstalledCudnn, TakesTheGraphsOfAllThatMayFollowAConvolution) {
  for (const char* epilogue :
       {kBnReluResidual, "clamp(-0.5,2)", "gelu_tanh", "gelu_erf", "silu", "sigmoid", "tanh"}) {
    for (const DType type : {DType::kF32, DType::kE4M3}) {
      const Workload workload = workload_of(conv_problem(wide_conv(true), epilogue, type));
      std::vector<DnnGraph> graphs = unfused_graphs(workload);
      graphs.push_back(fused_graph(workload));
      for (const DnnGraph& graph : graphs) {
        DnnOperations operations;
        const DnnStatus status = operations.describe(*library_, graph, 256);
        EXPECT_TRUE(status.ok()) << library_->text_of(status);
      }
    }
  }
}

}  // namespace
}  // namespace lehr::cudnn
