// Uses posix_spawn with its file actions, waitpid without waiting, and /proc to find other children. Never
// forks without exec, because the process may have threads.
#include "measure/system/children.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"

extern char** environ;

namespace lehr {
namespace {

/// Returns our environment with `changes` applied, in the form for execve. The pointers point into both.
std::vector<char*> merged_environment(const std::vector<std::string>& changes) {
  std::vector<char*> merged;
  const auto same_name = [](const char* a, const std::string& b) {
    const std::size_t length = b.find('=') + 1;
    return std::strncmp(a, b.c_str(), length) == 0;
  };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::none_of(changes.begin(), changes.end(),
                     [&](const std::string& c) { return same_name(*entry, c); })) {
      merged.push_back(*entry);
    }
  }
  for (const std::string& change : changes) merged.push_back(const_cast<char*>(change.c_str()));
  merged.push_back(nullptr);
  return merged;
}

/// Sets a limit of a new child. posix_spawn cannot set limits, so this is called right after it, before the
/// child can have started another process.
void limit(pid_t pid, __rlimit_resource resource, rlim_t most) {
  const rlimit both = {most, most};
  prlimit(pid, resource, &both, nullptr);
}

/// Returns the parent according to /proc; 0 if the process is gone. The process's name, in parentheses, may
/// contain any characters.
pid_t parent_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > line.size()) return 0;
  return static_cast<pid_t>(std::atoi(line.c_str() + name_end + 4));  // after the letter of the state
}

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  DIR* const folder = opendir("/proc");
  if (folder == nullptr) return found;
  const pid_t self = getpid();
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (parent_of(name) == self) found.push_back(static_cast<pid_t>(std::atoi(name.c_str())));
  }
  closedir(folder);
  return found;
}

bool is_in_state(pid_t pid, int states) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, states | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

}  // namespace

pid_t start_child(const SpawnOptions& options, ChildSession session) {
  CHECK(!options.command.empty());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const bool is_whole = access("/dev/null", R_OK | W_OK) == 0;  // false in a root file system without devices
  for (int standard = 0; standard < 3; ++standard) {
    if (is_whole)
      posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
    else
      posix_spawn_file_actions_addclose(&actions, standard);
  }
  int behind = 3;
  for (const auto& [ours, theirs] : options.descriptors) {
    posix_spawn_file_actions_adddup2(&actions, ours, theirs);
    behind = std::max(behind, theirs + 1);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, behind);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  const int group = session == ChildSession::kItsOwn ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&attributes,
                           static_cast<short>(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));

  std::vector<char*> arguments;
  for (const std::string& word : options.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment = merged_environment(options.environment);
  pid_t pid = -1;
  const int error_number =
      posix_spawn(&pid, arguments[0], &actions, &attributes, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error_number != 0)
    throw_environment("cannot start {}: {}", options.command[0], std::strerror(error_number));
  if (options.cpu_s > 0) limit(pid, RLIMIT_CPU, static_cast<rlim_t>(std::ceil(options.cpu_s)));
  if (options.memory_bytes > 0) limit(pid, RLIMIT_DATA, static_cast<rlim_t>(options.memory_bytes));
  return pid;
}

std::optional<int> end_of_child(pid_t pid) {
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) return status;
    if (ended == 0) return std::nullopt;
    if (errno != EINTR) return -1;
  }
}

bool child_stands(pid_t pid) {
  return is_in_state(pid, WSTOPPED | WEXITED);
}

bool child_has_ended(pid_t pid) {
  return is_in_state(pid, WEXITED);
}

void kill_strays(const std::set<pid_t>& known) {
  // A process that waits for a driver cannot be ended. It is waited for at most some seconds.
  constexpr int kMostPasses = 1000;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    std::vector<pid_t> strays = children();
    std::erase_if(strays, [&](pid_t pid) { return known.contains(pid); });
    if (strays.empty()) return;
    // All are killed before any is waited for: a process that sees another one's end may start a third.
    for (const pid_t stray : strays) kill(stray, SIGKILL);
    for (const pid_t stray : strays) end_of_child(stray);
    usleep(500);
  }
}

}  // namespace lehr
