// A small process between this one and all processes that it starts: they end with it, however it ends.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "measure/system/process.h"

namespace lehr {

class Supervised;

/// Returns this process's supervisor: the living one, or a new one, `PROGRAM supervisor --fd N`, a process of
/// `program` (ToolPaths::program). It lives as long as the result, or a process that it has started, is held.
/// The last holder waits until it has ended all processes. Any thread may call it, also while others run.
/// Throws Error(kEnvironment) with one sentence if it does not start or has another version.
std::shared_ptr<Supervised> supervise(const std::string& program);

/// While it lives, spawn() has the supervisor start processes. It is their *subreaper* (prctl(2)): a process
/// that leaves its group and session and loses its parent, as a daemon does, becomes the supervisor's child.
/// When this process ends, also by SIGKILL, the supervisor ends all of its descendants and itself. Processes
/// run as the user: a descendant can harm the supervisor itself.
class Supervised {
 public:
  /// Starts a supervisor that supervise() does not share.
  explicit Supervised(const std::string& program);
  ~Supervised();
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;

  /// Returns the supervisor that supervise() has started and somebody holds; nullptr: there is no such
  /// supervisor. A forked process has none.
  static std::shared_ptr<Supervised> living();

  // As the functions of process.h. If the supervisor is gone, spawn() throws Error(kEnvironment), and its
  // children count as ended.
  pid_t spawn(const SpawnOptions& options);
  std::optional<int> end_of(pid_t pid);
  bool has_ended(pid_t pid);
  /// Whether the child is stopped or has ended.
  bool stands(pid_t pid);
  /// Ends processes that have lost their parent.
  void end_strays();

 private:
  /// Sends a request and returns the reply's words; empty if the supervisor is gone.
  std::vector<std::string> ask(const std::vector<std::string>& words,
                               const std::vector<int>& descriptors = {});
  /// Waits for its first words. Throws Error(kEnvironment) if they are not those of a supervisor of ours.
  void greet(const std::string& program);
  /// Ends it at once; returns its wait status.
  int end();
  bool serves() const;
  friend std::shared_ptr<Supervised> supervise(const std::string& program);

  std::mutex mutex_;
  Fd socket_;
  pid_t pid_ = -1;
  pid_t owner_ = -1;
};

/// Runs the supervisor: serves `fd`, a socket to the process that has started it, until that process ends or
/// closes its end. Returns the exit code.
int supervisor_main(int fd);

}  // namespace lehr
