// Tests a whole contest on fakes, worker processes included: our kernel against both cuBLASLt entries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "host_support.h"
#include "measure/core/ratio.h"
#include "measure/system/temp_dir.h"
#include "measure/worker/local_measurer.h"

namespace lehr {
namespace {

using lehr::testing::gemm_of;
using lehr::testing::gemm_problem;
using ::testing::HasSubstr;

/// Every source is a "cubin" of the fake driver, whose kernels are known by name.
class FakeCompiler : public Compiler {
 public:
  std::function<void()> meanwhile = [] {};  ///< what happens while it compiles

  std::vector<Compiled> compile(std::span<const Source> sources, double) override {
    meanwhile();
    std::vector<Compiled> results;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::string path = fmt::format("{}/{}.cubin", directory_.path(), made_++);
      std::ofstream(path) << "FAKE CUBIN";
      results.push_back(Binary{path, "", {}});
    }
    return results;
  }
  std::string identity() const override { return "fake"; }

 private:
  TempDir directory_;
  int made_ = 0;
};

Source gemm_source() {
  Source source;
  source.entry = "gemm_7_5_3";  // takes 15.625 us
  source.launch.grid = {1, 1, 1};
  source.launch.block = {32, 1, 1};
  return source;
}

/// Returns options with which workers find the fakes in a directory of their own, under the libraries' names.
LocalOptions options_with(const TempDir& directory) {
  namespace fs = std::filesystem;
  fs::create_symlink(LEHR_FAKE_CUDA_DRIVER, directory.path() + "/libcuda.so.1");
  fs::create_symlink(LEHR_FAKE_CUDA_DRIVER, directory.path() + "/libnvidia-ml.so.1");
  fs::create_symlink(LEHR_FAKE_CUBLASLT, directory.path() + "/libcublasLt.so.13");
  LocalOptions options = lehr::testing::local_options();
  options.worker.environment = {"LD_LIBRARY_PATH=" + directory.path()};
  options.limits.target = Target::kCuda;
  return options;
}

TEST(CublasLtContest, BothEntriesAreTimedInTurnWithOurKernel) {
  const TempDir directory;
  FakeCompiler compiler;
  LocalMeasurer measurer(compiler, options_with(directory));
  measurer.prepare(gemm_problem(gemm_of(7, 5, 3)));
  const std::vector<Source> sources = {gemm_source()};
  const std::vector<std::string> baselines = {"cublaslt", "cublaslt-best"};
  const std::vector<ContestEntry> entries = measurer.contest(sources, {}, baselines, {.wanted_s = 0.2});
  ASSERT_EQ(entries.size(), 3U);
  for (const ContestEntry& entry : entries) {
    ASSERT_EQ(entry.missing, "") << entry.name;
    EXPECT_GE(entry.round_us.size(), 3U);
    ASSERT_TRUE(entry.gpu.has_value());
    EXPECT_EQ(entry.gpu->sm_mhz, 1755);
  }
  EXPECT_EQ(entries[0].note, "");
  EXPECT_NEAR(entries[0].time_us, 15.625, 1e-3);
  EXPECT_NEAR(entries[1].time_us, 10, 1e-3);
  EXPECT_NEAR(speedup_over(entries[1], entries[0]).value, 1.5625, 1e-3);
  EXPECT_THAT(entries[1].note, HasSubstr("cuBLASLt 13.1.0, heuristic 0"));
  EXPECT_THAT(entries[2].note, HasSubstr("cuBLASLt 13.1.0, fastest of 2"));
}

TEST(CublasLtContest, SearchesWithinTheLimitThatItIsGiven) {
  const TempDir directory;
  FakeCompiler compiler;
  LocalMeasurer measurer(compiler, options_with(directory));
  const std::vector<Source> sources = {gemm_source()};
  const std::vector<std::string> baselines = {"cublaslt", "cublaslt-best"};
  measurer.prepare(gemm_problem(gemm_of(7, 5, 3)));
  measurer.prepare_baselines({{"cublaslt-best", {.seconds = 1e-9}}});
  std::vector<ContestEntry> entries = measurer.contest(sources, {}, baselines, {.wanted_s = 0.1});
  EXPECT_THAT(entries[2].note, HasSubstr("1 of 2 algorithms tried"));
  EXPECT_FALSE(entries[1].finding.has_value());
  ASSERT_TRUE(entries[2].finding.has_value());
  EXPECT_EQ(algorithms_of(*entries[2].finding).tried, 1);
  const LibraryFinding cut = *entries[2].finding;
  // The searches' limits hold until the next problem. A library that is not named has no limit.
  measurer.prepare(gemm_problem(gemm_of(7, 5, 3)));
  entries = measurer.contest(sources, {}, baselines, {.wanted_s = 0.1});
  EXPECT_THAT(entries[2].note, HasSubstr("fastest of 2 algorithms, "));
  measurer.prepare_baselines({{"cublaslt-best", {.seconds = 0, .known = {cut, *entries[2].finding}}}});
  entries = measurer.contest(sources, {}, baselines, {.wanted_s = 0.1});
  EXPECT_THAT(entries[2].note, HasSubstr("fastest of 2 algorithms, "))
      << "the first one that is known counts";
  EXPECT_GT(entries[2].time_us, 0);
}

TEST(CublasLtContest, LibrariesStartWhileTheFirstSourcesAreCompiled) {
  const TempDir directory;
  const std::string path = directory.path() + "/starts";
  const auto starts = [&] {
    std::ifstream file(path);
    return std::distance(std::istreambuf_iterator<char>(file), {}) / 6;  // "start\n"
  };
  FakeCompiler compiler;
  std::ptrdiff_t seen = 0;
  compiler.meanwhile = [&] {
    for (int tries = 0; tries < 6000 && starts() < 2; ++tries) usleep(10000);
    seen = starts();
  };
  LocalOptions options = options_with(directory);
  options.worker.environment.push_back("FAKE_CUBLASLT_STARTS=" + path);
  options.overlap = true;
  LocalMeasurer measurer(compiler, options);
  measurer.prepare(gemm_problem(gemm_of(7, 5, 3)));
  measurer.prepare_baselines({{"cublaslt", {}}, {"cublaslt-best", {}}, {"absent", {}}});
  EXPECT_EQ(starts(), 0);
  const std::vector<Source> sources = {gemm_source()};
  ASSERT_TRUE(std::holds_alternative<Timing>(measurer.measure(sources, {})[0]));
  EXPECT_EQ(seen, 2);
  const std::vector<std::string> baselines = {"cublaslt", "cublaslt-best", "absent"};
  const std::vector<ContestEntry> entries = measurer.contest(sources, {}, baselines, {.wanted_s = 0.1});
  EXPECT_EQ(starts(), 2) << "they are not started again";
  EXPECT_NEAR(entries[1].time_us, 10, 1e-3);
  EXPECT_THAT(entries[2].note, HasSubstr("fastest of 2 algorithms"));
  EXPECT_THAT(entries[3].missing, HasSubstr("no baseline named absent"));
}

TEST(CublasLtContest, GoesOnWithoutABaselineThatHasNoKernel) {
  const TempDir directory;
  FakeCompiler compiler;
  LocalMeasurer measurer(compiler, options_with(directory));
  Problem problem = gemm_problem(gemm_of(7, 5, 3));
  problem.text = "gemm m=7 n=5 k=3 accum=f16";  // the fake has no f32 kernel that accumulates so
  measurer.prepare(problem);
  const std::vector<ContestEntry> entries = measurer.contest(
      std::vector<Source>{gemm_source()}, {}, std::vector<std::string>{"cublaslt"}, {.wanted_s = 0.1});
  EXPECT_EQ(entries[0].missing, "");
  EXPECT_THAT(entries[1].missing, HasSubstr("cublaslt has no kernel for f32 x f32 -> f32"));
}

}  // namespace
}  // namespace lehr
