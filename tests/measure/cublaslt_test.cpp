// Tests of the cuBLASLt baselines against fakes of library and driver: orders, layouts, types, the choice of
// an algorithm, and the message when something is missing.
#include <dlfcn.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "base/error.h"
#include "fake_cublaslt.h"
#include "host_support.h"
#include "measure/vendor/cublaslt/baseline_cublaslt.h"

namespace lehr::cublaslt {
namespace {

using lehr::testing::error_of;
using lehr::testing::gemm_of;
using lehr::testing::gemm_problem;
using ::testing::HasSubstr;

Gemm typed(Gemm gemm, DType in, DType out, DType accum = DType::kF32) {
  gemm.a.type = gemm.b.type = in;
  gemm.c.type = out;
  gemm.accum = accum;
  return gemm;
}

/// Returns a problem with the tolerance of the fake's truncating stores.
Problem typed_problem(const Gemm& gemm) {
  Problem problem = gemm_problem(gemm, 7);
  Argument& output = problem.arguments[2];
  float largest = 0;
  for (const float value : floats_of(output.expected_as, output.expected))
    largest = std::max(largest, std::fabs(value));
  const DType out = gemm.c.type;
  const double unit_roundoff = out == DType::kF16 ? 0x1p-10 : out == DType::kBF16 ? 0x1p-7 : 0x1p-20;
  output.absolute = unit_roundoff * largest;
  return problem;
}

class CublasLtOnFakes : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.cuda = {LEHR_FAKE_CUDA_DRIVER, LEHR_FAKE_CUDA_DRIVER};
    options_.paths = {"libno_such_cublaslt.so.13", LEHR_FAKE_CUBLASLT};
    driver_ = dlopen(LEHR_FAKE_CUDA_DRIVER, RTLD_NOW | RTLD_LOCAL);
    library_ = dlopen(LEHR_FAKE_CUBLASLT, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(driver_ != nullptr && library_ != nullptr) << dlerror();
    function<void(std::size_t)>(driver_, "fake_cuda_reset")(std::size_t{1} << 30);
    offer({FakeAlgorithm{}});
  }

  template <typename Signature>
  static Signature* function(void* library, const char* name) {
    return reinterpret_cast<Signature*>(dlsym(library, name));
  }
  void offer(const std::vector<FakeAlgorithm>& algorithms) {
    function<void(const std::vector<FakeAlgorithm>*)>(library_, "fake_cublaslt_reset")(&algorithms);
  }
  const FakeLtCounts& counts() {
    return *function<const FakeLtCounts*()>(library_, "fake_cublaslt_counts")();
  }
  /// Returns the note of a right result, else the fault's text.
  template <typename R>
  std::string checked(R& runner) {
    const auto result = runner.check(0);
    if (const auto* fault = std::get_if<Fault>(&result)) return "FAULT " + fault->failure.text;
    return std::get<Checked>(result).note;
  }

