// Whatever becomes of a process, what it has started ends with it.
#include "measure/system/supervisor.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

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

/// A zombie has ended: nobody here reaps what init gets.
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

/// Writes three numbers to `path`: of the shell, of a child in a session of its own, and of one there whose
/// parent is gone and whose environment is empty.
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
    const Supervised supervised;
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
    const Supervised supervised;
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
    const Supervised supervised;
    const pid_t pid = spawn(leaves_its_group(path));
    const pid_t other = spawn({.command = {"/bin/sleep", "600"}});
    within_seconds(20, [&] { return numbers_in(path).size() == 3; });
    const int ended = kill_group(pid);
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
    const Supervised supervised;
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
    const pid_t pid = spawn({.command = {"/bin/sleep", "600"}});
    stop_group(pid);
    if (has_ended(pid) || end_of(pid)) _exit(4);
    kill_group(pid);
    if (end_of(pid) != -1) _exit(5);
  });
  EXPECT_EQ(status, 0) << "exit status " << WEXITSTATUS(status);
}

/// What a tool that follows processes opens in each forked one: a descriptor of its own.
int followed[2] = {-1, -1};

TEST(Supervisor, ClosesWhatItInheritsAndKeepsWhatTheForkOpened) {
  const auto closed = [](bool follow) {
    return in_a_process([follow] {
      if (pipe(followed) != 0) _exit(3);
      if (follow) pthread_atfork(nullptr, nullptr, [] { std::ignore = dup(followed[1]); });
      const Supervised supervised;
      close(followed[1]);
      run_captured({.command = {"/bin/true"}}, deadline_in(20));  // it answers: it has closed what it closes
      pollfd end = {followed[0], 0, 0};
      _exit(poll(&end, 1, 0) == 1 && (end.revents & POLLHUP) != 0 ? 1 : 2);
    });
  };
  EXPECT_EQ(WEXITSTATUS(closed(false)), 1);
  EXPECT_EQ(WEXITSTATUS(closed(true)), 2);
}

TEST(Supervisor, IsMissedInOneSentence) {
  const int status = in_a_process([&] {
    const Supervised supervised;
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

}  // namespace
}  // namespace lehr::testing
