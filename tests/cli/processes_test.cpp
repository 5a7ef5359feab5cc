// Tests with a compiler that hangs, and leaves processes in sessions of their own: interrupts, kills, and
// where its files go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "database/database.h"
#include "support.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLong =
    "tune gemm --m 24 --n 20 --k 16 --device cpu --threads 1 --no-baseline --time 60s --db own.db";

/// Returns a compiler that is the system's for three sources and then hangs, beside a process in a session of
/// its own. It writes the numbers of both processes to `pids`.
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
  // A compilation that was cut off is no trial.
  const std::vector<Record> rows = Database::open_read_only(scratch.path() / "own.db").all({});
  EXPECT_FALSE(rows.empty());
  for (const Record& row : rows) EXPECT_TRUE(row.time_us()) << std::get<Failure>(row.outcome).text;
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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // theirs have to be loaded first
/// Runs `lehr check` under a tool that follows all processes, and returns the lines that the tool wrote.
std::vector<std::string> followed_check(const std::vector<std::string>& environment) {
  const Scratch scratch;
  const std::filesystem::path log = scratch.path() / "followed";
  std::vector<std::string> all = {"LD_PRELOAD=" LEHR_FOLLOWER, "FOLLOWER_LOG=" + log.string()};
  all.insert(all.end(), environment.begin(), environment.end());
  const Ran ran = run_lehr(words("check gemm --m 24 --n 20 --k 16 --device cpu --threads 1 --samples 2"),
                           scratch.path(), {}, all);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("right"));
  std::vector<std::string> lines;
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::ptrdiff_t lines_with(const std::vector<std::string>& lines, const std::string& begin) {
  return std::count_if(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.rfind(begin + " ", 0) == 0; });
}

/// Returns the "spawned PID" of `lehr` itself, whose "started PID PARENT" is the first line.
std::string spawned_by_first(const std::vector<std::string>& lines) {
  return "spawned " + lines[0].substr(0, lines[0].rfind(' ')).substr(lines[0].find(' ') + 1);
}

TEST(Processes, CanBeFollowedByATool) {
  const std::vector<std::string> lines = followed_check({});
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines_with(lines, "forked"), 0);
  EXPECT_EQ(lines_with(lines, spawned_by_first(lines)), 1) << "the supervisor";
  EXPECT_GE(lines_with(lines, "spawned"), 3) << "a compiler and a worker, by that one";
}

TEST(Processes, AreStartedDirectlyWhereNoSupervisorIsWanted) {
  const std::vector<std::string> lines = followed_check({"LEHR_SUPERVISOR=none"});
  EXPECT_EQ(lines_with(lines, "forked"), 0);
  ASSERT_FALSE(lines.empty());
  EXPECT_GE(lines_with(lines, spawned_by_first(lines)), 2) << "a compiler and a worker";
}
#endif

TEST(Processes, AnUnknownWayToSuperviseIsRefused) {
  const Scratch scratch;
  const Ran ran = run_lehr(words("--version"), scratch.path(), {}, {"LEHR_SUPERVISOR=off"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "lehr: LEHR_SUPERVISOR is 'off': 'none' is all that it can be\n");
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
