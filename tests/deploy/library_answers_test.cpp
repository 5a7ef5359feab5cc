// Tests of what `lehr bench --bundle` asks of an exported library, and of its kernels for processors as a
// participant.
#include "deploy/library_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/error.h"
#include "measure/core/runner.h"
#include "measure/system/affinity.h"
#include "measure/system/temp_dir.h"
#include "measure/worker/baselines.h"
#include "tests/support/problem_for.h"

namespace lehr {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRange = "gemm m=5 n=8 k=4 b=f32:row:constant";

LibraryAnswer answer_for(const char* workload, int threads) {
  Limits limits;
  limits.cores = threads;
  return library_answer(LEHR_BY_HAND, parse_workload(workload), limits, 0);
}

/// Returns the kind and the sentence of the Error that `call` throws.
template <typename Call>
std::pair<ErrorKind, std::string> thrown_by(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {ErrorKind::kInternal, "nothing"};
}

TEST(LibraryAnswers, ListsAllFunctionsAndWhyOneDoesNotRun) {
  const std::vector<LibraryAnswer> all = library_answers(LEHR_BY_HAND);
  ASSERT_EQ(all.size(), 10u);
  EXPECT_EQ(all[0].function, "kernels_four");
  EXPECT_EQ(all[0].workload, to_text(parse_workload("gemm m=4 n=8 k=4")));
  EXPECT_EQ(all[0].target, "cpu");
  EXPECT_EQ(all[0].kernel, "by_hand");
  EXPECT_EQ(all[0].arch, "any");
  EXPECT_EQ(all[0].threads, 1u);
  EXPECT_EQ(all[0].time_us, 2);
  EXPECT_EQ(all[0].missing, "");
  EXPECT_THAT(all[1].workload, HasSubstr("m=1..16 "));
  EXPECT_EQ(all[1].threads, 2u) << "the nearest number is told where this machine has fewer";
  EXPECT_EQ(all[1].time_us, 4) << "of the most rows";
  for (const std::size_t i : {6, 7, 8, 9}) {
    EXPECT_EQ(all[i].target, "cuda");
    EXPECT_THAT(all[i].missing, Not(testing::IsEmpty())) << "no GPU takes its image";
  }
}

TEST(LibraryAnswers, TellsTheKernelOfOneWorkload) {
  EXPECT_EQ(answer_for("gemm m=4 n=8 k=4", 1).kind, "exact");
  EXPECT_EQ(answer_for("gemm m=4 n=8 k=4", 3).kind, "other threads");
  const LibraryAnswer range = answer_for(kRange, 2);
  EXPECT_EQ(range.kind, "exact");
  EXPECT_NEAR(range.time_us, 1.8, 1e-9) << "between those of 1 and of 16 rows";
  const auto [kind, text] = thrown_by([] { answer_for("gemm m=17 n=8 k=4 b=f32:row:constant", 1); });
  EXPECT_EQ(kind, ErrorKind::kNotFound);
  EXPECT_THAT(text, AllOf(HasSubstr("no kernel for 'gemm m=17"), HasSubstr("gemm m=1..17 ")));
}

TEST(LibraryAnswers, OpensOneFileOrAFolderWithOne) {
  const auto refused = [](const std::string& path) { return thrown_by([&] { library_answers(path); }); };
  const TempDir scratch;
  const fs::path folder = scratch.path();
  EXPECT_EQ(refused(folder / "none").first, ErrorKind::kUser);
  EXPECT_THAT(refused(folder).second, HasSubstr("holds no lib*.so"));
  fs::copy_file(fs::path(LEHR_BY_HAND) / "libkernels.so", folder / "libkernels.so");
  EXPECT_EQ(library_answers(folder).size(), 10u);
  fs::copy_file(folder / "libkernels.so", folder / "libother.so");
  EXPECT_THAT(refused(folder).second, HasSubstr("name one, as " + (folder / "libkernels.so").string()));
  EXPECT_EQ(library_answers(folder / "libkernels.so").size(), 10u);
  EXPECT_THAT(refused(folder / "libother.so").second, HasSubstr("no function named other_format"));
  fs::copy_file(folder / "libkernels.so", folder / "kernels.so");
  EXPECT_THAT(refused(folder / "kernels.so").second, HasSubstr("is not named libNAME.so"));
  std::ofstream(folder / "libcut.so") << "\177ELF";
  EXPECT_EQ(refused(folder / "libcut.so").first, ErrorKind::kEnvironment);
  EXPECT_THAT(refused(folder / "libcut.so").second, HasSubstr("cannot be loaded: "));
  EXPECT_EQ(refused(LEHR_NEWER).first, ErrorKind::kUser);
  EXPECT_THAT(refused(LEHR_NEWER).second, HasSubstr("is a library of format 99, and this version of lehr"));
}

class Participant : public ::testing::TestWithParam<const char*> {};

TEST_P(Participant, IsCheckedAndTimed) {
  const std::unique_ptr<Runner> runner = find_baseline(bundle_baseline(Target())).baseline->make_runner();
  RunSettings settings;
  settings.bundle = LEHR_BY_HAND;
  for (const int threads : {1, 2}) {
    settings.threads = threads;
    for (const std::uint64_t seed : {1, 2}) {
      runner->prepare(problem_for(parse_workload(GetParam()), seed), settings);
      const std::variant<Checked, Fault> checked = runner->check(0);
      ASSERT_TRUE(std::holds_alternative<Checked>(checked)) << std::get<Fault>(checked).failure.text;
      EXPECT_THAT(std::get<Checked>(checked).note, HasSubstr("by_hand"));
    }
    const std::variant<Samples, Fault> samples = runner->time(0, {});
    ASSERT_TRUE(std::holds_alternative<Samples>(samples));
    EXPECT_FALSE(std::get<Samples>(samples).us.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(OfFixedAndOfToldRows, Participant, ::testing::Values("gemm m=4 n=8 k=4", kRange));

}  // namespace
}  // namespace lehr
