// A compiler that hangs, and leaves processes in sessions of their own: interrupts, kills, and where its
// files go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "support.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLong =
    "tune gemm --m 24 --n 20 --k 16 --device cpu --threads 1 --no-baseline --time 60s --db own.db";

/// The system's compiler for three sources, then one that hangs, beside a process in a session of its own;
/// the numbers of both are in `pids`.
std::string hanging_compiler(const std::filesystem::path& folder) {
  const std::string path = folder / "hanging", pids = folder / "pids", count = folder / "count";
  std::ofstream(path) << "#!/bin/bash\n"
                         "for word in \"$@\"; do if [[ $word == *.cpp ]]; then\n  echo >> "
                      << count
                      << "\n"
                         "  if (($(wc -l < "
                      << count
                      << ") > 3)); then\n"
                         "    setsid bash -c 'echo $$ >> "
                      << pids
                      << "; exec sleep 600' &\n"
                         "    echo $$ >> "
                      << pids << "; exec sleep 600\n  fi\nfi; done\nexec c++ \"$@\"\n";
  EXPECT_EQ(chmod(path.c_str(), 0700), 0);
  return "CXX=" + path;
}

std::vector<int> hung(const std::filesystem::path& folder) {
  std::vector<int> pids;
  std::ifstream file(folder / "pids");
  for (int pid; file >> pid;) pids.push_back(pid);
  return pids;
}

bool is_gone(int pid) {
  for (int waited = 0; waited < 1000; ++waited) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    if (!(file >> number >> name >> state) || state == "Z") return true;
    usleep(10'000);
  }
  return false;
}

TEST(Processes, AnInterruptDoesNotWaitForACompilerThatHangs) {
  const Scratch scratch;
  using Clock = std::chrono::steady_clock;
  Clock::time_point asked{};
  const Ran ran = run_lehr(words(kLong), scratch.path(),
                           [&](int lehr, const std::string&) {
                             if (asked != Clock::time_point{} || hung(scratch.path()).size() < 2) return;
                             asked = Clock::now();
                             kill(lehr, SIGINT);
                           },
                           {hanging_compiler(scratch.path())});
  EXPECT_EQ(ran.code, 130) << ran.err;
  // The compiler's own limit is 60 s.
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - asked).count(), 20);
  for (const int pid : hung(scratch.path())) EXPECT_TRUE(is_gone(pid)) << pid;
  // What was cut off is no trial.
  const Ran dumped = run_lehr(words("db dump own.db"), scratch.path());
  EXPECT_THAT(dumped.out, HasSubstr("\"timing\""));
  EXPECT_EQ(dumped.out.find("interrupted"), std::string::npos) << dumped.out;
}

TEST(Processes, NothingOutlivesAKill) {
  const Scratch scratch;
  const Ran ran = run_lehr(words(kLong), scratch.path(),
                           [&](int lehr, const std::string&) {
                             if (hung(scratch.path()).size() >= 2) kill(lehr, SIGKILL);
                           },
                           {hanging_compiler(scratch.path())});
  EXPECT_EQ(ran.code, 1000 + SIGKILL) << ran.err;
  const std::vector<int> pids = hung(scratch.path());
  ASSERT_GE(pids.size(), 2U);
  for (const int pid : pids) EXPECT_TRUE(is_gone(pid)) << pid;
}

TEST(Processes, ScratchIsWhereItIsWanted) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path() / "here");
  std::string compiler = scratch.path() / "noting";
  std::ofstream(compiler) << "#!/bin/bash\necho \"$@\" >> " << (scratch.path() / "lines").string()
                          << "\nexec c++ \"$@\"\n";
  ASSERT_EQ(chmod(compiler.c_str(), 0700), 0);
  const Ran ran =
      run_lehr(words("tune gemm --m 8 --n 8 --k 8 --device cpu --threads 1 --trials 1 --no-baseline "
                     "--run-timeout 5s --scratch here --db own.db"),
               scratch.path(), {}, {"CXX=" + compiler});
  EXPECT_EQ(ran.code, 0) << ran.err;
  std::ifstream lines(scratch.path() / "lines");
  std::string text((std::istreambuf_iterator<char>(lines)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr("-o here/lehr-"));
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path() / "here")) << "something was left";
  const Ran nowhere =
      run_lehr(words("tune gemm --m 8 --n 8 --k 8 --scratch nowhere --db other.db"), scratch.path());
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("name a writable one with --scratch or TMPDIR"));
}

}  // namespace
}  // namespace lehr::testing
