// Tests that what is printed is written, or that the command fails and says so; of signals; and of what may
// reach a terminal.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "support.h"

namespace lehr::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kTuneOnce =
    "tune gemm --m 8 --n 8 --k 8 --device cpu --threads 1 --trials 1 --no-baseline";

/// Returns the exit code of a line of a shell, in which $LEHR is the program.
int code_of(const std::string& line, const std::filesystem::path& directory) {
  const std::string command = fmt::format("cd '{}'; LEHR='{}'; {}", directory.string(), LEHR_PROGRAM, line);
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Returns commands that print, of a folder with a log and a table.
std::vector<std::string> printing(const Scratch& scratch) {
  record_log(scratch.path() / "log.db", "gemm m=8 n=8 k=8", 1);
  return {"best --db log.db",
          "best --db log.db --json",
          "db stats log.db",
          "db stats log.db --json",
          "db verify log.db",
          "doctor",
          "doctor --json",
          "show gemm --m 8 --n 8 --k 8 --db log.db",
          "tune --help",
          "--version",
          "show gemm --m 8 --n 8 --k 8 --db log.db --as source",
          std::string(kTuneOnce) + " --db log.db --quiet"};
}

TEST(Streams, AFullOrClosedStdoutIsAFailureAndAClosedPipeAnEnd) {
  const Scratch scratch;
  for (const std::string& command : printing(scratch)) {
    for (const char* where : {">/dev/full", ">&-"}) {
      EXPECT_EQ(code_of(fmt::format("$LEHR {} {} 2>err", command, where), scratch.path()), 2)
          << command << where;
      EXPECT_THAT(text_of(scratch.path() / "err"),
                  HasSubstr("lehr: what it prints cannot be written to stdout"))
          << command << where;
    }
    // A reader that has gone away.
    EXPECT_EQ(
        code_of(fmt::format("(sleep 0.2; $LEHR {} 2>err; echo $? >code) | true", command), scratch.path()),
        0);
    EXPECT_EQ(text_of(scratch.path() / "code"), "141\n") << command;  // 128 + SIGPIPE
    EXPECT_EQ(text_of(scratch.path() / "err"), "") << command;
  }
  EXPECT_EQ(code_of("$LEHR db verify log.db >out", scratch.path()), 0);
  EXPECT_EQ(code_of("($LEHR show gemm --m 8 --n 8 --k 8 --db log.db --as features 2>err; echo $? >code) | "
                    "head -n 1 >out",
                    scratch.path()),
            0);
  EXPECT_THAT(text_of(scratch.path() / "out"), HasSubstr("// workload: gemm m=8"));
  EXPECT_EQ(text_of(scratch.path() / "err"), "");
  // Nobody reads what is said beside the result.
  EXPECT_EQ(code_of("($LEHR tune gemm --m 8 --n 8 --k 9 --device cpu --threads 1 --trials 2 --no-baseline "
                    "--db log.db >out; echo $? >code) 2>&1 | true",
                    scratch.path()),
            0);
  EXPECT_EQ(text_of(scratch.path() / "code"), "0\n");
}

TEST(Streams, ClosedDescriptorsAreTakenByNoFile) {
  const Scratch scratch;
  EXPECT_EQ(code_of(std::string("$LEHR ") + kTuneOnce + " --db log.db >out 2>&-", scratch.path()), 0);
  EXPECT_EQ(code_of(std::string("$LEHR ") + kTuneOnce + " --db closed.db >&- 2>&- <&-", scratch.path()), 2);
  EXPECT_EQ(code_of("$LEHR db verify closed.db >out", scratch.path()), 0);
  EXPECT_EQ(code_of("$LEHR best --no-such-flag 2>&-", scratch.path()), 1);
  EXPECT_EQ(code_of("$LEHR best --no-such-flag 2>/dev/full", scratch.path()), 1);
}

TEST(Streams, WhatIsSaidBesideTheResultMayBeLost) {
  const Scratch scratch;
  std::ofstream(scratch.path() / "some.txt") << "gemm m=8 n=8 k=8\nno problem\n";
  EXPECT_EQ(
      code_of(
          "$LEHR tune --problems some.txt --device cpu --threads 1 --trials 2 --no-baseline --db log.db >out "
          "2>/dev/full",
          scratch.path()),
      0);
  EXPECT_EQ(code_of("$LEHR replay log.db --seeds 1 >out 2>/dev/full", scratch.path()), 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Streams, WhereMemoryRunsOutACommandSaysSo) {
  const Scratch scratch;
  std::string table = R"({"device_name": "d", "kernel_name": "k", "tune_params_keys": ["a"], "cache": {)";
  for (int i = 0; i < 400'000; ++i)
    table += fmt::format("{}\"{}\": {{\"a\": {}, \"time\": 2.0}}", i == 0 ? "" : ", ", i, i % 1000);
  std::ofstream(scratch.path() / "large.json") << table << "}}";
  int refused = 0;
  for (int kilobytes = 180'000; kilobytes <= 300'000; kilobytes += 20'000) {
    const std::string line =
        fmt::format("ulimit -v {}; $LEHR replay large.json --trials 2 --seeds 1 >out 2>err", kilobytes);
    const int code = code_of(line, scratch.path());
    if (code == 0) continue;
    ++refused;
    EXPECT_EQ(code, 2) << kilobytes << text_of(scratch.path() / "err");
    EXPECT_THAT(text_of(scratch.path() / "err"), HasSubstr("lehr: there is not enough memory")) << kilobytes;
  }
  EXPECT_GT(refused, 0);
}
#endif

TEST(Streams, AHangUpIsAnInterruptUnlessItWasIgnored) {
  const Scratch scratch;
  const std::string tune =
      "tune gemm --m 24 --n 20 --k 16 --device cpu --threads 1 --time 60s --no-baseline --quiet";
  EXPECT_EQ(code_of("$LEHR " + tune +
                        " >out 2>err & until [ -e lehr.db ]; do sleep 0.05; done; kill -HUP $!; sleep 0.1; "
                        "kill -HUP $! 2>/dev/null; wait $!; exit $?",
                    scratch.path()),
            130);
  EXPECT_EQ(
      code_of(
          "nohup $LEHR tune gemm --m 24 --n 20 --k 16 --device cpu --threads 1 --trials 2 --no-baseline"
          " --quiet --db n.db >out 2>err & until [ -e n.db ]; do sleep 0.05; done; kill -HUP $!; wait $!; "
          "exit $?",
          scratch.path()),
      0);
}

TEST(Places, APipeIsNoLog) {
  const Scratch scratch;
  for (const char* command : {"tune gemm --m 8 --n 8 --k 8 --trials 1 --db pipe", "best --db pipe",
                              "db verify pipe", "db salvage pipe out.db", "db merge out.db pipe"})
    EXPECT_EQ(code_of(fmt::format("rm -f pipe; mkfifo pipe; timeout 20 $LEHR {} >out 2>err", command),
                      scratch.path()),
              1)
        << command << text_of(scratch.path() / "err");
  EXPECT_THAT(text_of(scratch.path() / "err"),
              HasSubstr("'pipe' is a pipe; the name of a database file is needed"));
}

TEST(Places, ADirectoryThatIsGoneIsNamed) {
  const Scratch scratch;
  const std::string in_a_lost_one = "mkdir gone && cd gone && rmdir ../gone && ";
  for (const char* command : {"tune gemm --m 8 --n 8 --k 8 --trials 1", "best", "db verify some.db"}) {
    EXPECT_THAT(code_of(in_a_lost_one + "$LEHR " + command + " 2>" + (scratch.path() / "err").string(),
                        scratch.path()),
                AnyOf(1, 2));
    EXPECT_THAT(text_of(scratch.path() / "err"), HasSubstr("the directory that this was started in is gone"))
        << command;
  }
}

// Only root may mount.
TEST(Places, AReadOnlySystemIsNamed) {
  const Scratch scratch;
  const std::string mounted =
      "mkdir place && unshare --mount --propagation private sh -c 'mount -t tmpfs none place && "
      "mount -o remount,ro place && ";
  if (code_of(mounted + "true' 2>err", scratch.path()) != 0) GTEST_SKIP() << "nothing can be mounted here";
  std::filesystem::remove(scratch.path() / "place");
  EXPECT_EQ(code_of("export LEHR; " + mounted +
                        "$LEHR tune gemm --m 8 --n 8 --k 8 --trials 1 --db place/own.db' 2>err",
                    scratch.path()),
            2);
  EXPECT_THAT(text_of(scratch.path() / "err"), HasSubstr("cannot be opened: Read-only file system"));
}

TEST(Printable, NothingOfAFileSteersATerminal) {
  EXPECT_EQ(printable("a\x1b[31mred\x07\x7f\r\n"), "a?[31mred????");
  EXPECT_EQ(printable("C1 \xc2\x9b 8-bit \x9b"), "C1 ? 8-bit ?");
  EXPECT_EQ(printable("bidi \xe2\x80\xae \xe2\x81\xa6 \xd8\x9c \xe2\x80\x8f"), "bidi ? ? ? ?");
  EXPECT_EQ(printable("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"), "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\xc0\xaf \xed\xa0\x80 \xe2\x82"), "?? ??? ??");
  EXPECT_EQ(printable_lines("one\ntwo\x1b\n"), "one\ntwo?\n");
  const std::string shown = printable_lines(std::string(100'000, 'x'));
  EXPECT_EQ(shown.size(), 3000 + std::string(" ... (97000 bytes left out) ... ").size());
}

TEST(Printable, NotesAreSo) {
  const Scratch scratch;
  std::ofstream(scratch.path() / "some.txt") << "gemm m=8 n=8 k=8\nno\x1b[31m problem\n";
  const Ran ran = run_lehr(
      words("tune --problems some.txt --device cpu --threads 1 --trials 1 --no-baseline"), scratch.path());
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("no?[31m"));
  EXPECT_EQ(ran.err.find('\x1b'), std::string::npos) << ran.err;
}

TEST(Printable, ErrorsAreSo) {
  const Scratch scratch;
  const Ran ran = run_lehr({"tune", "gemm", "--m", "\x1b]0;title\x07"}, scratch.path());
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err.find('\x1b'), std::string::npos) << ran.err;
  const Ran long_one = run_lehr({"tune", "gemm", "--m", std::string(100'000, '7')}, scratch.path());
  EXPECT_EQ(long_one.code, 1);
  EXPECT_LT(long_one.err.size(), 5000u);
}

}  // namespace
}  // namespace lehr::testing