  CublasLtOptions options_;
  void* driver_ = nullptr;
  void* library_ = nullptr;
};

TEST_F(CublasLtOnFakes, AgreesWithTheReferenceInAllLayoutsAndTypes) {
  struct Types {
    DType in, out, accum;
  };
  // With row-major declarations faster, "best" takes the other order of the operands. Calls are long, so few
  // of them fill a sample.
  for (const double row_order_us : {4000.0, 1000.0}) {
    offer({FakeAlgorithm{.us = 2000, .row_order_us = row_order_us}});
    for (const Types& types :
         {Types{DType::kF32, DType::kF32, DType::kF32}, Types{DType::kF16, DType::kF16, DType::kF32},
          Types{DType::kF16, DType::kF32, DType::kF32}, Types{DType::kF16, DType::kF16, DType::kF16},
          Types{DType::kBF16, DType::kBF16, DType::kF32}, Types{DType::kBF16, DType::kF32, DType::kF32},
          Types{DType::kF64, DType::kF64, DType::kF64}}) {
      for (int layout = 0; layout < 8; ++layout) {
        for (const auto& [m, n, k, batch] :
             {std::tuple{7, 5, 3, 1}, {1, 33, 17, 1}, {13, 1, 9, 3}, {12, 20, 31, 2}}) {
          SCOPED_TRACE(
              fmt::format("m={} n={} k={} batch={} layout={} {}", m, n, k, batch, layout, name_of(types.in)));
          const Problem problem =
              typed_problem(typed(gemm_of(m, n, k, batch, layout), types.in, types.out, types.accum));
          CublasLtRunner first(options_);
          first.prepare(problem, {});
          EXPECT_THAT(checked(first), ::testing::StartsWith("cuBLASLt 13.1.0, heuristic 0: algorithm 0"));
          CublasLtRunner best(options_, true);
          best.prepare(problem, {});
          EXPECT_EQ(checked(best).find("with row-major matrices") != std::string::npos, row_order_us < 2000)
              << checked(best);
        }
      }
    }
  }
}

TEST_F(CublasLtOnFakes, ScalesByAlphaInTheTypeOfTheSums) {
  for (const DType type : {DType::kF32, DType::kF64, DType::kF16}) {
    Gemm gemm = typed(gemm_of(7, 5, 3, 2, 1), type, type, type);
    gemm.alpha = -0.375F;
    CublasLtRunner runner(options_);
    runner.prepare(typed_problem(gemm), {});
    EXPECT_THAT(checked(runner), HasSubstr("heuristic 0")) << name_of(type);
    gemm.alpha = 1;
    Problem unscaled = typed_problem(gemm);
    gemm.alpha = -0.375F;
    unscaled.text = to_text({gemm, {}});
    runner.prepare(unscaled, {});
    EXPECT_THAT(checked(runner), HasSubstr("FAULT")) << name_of(type);
  }
  Gemm gemm = typed(gemm_of(7, 5, 3), DType::kF16, DType::kF16, DType::kF16);
  gemm.alpha = 0.1F;
  CublasLtRunner runner(options_);
  EXPECT_EQ(error_of([&] { runner.prepare(typed_problem(gemm), {}); }),
            "cublaslt would round alpha=0.1 to the type of the sums, f16");
}

TEST_F(CublasLtOnFakes, MultipliesIntegersWhereTheLibraryHasKernels) {
  // Row-major A, column-major B: k is contiguous in both.
  Gemm gemm = typed(gemm_of(7, 12, 8, 2, 2), DType::kS8, DType::kS32, DType::kS32);
  CublasLtRunner runner(options_);
  runner.prepare(typed_problem(gemm), {});
  EXPECT_THAT(checked(runner), HasSubstr("heuristic 0"));
  gemm.k = 9;
  EXPECT_THAT(
      error_of([&] { runner.prepare(typed_problem(gemm), {}); }),
      ::testing::StartsWith("cublaslt has no kernel for s8 x s8 -> s32 in these layouts and sizes; it "
                            "multiplies s8 only with row-major A and column-major B, and with k and "
                            "the contiguous extent of C multiples of 4: CUBLAS_STATUS_NOT_SUPPORTED"));
}

TEST_F(CublasLtOnFakes, MultipliesEightBitFloatsWhereTheLibraryHasKernels) {
  for (const auto& [a, b] :
       {std::pair{DType::kE4M3, DType::kE4M3}, {DType::kE4M3, DType::kE5M2}, {DType::kE5M2, DType::kE4M3}}) {
    for (const int layout : {2, 6}) {  // row-major A and column-major B, either C
      for (const DType out : {DType::kF32, DType::kBF16}) {
        Gemm gemm = typed(gemm_of(16, 8, 32, 2, layout), a, out);
        gemm.b.type = b;
        const Problem problem = typed_problem(gemm);
        CublasLtRunner runner(options_);
        runner.prepare(problem, {});
        EXPECT_THAT(checked(runner), HasSubstr("heuristic 0")) << name_of(a) << name_of(b) << layout;
      }
    }
  }
  const Problem refused = typed_problem(typed(gemm_of(16, 8, 32), DType::kE4M3, DType::kF32));
  CublasLtRunner runner(options_);
  EXPECT_THAT(error_of([&] { runner.prepare(refused, {}); }),
              HasSubstr("it multiplies 8-bit floats only with row-major A and column-major B"));
}

TEST(LtGemm, KeepsSumsOfEightBitFloatsInTheTensorCoreOnlyWithPermission) {
  Gemm gemm = typed(gemm_of(16, 8, 32, 1, 2), DType::kE4M3, DType::kF32);
  EXPECT_TRUE(lt_gemm({gemm, {}}, false).fast_accumulation);
  gemm.math = Math::kTwoLevel;
  EXPECT_FALSE(lt_gemm({gemm, {}}, false).fast_accumulation);
  EXPECT_FALSE(lt_gemm({gemm_of(7, 5, 3), {}}, false).fast_accumulation);  // f32
}

TEST_F(CublasLtOnFakes, AsksForFastAccumulationOnlyWithPermission) {
  for (const bool permitted : {true, false}) {
    Gemm gemm = typed(gemm_of(16, 8, 32, 1, 2), DType::kE4M3, DType::kF32);
    if (!permitted) gemm.math = Math::kTwoLevel;
    CublasLtRunner runner(options_);
    runner.prepare(typed_problem(gemm), {});
    EXPECT_EQ(counts().fast_accumulation, permitted ? 1 : 0);
  }
}

TEST_F(CublasLtOnFakes, NamesTypesThatItHasNoCallFor) {
  CublasLtRunner runner(options_);
  const auto refusal = [&](const Gemm& gemm, const char* epilogue) {
    Problem problem = gemm_problem(gemm);
    problem.text = to_text({gemm, parse_epilogue(epilogue)});
    return error_of([&] { runner.prepare(problem, {}); });
  };
  EXPECT_EQ(refusal(typed(gemm_of(4, 4, 4), DType::kU8, DType::kS32, DType::kS32), "none"),
            "cublaslt has no call for u8 operands");
  EXPECT_EQ(refusal(gemm_of(4, 4, 4), "relu"), "cublaslt has no call that computes this problem");
}

TEST_F(CublasLtOnFakes, TakesTheHeuristicsFirstAnswerWithin32MiB) {
  offer({{.us = 50, .workspace_bytes = 33 << 20}, {.us = 40, .workspace_bytes = 1 << 20}, {.us = 5}});
  CublasLtRunner runner(options_);
  runner.prepare(gemm_problem(gemm_of(7, 5, 3)), {});
  EXPECT_EQ(counts().asked, 1);
  EXPECT_EQ(counts().workspace_bytes, 32 << 20);
  EXPECT_EQ(counts().alignment, 256U);
  EXPECT_THAT(checked(runner),
              HasSubstr("heuristic 0: algorithm 1, tile 1, split-K 2, workspace 1048576 bytes"));
}

TEST_F(CublasLtOnFakes, AddsPartsOfKInTheTypeOfTheSumsWhereTheOutputIsNarrower) {
  CublasLtRunner runner(options_);
  runner.prepare(gemm_problem(gemm_of(7, 5, 3)), {});
  EXPECT_EQ(counts().reductions, 7U);
  runner.prepare(typed_problem(typed(gemm_of(7, 5, 3), DType::kBF16, DType::kBF16)), {});
  EXPECT_EQ(counts().reductions, 2U);
}

TEST_F(CublasLtOnFakes, BestIsTheFastestOfAllThatRunAndAreRight) {
  offer({{.us = 50, .row_order_us = 90},
         {.us = 40, .row_order_us = 90, .workspace_bytes = 200 << 20},
         {.us = 5, .row_order_us = 5, .fails = true},
         {.us = 10, .row_order_us = 12, .wrong = true},
         {.us = 20, .row_order_us = 90, .workspace_bytes = 64 << 20},
         {.us = 1, .row_order_us = 1, .workspace_bytes = 300 << 20}});
  CublasLtRunner runner(options_, true);
  runner.prepare(gemm_problem(gemm_of(7, 5, 3)), {});
  EXPECT_EQ(counts().asked, 100);
  EXPECT_EQ(counts().workspace_bytes, 256 << 20);
  const std::string note = checked(runner);
  EXPECT_THAT(note, HasSubstr("fastest of 10 algorithms (2 faster ones were wrong), heuristic 4"));
  EXPECT_THAT(note, HasSubstr("workspace 67108864 bytes"));
  const auto timed = runner.time(0, {});
  ASSERT_TRUE(std::holds_alternative<Samples>(timed));
  EXPECT_NEAR(std::get<Samples>(timed).us[0], 20, 0.1);
  EXPECT_EQ(counts().first_calls_in_capture, 0);
}

TEST_F(CublasLtOnFakes, AWrongResultIsReportedAsSuch) {
  offer({{.us = 50, .wrong = true}, {.us = 40, .wrong = true}});
  CublasLtRunner runner(options_);
  runner.prepare(gemm_problem(gemm_of(7, 5, 3)), {});
  CublasLtRunner best(options_, true);
  best.prepare(gemm_problem(gemm_of(7, 5, 3)), {});
  for (const auto& result : {runner.check(0), best.check(0)}) {
    ASSERT_TRUE(std::holds_alternative<Fault>(result));
    EXPECT_EQ(std::get<Fault>(result).failure.kind, FailureKind::kWrongResult);
  }
}

TEST_F(CublasLtOnFakes, SaysThatNoAlgorithmRuns) {
  offer({{.fails = true}});
  CublasLtRunner best(options_, true);
  EXPECT_EQ(error_of([&] { best.prepare(gemm_problem(gemm_of(7, 5, 3)), {}); }),
            "none of cublaslt's 2 algorithms for this problem runs");
  CublasLtRunner runner(options_);
  runner.prepare(gemm_problem(gemm_of(7, 5, 3)), {});
  EXPECT_THAT(checked(runner), HasSubstr("FAULT CUBLAS_STATUS_OTHER (a fake status) from cublasLtMatmul"));
}

/// The search is cut behind its first algorithm.
const RunSettings kNoTime = {.search = {.seconds = 1e-9}};

/// Returns settings of a session that knows what another one has found.
RunSettings knowing(const LibraryFinding& finding, double seconds = 0) {
  return {.search = {.seconds = seconds, .known = {finding}}};
}

TEST_F(CublasLtOnFakes, TriesWhatTimeAllowsAndSaysSo) {
  offer({{.us = 50}, {.us = 40}, {.us = 30}});
  CublasLtRunner best(options_, true);
  best.prepare(gemm_problem(gemm_of(7, 5, 3)), kNoTime);
  EXPECT_THAT(checked(best), HasSubstr("cuBLASLt 13.1.0, 1 of 6 algorithms tried, heuristic 0"));
  ASSERT_TRUE(best.finding().has_value());
  EXPECT_EQ(best.finding()->library, "cuBLASLt 13.1.0");
  ASSERT_EQ(best.finding()->lists.size(), 1U);
  EXPECT_EQ(best.finding()->lists[0].tried, 1);
  EXPECT_EQ(best.finding()->lists[0].offered, 6);
  // The first algorithm that runs counts, however long the others took to fail.
  offer({{.fails = true}, {.us = 40}, {.us = 30}});
  best.prepare(gemm_problem(gemm_of(7, 5, 3)), kNoTime);
  EXPECT_THAT(checked(best), HasSubstr("3 of 6 algorithms tried, heuristic 1"));
  CublasLtRunner first(options_);
  first.prepare(gemm_problem(gemm_of(7, 5, 3)), kNoTime);
  EXPECT_FALSE(first.finding().has_value()) << "it searches nothing";
}

TEST_F(CublasLtOnFakes, TimesWhatAnEarlierSearchFoundAndSearchesNothing) {
  const std::vector<FakeAlgorithm> algorithms = {
      {.us = 50, .row_order_us = 90}, {.us = 20, .row_order_us = 90}, {.us = 30, .row_order_us = 90}};
  offer(algorithms);
  const Problem problem = gemm_problem(gemm_of(7, 5, 3));
  CublasLtRunner searcher(options_, true);
  searcher.prepare(problem, {});
  const LibraryFinding found = searcher.finding().value();
  EXPECT_TRUE(found.lists[0].complete());
  EXPECT_GT(counts().outputs.size(), 6U);
  offer(algorithms);
  CublasLtRunner best(options_, true);
  best.prepare(problem, knowing(found));
  EXPECT_EQ(counts().outputs.size(), 1U) << "the call whose result was checked";
  EXPECT_EQ(best.finding(), found);
  EXPECT_THAT(checked(best), HasSubstr("fastest of 6 algorithms by an earlier search, heuristic 1"));
  const auto timed = best.time(0, {});
  EXPECT_NEAR(std::get<Samples>(timed).us[0], 20, 0.1);
}

TEST_F(CublasLtOnFakes, SearchesAgainWhatIsNotSoAnyMore) {
  offer({{.us = 50, .row_order_us = 90}, {.us = 20, .row_order_us = 90}});
  const Problem problem = gemm_problem(gemm_of(7, 5, 3));
  CublasLtRunner searcher(options_, true);
  searcher.prepare(problem, {});
  const LibraryFinding found = searcher.finding().value();
  const auto note_with = [&](auto change) {
    LibraryFinding changed = found;
    change(changed);
    CublasLtRunner best(options_, true);
    best.prepare(problem, knowing(changed));
    return checked(best);
  };
  const auto searched = HasSubstr("fastest of 4 algorithms, heuristic 1");
  EXPECT_THAT(note_with([](LibraryFinding&) {}), HasSubstr("by an earlier search"));
  EXPECT_THAT(note_with([](LibraryFinding& f) { f.library = "cuBLASLt 13.0.0"; }), searched);
  EXPECT_THAT(note_with([](LibraryFinding& f) { ++f.lists[0].mark; }), searched);
  EXPECT_THAT(note_with([](LibraryFinding& f) { f.lists[0].algorithm = 0; }), searched);
  EXPECT_THAT(note_with([](LibraryFinding& f) { f.lists[0].algorithm = -1; }), searched);
  EXPECT_THAT(note_with([](LibraryFinding& f) { f.lists[0].algorithm = std::int64_t{1} << 60; }), searched);
  EXPECT_THAT(note_with([](LibraryFinding& f) { f.lists[0].offered = f.lists[0].tried = 5; }), searched);
  EXPECT_THAT(note_with([](LibraryFinding& f) { f.lists.clear(); }), searched);
  offer({{.us = 50, .row_order_us = 90}, {.us = 20, .row_order_us = 90, .wrong = true}});
  EXPECT_THAT(note_with([](LibraryFinding&) {}),
              HasSubstr("fastest of 4 algorithms (1 faster one was wrong), heuristic 0"));
  offer({{.us = 50, .row_order_us = 90}, {.us = 20, .row_order_us = 90, .fails = true}});
  EXPECT_THAT(note_with([](LibraryFinding&) {}), HasSubstr("fastest of 4 algorithms, heuristic 0"));
}

TEST_F(CublasLtOnFakes, GoesOnWithASearchThatWasCut) {
  offer({{.us = 50, .row_order_us = 90}, {.us = 40, .row_order_us = 90}, {.us = 60, .row_order_us = 90}});
  const Problem problem = gemm_problem(gemm_of(7, 5, 3));
  CublasLtRunner best(options_, true);
  best.prepare(problem, kNoTime);
  LibraryFinding found = best.finding().value();
  found.lists[0].tried = 4;  // the first of them was the fastest
  best.prepare(problem, knowing(found, 1e-9));
  EXPECT_EQ(best.finding(), found) << "no time to go on";
  EXPECT_THAT(checked(best), HasSubstr("4 of 6 algorithms tried, heuristic 0"));
  best.prepare(problem, knowing(found));
  EXPECT_THAT(checked(best), HasSubstr("fastest of 6 algorithms, heuristic 0"));
  EXPECT_TRUE(best.finding()->lists[0].complete());
}

TEST_F(CublasLtOnFakes, KeepsNoFindingWhereNoWayIsRight) {
  offer({{.us = 50, .wrong = true}});
  CublasLtRunner best(options_, true);
  best.prepare(gemm_problem(gemm_of(7, 5, 3)), {});
  EXPECT_FALSE(best.finding().has_value());
}

TEST_F(CublasLtOnFakes, IsTimedAsOurKernelsAre) {
  offer({{.us = 15.625}});  // exact in the float that the events give
  CublasLtRunner runner(options_);
  runner.prepare(gemm_problem(gemm_of(16, 16, 16)), {});
  checked(runner);
  const std::size_t before = counts().outputs.size();
  const auto timed = runner.time(0, {});
  ASSERT_TRUE(std::holds_alternative<Samples>(timed));
  const Samples& samples = std::get<Samples>(timed);
  EXPECT_EQ(samples.us[0], 15.625);
  // Calls are captured: once to warm up, then as many as fill a millisecond, each on the next set of tensors.
  const std::vector<const void*> outputs(counts().outputs.begin() + static_cast<std::ptrdiff_t>(before),
                                         counts().outputs.end());
  EXPECT_EQ(outputs.size(), 1U + 64U);
  EXPECT_EQ(std::set<const void*>(outputs.begin() + 1, outputs.end()).size(), 64U);
  ASSERT_TRUE(samples.gpu.has_value());
  EXPECT_EQ(samples.gpu->sm_mhz, 1755);  // not 345, that of an idle GPU
  EXPECT_EQ(samples.gpu->power_w, 690.5);
  EXPECT_EQ(samples.gpu->temperature_c, 64);
}

TEST_F(CublasLtOnFakes, DestroysWhatItMade) {
  {
    CublasLtRunner runner(options_, true);
    runner.prepare(gemm_problem(gemm_of(7, 5, 3, 2, 3)), {});
    runner.prepare(gemm_problem(gemm_of(8, 5, 3)), {});
    EXPECT_GT(counts().objects, 0);
  }
  EXPECT_EQ(counts().objects, 0);
  EXPECT_EQ(function<int()>(driver_, "fake_cuda_allocations")(), 0);
}

TEST_F(CublasLtOnFakes, TakesNoPermissionFromTheEnvironment) {
  setenv("NVIDIA_TF32_OVERRIDE", "1", 1);
  setenv("CUBLAS_EMULATE_SINGLE_PRECISION", "1", 1);
  CublasLtRunner runner(options_);
  runner.prepare(gemm_problem(gemm_of(7, 5, 3)), {});
  EXPECT_EQ(getenv("NVIDIA_TF32_OVERRIDE"), nullptr);
  EXPECT_EQ(getenv("CUBLAS_EMULATE_SINGLE_PRECISION"), nullptr);
}

TEST_F(CublasLtOnFakes, SaysWhatIsMissing) {
  const Problem problem = gemm_problem(gemm_of(7, 5, 3));
  CublasLtOptions without = options_;
  without.paths = {"libno_such_cublaslt.so.13"};
  CublasLtRunner no_library(without);
  EXPECT_THAT(error_of([&] { no_library.prepare(problem, {}); }),
              HasSubstr("libcublasLt.so.13 (or .12) was not found: install"));
  without.paths = {LEHR_FAKE_CUDA_DRIVER};
  CublasLtRunner other_library(without);
  EXPECT_THAT(error_of([&] { other_library.prepare(problem, {}); }), HasSubstr("has no function cublasLt"));
  without = options_;
  without.cuda.driver = "libno_such_driver.so.1";
  CublasLtRunner no_driver(without);
  EXPECT_THAT(error_of([&] { no_driver.prepare(problem, {}); }),
              HasSubstr("libno_such_driver.so.1 was not found"));
}

TEST(LtGemm, RowMajorMatricesAreTheTransposedProblem) {
  const LtGemm call = lt_gemm({gemm_of(7, 5, 3), {}}, false);
  EXPECT_TRUE(call.swapped);
  EXPECT_FALSE(call.transpose_first || call.transpose_second || call.row_order);
  EXPECT_EQ(call.first, (LtMatrix{0, 5, 3, 5, 15}));   // B^T, columns of 5
  EXPECT_EQ(call.second, (LtMatrix{0, 3, 7, 3, 21}));  // A^T, columns of 3
  EXPECT_EQ(call.d, (LtMatrix{0, 5, 7, 5, 35}));
}

TEST(LtGemm, OperandsThatAreContiguousInKAreTheLibrarysTnFormat) {
  for (const bool c_column_major : {false, true}) {
    const LtGemm call = lt_gemm({gemm_of(7, 5, 3, 1, c_column_major ? 6 : 2), {}}, false);
    EXPECT_EQ(call.swapped, !c_column_major);
    EXPECT_TRUE(call.transpose_first);
    EXPECT_FALSE(call.transpose_second);
  }
}

TEST(LtGemm, RoundsToTf32OnlyWithPermission) {
  Gemm gemm = gemm_of(7, 5, 3);
  EXPECT_EQ(lt_gemm({gemm, {}}, false).compute, 68);  // CUBLAS_COMPUTE_32F
  gemm.math = Math::k3xTf32;
  EXPECT_EQ(lt_gemm({gemm, {}}, false).compute, 68);
  gemm.math = Math::kTf32;
  EXPECT_EQ(lt_gemm({gemm, {}}, false).compute, 77);  // CUBLAS_COMPUTE_32F_FAST_TF32
}

TEST(CublasLt, TheInstalledLibraryHasAllFunctions) {
  std::string why_not;
  const auto library = CublasLt::open(cublaslt_paths(), why_not);
  if (!library) {
    EXPECT_THAT(why_not, HasSubstr("was not found"));
    GTEST_SKIP() << why_not;
  }
  EXPECT_THAT(library->version(), ::testing::MatchesRegex("1[23]\\.[0-9]+\\.[0-9]+"));
  const LtStatus started = library->start();
  if (!started.ok()) {
    EXPECT_THAT(library->text_of(started),
                ::testing::MatchesRegex("CUBLAS_STATUS_[A-Z_]+ \\(.+\\) from cublasLtCreate"));
  }
}

}  // namespace
}  // namespace lehr::cublaslt
