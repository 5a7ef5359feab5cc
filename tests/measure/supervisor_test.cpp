// Tests that whatever happens to a process, the processes that it has started end with it.
#include "measure/system/supervisor.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/version.h"
#include "measure/system/affinity.h"
#include "measure/system/process.h"
#include "measure/system/temp_dir.h"

namespace lehr::testing {
namespace {

bool within_seconds(double seconds, const std::function<bool()>& happened) {
  const Deadline deadline = deadline_in(seconds);
  while (!happened()) {
    if (milliseconds_left(deadline) == 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// True if the process runs. A zombie has ended: nobody here reaps what init gets.
bool runs(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return static_cast<bool>(file >> number >> name >> state) && state != "Z" && state != "X";
}

std::vector<pid_t> numbers_in(const std::string& path) {
  std::ifstream file(path);
  std::vector<pid_t> numbers;
  for (pid_t number = 0; file >> number;) numbers.push_back(number);
  return numbers;
}

/// Writes the numbers of three processes to `path`: of the shell, of a child in a session of its own, and of
/// one there whose parent is gone and whose environment is empty.
SpawnOptions leaves_its_group(const std::string& path) {
  const std::string script = "echo $$ >> " + path + "; setsid sh -c 'echo $$ >> " + path +
                             "; exec sleep 600' & " + "(env -i setsid sh -c 'echo $$ >> " + path +
                             "; exec sleep 600' &); sleep 600";
  return {.command = {"/bin/sh", "-c", script}};
}

/// Does `work` in a process of its own, and returns how that ended.
int in_a_process(const std::function<void()>& work) {
  const pid_t pid = fork();
  if (pid == 0) {
    try {
      work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(99);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

TEST(Supervisor, EndsAllWhenItsParentIsKilled) {
  const TempDir directory;
  const std::string path = directory.path() + "/pids";
  const int status = in_a_process([&] {
    const auto supervised = supervise(LEHR_MEASURE_WORKER);
    spawn(leaves_its_group(path));
    within_seconds(20, [&] { return numbers_in(path).size() == 3; });
    raise(SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::vector<pid_t> pids = numbers_in(path);
  ASSERT_EQ(pids.size(), 3U);
  for (const pid_t pid : pids) EXPECT_TRUE(within_seconds(10, [&] { return !runs(pid); })) << pid;
}

TEST(Supervisor, EndsAllWhenItIsDone) {
  const TempDir directory;
  const std::string path = directory.path() + "/pids";
  in_a_process([&] {
    const auto supervised = supervise(LEHR_MEASURE_WORKER);
    spawn(leaves_its_group(path));
    within_seconds(20, [&] { return numbers_in(path).size() == 3; });
  });
  const std::vector<pid_t> pids = numbers_in(path);
  ASSERT_EQ(pids.size(), 3U);
  for (const pid_t pid : pids) EXPECT_FALSE(runs(pid)) << pid;
}

TEST(Supervisor, AGroupEndsWithWhatHasLeftIt) {
  const TempDir directory;
  const std::string path = directory.path() + "/pids";
  const int status = in_a_process([&] {
    const auto supervised = supervise(LEHR_MEASURE_WORKER);
    const Child child = spawn(leaves_its_group(path));
    const Child other = spawn({.command = {"/bin/sleep", "600"}});
    within_seconds(20, [&] { return numbers_in(path).size() == 3; });
    const int ended = kill_group(child);
    if (!WIFSIGNALED(ended) || WTERMSIG(ended) != SIGKILL) _exit(1);
    for (const pid_t one : numbers_in(path))
      if (runs(one)) _exit(2);
    if (has_ended(other)) _exit(3);
  });
  ASSERT_EQ(numbers_in(path).size(), 3U);
  EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
}

TEST(Supervisor, StartsAndSaysWhatSpawnDoes) {
  const int status = in_a_process([&] {
    const auto supervised = supervise(LEHR_MEASURE_WORKER);
    const Captured run =
        run_captured({.command = {"/bin/sh", "-c", "echo $WORD; exit 3"}, .environment = {"WORD=a b\xff"}},
                     deadline_in(20));
    if (run.output != "a b\xff\n" || WEXITSTATUS(run.status) != 3) _exit(1);
    try {
      spawn({.command = {"/does/not/exist"}});
      _exit(2);
    } catch (const Error& error) {
      if (std::string(error.what()) != "cannot start /does/not/exist: No such file or directory") _exit(3);
    }
    const Child child = spawn({.command = {"/bin/sleep", "600"}});
    stop_group(child);
    if (has_ended(child) || end_of(child)) _exit(4);
    kill_group(child);
    if (end_of(child) != -1) _exit(5);
  });
  EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
}

/// Returns whether nobody else holds the other end of a pipe. A process that does not close it inherits it.
bool nobody_holds_a_pipe(const std::function<void()>& start) {
  int ends[2];
  if (pipe(ends) != 0) _exit(90);
  start();
  close(ends[1]);
  pollfd end = {ends[0], 0, 0};
  return poll(&end, 1, 0) == 1 && (end.revents & POLLHUP) != 0;
}

TEST(Supervisor, ClosesWhatItInherits) {
  const int status = in_a_process([&] {
    std::shared_ptr<Supervised> supervised;
    Child alone, child;
    if (!nobody_holds_a_pipe([&] { alone = spawn({.command = {"/bin/sleep", "600"}}); })) _exit(1);
    if (!nobody_holds_a_pipe([&] { supervised = supervise(LEHR_MEASURE_WORKER); })) _exit(2);
    if (!nobody_holds_a_pipe([&] { child = spawn({.command = {"/bin/sleep", "600"}}); })) _exit(3);
    kill_group(alone);
  });
  EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
}

TEST(Supervisor, IsMissedInOneSentence) {
  const int status = in_a_process([&] {
    const auto supervised = supervise(LEHR_MEASURE_WORKER);
    try {
      run_captured({.command = {"/bin/sh", "-c", "kill -9 $PPID"}}, deadline_in(20));
      spawn({.command = {"/bin/true"}});
      _exit(1);
    } catch (const Error& error) {
      _exit(std::string(error.what()).find("was ended from outside") != std::string::npos ? 0 : 2);
    }
  });
  EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
}

// A program may fork for reasons of its own: the forked process holds the connection, too.
TEST(Supervisor, EndsAllWhereAForkedProcessOutlivesItsParent) {
  const TempDir directory;
  const std::string path = directory.path() + "/pids";
  std::ofstream forked(directory.path() + "/forked");
  in_a_process([&] {
    const auto supervised = supervise(LEHR_MEASURE_WORKER);
    spawn(leaves_its_group(path));
    within_seconds(20, [&] { return numbers_in(path).size() == 3; });
    if (const pid_t other = fork(); other == 0)
      sleep(600);
    else
      forked << other << std::endl;
    raise(SIGKILL);
  });
  for (const pid_t pid : numbers_in(path)) EXPECT_TRUE(within_seconds(10, [&] { return !runs(pid); })) << pid;
  const std::vector<pid_t> others = numbers_in(directory.path() + "/forked");
  ASSERT_EQ(others.size(), 1U);
  EXPECT_TRUE(runs(others[0])) << "it is not the supervisor's";
  kill(others[0], SIGKILL);
}

TEST(Supervisor, IsSharedAndEndsWithItsLastOwner) {
  const int status = in_a_process([&] {
    auto one = supervise(LEHR_MEASURE_WORKER);
    std::vector<std::shared_ptr<Supervised>> others(8);
    {
      std::vector<std::jthread> threads;
      for (auto& other : others) threads.emplace_back([&] { other = supervise(LEHR_MEASURE_WORKER); });
    }
    for (const auto& other : others)
      if (other != one) _exit(1);
    const Child child = spawn({.command = {"/bin/sleep", "600"}});
    const pid_t pid = child.pid;
    one.reset();
    others.resize(1);
    if (!runs(pid) || Supervised::living() == nullptr) _exit(2);
    others.clear();
    if (!runs(pid)) _exit(3);  // as long as somebody waits for the processes that it has started
    kill_group(child);
    const_cast<Child&>(child) = {};
    if (Supervised::living() != nullptr) _exit(4);
    spawn({.command = {"/bin/true"}});
  });
  EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
}

TEST(Supervisor, IsReplacedOnceItIsGone) {
  const int status = in_a_process([&] {
    const auto first = supervise(LEHR_MEASURE_WORKER);
    try {
      run_captured({.command = {"/bin/sh", "-c", "kill -9 $PPID"}}, deadline_in(20));
    } catch (const Error&) {  // it may be gone before it has said what it started
    }
    within_seconds(20, [&] { return supervise(LEHR_MEASURE_WORKER) != first; });
    const auto second = supervise(LEHR_MEASURE_WORKER);
    if (second == first) _exit(1);
    if (!run_captured({.command = {"/bin/true"}}, deadline_in(20)).succeeded()) _exit(2);
  });
  EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
}

TEST(Supervisor, LeavesToEachThreadItsCpus) {
  const std::vector<int> cpus = affinity();
  if (cpus.size() < 2) GTEST_SKIP() << "there is one CPU";
  const int status = in_a_process([&] {
    const auto supervised = supervise(LEHR_MEASURE_WORKER);
    for (const int cpu : {cpus[0], cpus[1]}) {
      pin_to_cpus({cpu});
      const Captured run =
          run_captured({.command = {"/bin/grep", "Cpus_allowed_list", "/proc/self/status"}}, deadline_in(20));
      if (run.output != "Cpus_allowed_list:\t" + std::to_string(cpu) + "\n") _exit(1);
    }
  });
  EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
}

/// Returns what supervise() says of a program that is this script.
std::string refusal_of(const std::string& script) {
  const TempDir directory;
  const std::string path = directory.path() + "/program";
  std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::string text = "nothing was thrown";
  try {
    supervise(path);
  } catch (const Error& error) {
    text = error.what();
  }
  if (const std::size_t at = text.find(path); at != std::string::npos)
    text.replace(at, path.size(), "PROGRAM");
  return text;
}

TEST(Supervisor, SaysWhyItDoesNotStart) {
  EXPECT_EQ(refusal_of("printf 'lehr-supervisor\\0009.9.9\\000' >&3; exec sleep 600"),
            std::string("the program PROGRAM is of lehr 9.9.9, and this library is of lehr ") + kVersion +
                ": name one of that version");
  EXPECT_EQ(refusal_of("exit 3"), "the process PROGRAM supervisor did not start: exited with status 3");
  EXPECT_EQ(refusal_of("echo hello >&3; exec sleep 600"),
            "the process PROGRAM supervisor did not start: it is no program of Lehr's");
  EXPECT_THROW(supervise("/does/not/exist"), Error);
}

}  // namespace
}  // namespace lehr::testing
