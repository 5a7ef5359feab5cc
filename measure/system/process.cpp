// Runs processes here or through the supervisor: captured output, descriptions of ends, descriptors.
#include "measure/system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "measure/system/children.h"
#include "measure/system/patience.h"
#include "measure/system/supervisor.h"

namespace lehr {
namespace {

/// Pause between two looks at a process that will end soon.
constexpr std::chrono::microseconds kPause(200);

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

double seconds_left(Deadline deadline) {
  return std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count();
}

void Fd::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Child spawn(const SpawnOptions& options) {
  std::shared_ptr<Supervised> supervisor = Supervised::living();
  if (supervisor == nullptr) return {start_child(options), nullptr};
  const pid_t pid = supervisor->spawn(options);
  return {pid, std::move(supervisor)};
}

std::optional<int> end_of(const Child& child) {
  return child.supervisor != nullptr ? child.supervisor->end_of(child.pid) : end_of_child(child.pid);
}

bool has_ended(const Child& child) {
  return child.supervisor != nullptr ? child.supervisor->has_ended(child.pid) : child_has_ended(child.pid);
}

int kill_group(const Child& child) {
  kill(-child.pid, SIGKILL);
  kill(child.pid, SIGKILL);  // in case the child has not made its group yet
  std::optional<int> status;
  while (!(status = end_of(child))) std::this_thread::sleep_for(kPause);
  if (child.supervisor != nullptr) child.supervisor->end_strays();
  return *status;
}

void stop_group(const Child& child) {
  kill(-child.pid, SIGSTOP);
  while (!(child.supervisor != nullptr ? child.supervisor->stands(child.pid) : child_stands(child.pid)))
    std::this_thread::sleep_for(std::chrono::microseconds(20));
}

void require_version(const std::string& program, const std::string& found, const std::string& wanted) {
  if (found == wanted) return;
  throw_environment("the program {} is of lehr {}, and this library is of lehr {}: name one of that version",
                    program, found, wanted);
}

bool Captured::succeeded() const {
  return !timed_out && !given_up && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Captured run_captured(const SpawnOptions& options, Deadline deadline, const std::atomic<bool>* stop) {
  constexpr std::size_t kMost = 64 << 10;
  auto [reader, writer] = make_pipe();
  SpawnOptions with_pipe = options;
  with_pipe.descriptors.emplace_back(writer.get(), 1);
  with_pipe.descriptors.emplace_back(writer.get(), 2);
  const Child child = spawn(with_pipe);
  writer.close();
  Captured result;
  const Patience patience(deadline, stop);
  const auto end = [&] {
    result.timed_out = patience.timed_out();
    result.given_up = !result.timed_out;
    result.status = kill_group(child);
    return result;
  };
  char buffer[4096];
  while (true) {
    pollfd wanted = {reader.get(), POLLIN, 0};
    const int ready = poll(&wanted, 1, patience.poll_ms());
    if (patience.timed_out() || patience.gives_up()) return end();
    if (ready <= 0) continue;
    const ssize_t count = read(reader.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    result.output.append(
        buffer, std::min(static_cast<std::size_t>(count), kMost - std::min(kMost, result.output.size())));
  }
  // The pipe is closed, so the process will end soon. If it has only closed its output, the deadline still
  // holds.
  while (true) {
    if (const std::optional<int> status = end_of(child)) {
      result.status = *status;
      return result;
    }
    if (patience.timed_out() || patience.gives_up()) return end();
    std::this_thread::sleep_for(kPause);
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

Fd raised(int fd) {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  const int error_number = errno;
  close(fd);
  if (high < 0) throw_environment("cannot duplicate a file descriptor: {}", std::strerror(error_number));
  return Fd(high);
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
