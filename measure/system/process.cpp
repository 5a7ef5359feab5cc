// posix_spawn and its plumbing. Never fork without exec: the parent has threads.
#include "measure/system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string_view>
#include <thread>

#include "base/error.h"

extern char** environ;

namespace lehr {
namespace {

/// Our environment with `changes` on top, as execve wants it; points into both.
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

/// Moves `fd` out of the range of small numbers.
Fd raised(int fd) {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  const int error_number = errno;
  close(fd);
  if (high < 0) throw_environment("cannot duplicate a file descriptor: {}", std::strerror(error_number));
  return Fd(high);
}

/// posix_spawn cannot set limits: they are set right after it, before the child can have started another.
void limit(pid_t pid, __rlimit_resource resource, rlim_t most) {
  const rlimit both = {most, most};
  prlimit(pid, resource, &both, nullptr);
}

std::string_view meaning_of(int signal_number) {
  switch (signal_number) {
    case SIGSEGV:
      return "invalid memory access";
    case SIGBUS:
      return "memory access beyond a mapped file, or misaligned";
    case SIGILL:
      return "an instruction that this CPU does not have";
    case SIGFPE:
      return "integer division by zero or overflow";
    case SIGABRT:
      return "abort was called";
    case SIGKILL:
      return "killed from outside, often for lack of memory";
    case SIGTRAP:
      return "a trap instruction";
    default:
      return "";
  }
}

}  // namespace

Deadline deadline_in(double seconds) {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                std::chrono::duration<double>(seconds));
}

int milliseconds_left(Deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

void Fd::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

pid_t spawn(const SpawnOptions& options) {
  CHECK(!options.command.empty());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int standard = 0; standard < 3; ++standard) {
    posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
  }
  for (const auto& [ours, theirs] : options.descriptors)
    posix_spawn_file_actions_adddup2(&actions, ours, theirs);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

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

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

int kill_group(pid_t pid) {
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);  // in the short time in which the child has not yet made its group
  return wait_for(pid);
}

bool Captured::succeeded() const {
  return !timed_out && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Captured run_captured(const SpawnOptions& options, Deadline deadline) {
  constexpr std::size_t kMost = 64 << 10;
  auto [reader, writer] = make_pipe();
  SpawnOptions with_pipe = options;
  with_pipe.descriptors.emplace_back(writer.get(), 1);
  with_pipe.descriptors.emplace_back(writer.get(), 2);
  const pid_t pid = spawn(with_pipe);
  writer.close();
  Captured result;
  const auto give_up = [&] {
    result.timed_out = true;
    result.status = kill_group(pid);
    return result;
  };
  char buffer[4096];
  while (true) {
    pollfd wanted = {reader.get(), POLLIN, 0};
    const int ready = poll(&wanted, 1, milliseconds_left(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return give_up();
    const ssize_t count = read(reader.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    result.output.append(
        buffer, std::min(static_cast<std::size_t>(count), kMost - std::min(kMost, result.output.size())));
  }
  // The pipe is closed, so the end is near; a process that only closed its output is still held to the
  // deadline.
  while (true) {
    const pid_t ended = waitpid(pid, &result.status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) return result;
    if (milliseconds_left(deadline) == 0) return give_up();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

std::string describe_exit(int status) {
  if (WIFEXITED(status)) return fmt::format("exited with status {}", WEXITSTATUS(status));
  if (!WIFSIGNALED(status)) return fmt::format("ended with wait status {}", status);
  const int number = WTERMSIG(status);
  const char* short_name = sigabbrev_np(number);
  const std::string name =
      short_name != nullptr ? fmt::format("SIG{}", short_name) : fmt::format("signal {}", number);
  const std::string_view meaning = meaning_of(number);
  return meaning.empty() ? name : fmt::format("{} ({})", name, meaning);
}

bool ended_from_outside(int status) {
  if (!WIFSIGNALED(status)) return false;
  const int number = WTERMSIG(status);
  return number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT;
}

std::string find_program(const std::string& name, const std::vector<std::string>& directories) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  for (const std::string& directory : directories) {
    const std::string path = (directory.empty() ? "." : directory) + "/" + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

std::pair<Fd, Fd> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_environment("cannot make a pipe: {}", std::strerror(errno));
  Fd reader = raised(ends[0]);
  return {std::move(reader), raised(ends[1])};
}

std::pair<Fd, Fd> make_socket_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw_environment("cannot make a socket pair: {}", std::strerror(errno));
  }
  Fd first = raised(ends[0]);
  return {std::move(first), raised(ends[1])};
}

}  // namespace lehr
