// Child processes: start, capture with a deadline, and say in words how one ended.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lehr {

using Deadline = std::chrono::steady_clock::time_point;
/// Now + `seconds`.
Deadline deadline_in(double seconds);
/// Milliseconds left, rounded up, for poll(); 0 when it has passed.
int milliseconds_left(Deadline deadline);
/// Seconds left; negative when it has passed.
double seconds_left(Deadline deadline);

/// A file descriptor with one owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { close(); }
  int get() const { return fd_; }
  void close();

 private:
  int fd_ = -1;
};

struct SpawnOptions {
  /// [0] is the program's path.
  std::vector<std::string> command;
  /// "NAME=value": set on top of this process's own.
  std::vector<std::string> environment = {};
  /// Ours -> the child's number; 0, 1 and 2 are /dev/null otherwise.
  std::vector<std::pair<int, int>> descriptors = {};
  // Limits of the child and of each process that it starts; 0: none. The kernel keeps them, also when this
  // process is gone.
  /// Processor time, rounded up to whole seconds.
  double cpu_s = 0;
  /// Private memory (RLIMIT_DATA).
  std::int64_t memory_bytes = 0;
};

class Supervised;

/// A process that was started.
struct Child {
  pid_t pid = -1;
  std::shared_ptr<Supervised> supervisor = {};  ///< whose child it is; nullptr: this process's
};

/// Starts a process in a group of its own with default signal handling, on the CPUs of the calling thread. It
/// inherits no descriptor but those named. Where this process has a supervisor (supervisor.h) that starts it.
/// Throws Error(kEnvironment) when it cannot be started.
Child spawn(const SpawnOptions& options);

/// The wait status of `child` if it has ended, said once; -1 where it was said.
std::optional<int> end_of(const Child& child);
/// Whether `child` has ended; end_of() still says how.
bool has_ended(const Child& child);
/// Sends SIGKILL to the whole group of `child` and waits for it itself; returns its wait status. Under a
/// supervisor also ends what left its group and lost its parent.
int kill_group(const Child& child);
/// Stops every thread of the group of `child` (SIGSTOP) and waits until it stands still or has ended.
void stop_group(const Child& child);
/// Throws Error(kEnvironment) where `program`, which says that it is of version `found`, is not of `wanted`.
void require_version(const std::string& program, const std::string& found, const std::string& wanted);

struct Captured {
  int status = 0;          ///< as from waitpid
  std::string output;      ///< stdout and stderr together, the first 64 KiB
  bool timed_out = false;  ///< the group was killed at the deadline
  bool given_up = false;   ///< the group was killed because `stop` was set
  bool succeeded() const;
};
/// Runs to the end or to the deadline, with a Patience (patience.h).
Captured run_captured(const SpawnOptions& options, Deadline deadline,
                      const std::atomic<bool>* stop = nullptr);

/// "SIGSEGV (invalid memory access)", "exited with status 3", ...
std::string describe_exit(int status);

/// Whether a process ended by a signal that others send (SIGKILL, SIGTERM, ...) and it does not raise itself.
bool ended_from_outside(int status);

/// The absolute path of `name` in `directories`, or `name` itself when it holds a slash; "" when not
/// executable.
std::string find_program(const std::string& name, const std::vector<std::string>& directories);

/// `fd` under a number of 10 or higher, out of the way of the numbers that children get; closes `fd`. Throws
/// Error(kEnvironment) when the process is out of descriptors.
Fd raised(int fd);

/// A pipe or a connected pair of stream sockets: close-on-exec and numbered 10 or higher, out of the way of
/// the numbers that children get. Throws Error(kEnvironment) when the process is out of descriptors.
std::pair<Fd, Fd> make_pipe();
std::pair<Fd, Fd> make_socket_pair();

}  // namespace lehr
