// Child processes: starting them, capturing output with a deadline, and describing how one ended.
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
/// Returns now + `seconds`.
Deadline deadline_in(double seconds);
/// Returns the milliseconds left, rounded up, for poll(); 0 if it has passed.
int milliseconds_left(Deadline deadline);
/// Returns the seconds left; negative if it has passed.
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
  /// "NAME=value": variables added to this process's own.
  std::vector<std::string> environment = {};
  /// Our descriptor -> the child's number. Otherwise 0, 1 and 2 are /dev/null.
  std::vector<std::pair<int, int>> descriptors = {};
  // Limits of the child and of each process that it starts; 0: no limit. The kernel keeps them, even after
  // this process has ended.
  /// Processor seconds, rounded up to whole ones.
  double cpu_s = 0;
  /// Private memory (RLIMIT_DATA).
  std::int64_t memory_bytes = 0;
};

class Supervised;

/// A process that was started.
struct Child {
  pid_t pid = -1;
  std::shared_ptr<Supervised> supervisor = {};  ///< its parent; nullptr: this process
};

/// Starts a process in a group of its own with default signal handling, on the CPUs of the calling thread. It
/// inherits only the named descriptors. If this process has a supervisor (supervisor.h), the supervisor
/// starts it. Throws Error(kEnvironment) if it cannot be started.
Child spawn(const SpawnOptions& options);

/// Returns the wait status of `child` if it has ended, once; -1 if it was returned before.
std::optional<int> end_of(const Child& child);
/// Whether `child` has ended; end_of() still returns its status.
bool has_ended(const Child& child);
/// Sends SIGKILL to the whole group of `child` and waits for the child; returns its wait status. Under a
/// supervisor it also ends processes that left the group and lost their parent.
int kill_group(const Child& child);
/// Stops all threads of the group of `child` (SIGSTOP) and waits until it is stopped or has ended.
void stop_group(const Child& child);
/// Throws Error(kEnvironment) if `program`, which reports version `found`, is not of version `wanted`.
void require_version(const std::string& program, const std::string& found, const std::string& wanted);

struct Captured {
  int status = 0;          ///< as from waitpid
  std::string output;      ///< stdout and stderr together, the first 64 KiB
  bool timed_out = false;  ///< whether the group was killed at the deadline
  bool given_up = false;   ///< whether the group was killed because `stop` was set
  bool succeeded() const;
};
/// Runs a program to its end or to the deadline, with a Patience (patience.h).
Captured run_captured(const SpawnOptions& options, Deadline deadline,
                      const std::atomic<bool>* stop = nullptr);

/// Returns "SIGSEGV (invalid memory access)", "exited with status 3", ...
std::string describe_exit(int status);

/// Whether a process was ended by a signal that others send (SIGKILL, SIGTERM, ...) and that it does not
/// raise itself.
bool ended_from_outside(int status);

/// Returns the absolute path of `name` in `directories`, or `name` itself if it has a slash; "" if it is not
/// executable.
std::string find_program(const std::string& name, const std::vector<std::string>& directories);

/// Returns `fd` under a number of 10 or higher, away from the numbers that children get; closes `fd`. Throws
/// Error(kEnvironment) if the process is out of descriptors.
Fd raised(int fd);

/// Make a pipe or a connected pair of stream sockets: close-on-exec, and numbered 10 or higher, away from the
/// numbers that children get. Throw Error(kEnvironment) if the process is out of descriptors.
std::pair<Fd, Fd> make_pipe();
std::pair<Fd, Fd> make_socket_pair();

}  // namespace lehr
