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
/// Returns the milliseconds until the deadline, rounded up, for poll(); 0 if the deadline has passed.
int milliseconds_left(Deadline deadline);
/// Returns the seconds until the deadline; negative if the deadline has passed.
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
  /// The first word is the program's path.
  std::vector<std::string> command;
  /// Variables "NAME=value" that are added to this process's own.
  std::vector<std::string> environment = {};
  /// Pairs of our descriptor and the child's number for it. If 0, 1 or 2 is not among the child's numbers, it
  /// is /dev/null.
  std::vector<std::pair<int, int>> descriptors = {};
  // Limits for the child and for each process that it starts; 0: no limit. The kernel enforces them, even
  // after this process has ended.
  /// Seconds of processor time, rounded up.
  double cpu_s = 0;
  /// Bytes of private memory (RLIMIT_DATA).
  std::int64_t memory_bytes = 0;
};

class Supervised;

/// A process that was started.
struct Child {
  pid_t pid = -1;
  /// The child's parent process; nullptr: this process is the parent.
  std::shared_ptr<Supervised> supervisor = {};
};

/// Starts a process in a process group of its own with default signal handling, on the CPUs of the calling
/// thread. The process inherits only the descriptors in `options`. If this process has a supervisor
/// (supervisor.h), the supervisor starts the process. Throws Error(kEnvironment) if it cannot be started.
Child spawn(const SpawnOptions& options);

/// Returns the wait status of `child` if it has ended, but only once; after that it returns -1.
std::optional<int> end_of(const Child& child);
/// Whether `child` has ended. end_of() still returns its status.
bool has_ended(const Child& child);
/// Sends SIGKILL to the whole group of `child`, waits for the child, and returns its wait status. If there is
/// a supervisor, it also ends processes that left the group and lost their parent.
int kill_group(const Child& child);
/// Stops all threads of the group of `child` (SIGSTOP) and waits until the child is stopped or has ended.
void stop_group(const Child& child);
/// Throws Error(kEnvironment) if `found`, the version that `program` reports, is not `wanted`.
void require_version(const std::string& program, const std::string& found, const std::string& wanted);

struct Captured {
  int status = 0;          ///< wait status, as waitpid() returns it
  std::string output;      ///< stdout and stderr together, the first 64 KiB
  bool timed_out = false;  ///< whether the group was killed at the deadline
  bool given_up = false;   ///< whether the group was killed because `stop` was set
  bool succeeded() const;
};
/// Runs a program until it ends or the deadline passes, or until `stop` is set (Patience in patience.h).
Captured run_captured(const SpawnOptions& options, Deadline deadline,
                      const std::atomic<bool>* stop = nullptr);

/// Returns "SIGSEGV (invalid memory access)", "exited with status 3", ...
std::string describe_exit(int status);

/// Whether a process was ended by a signal that comes from outside (SIGKILL, SIGTERM, ...), not by a signal
/// that a process raises itself.
bool ended_from_outside(int status);

/// Returns the absolute path of `name` in `directories`, or `name` itself if it has a slash. Returns "" if
/// the file is not executable.
std::string find_program(const std::string& name, const std::vector<std::string>& directories);

/// Returns a duplicate of `fd` with a number of 10 or higher, since children get lower numbers. Closes `fd`.
/// Throws Error(kEnvironment) if the process is out of descriptors.
Fd raised(int fd);

/// Make a pipe or a connected pair of stream sockets. The descriptors are close-on-exec and have numbers of
/// 10 or higher, since children get lower numbers. Throw Error(kEnvironment) if the process is out of
/// descriptors.
std::pair<Fd, Fd> make_pipe();
std::pair<Fd, Fd> make_socket_pair();

}  // namespace lehr
