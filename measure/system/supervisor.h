// A small process between this process and all processes that it starts. They end with this process, however
// it ends.
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

/// Returns this process's supervisor. If the process has no supervisor, this starts `PROGRAM supervisor --fd
/// N`, with `program` (ToolPaths::program) as PROGRAM. The supervisor lives as long as the result, or a
/// process that it has started, is held. The last holder waits until the supervisor has ended all processes.
/// Any thread may call it, also while other threads do. Throws Error(kEnvironment) with one sentence if the
/// supervisor does not start or has another version.
std::shared_ptr<Supervised> supervise(const std::string& program);

/// While an object lives, spawn() has the supervisor start processes. The supervisor is their *subreaper*
/// (prctl(2)): a process that leaves its group and session and loses its parent, as a daemon does, becomes
/// the supervisor's child. When this process ends, also by SIGKILL, the supervisor ends all of its
/// descendants and itself. All processes run as the same user, so a descendant can harm the supervisor
/// itself.
class Supervised {
 public:
  /// Starts a supervisor. supervise() does not return this one.
  explicit Supervised(const std::string& program);
  ~Supervised();
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;

  /// Returns the supervisor that supervise() has started and that is still held; nullptr: there is no such
  /// supervisor. A forked process does not inherit it.
  static std::shared_ptr<Supervised> living();

  // They do the same as the functions in process.h. If the supervisor is gone, spawn() throws
  // Error(kEnvironment), and the supervisor's children count as ended.
  pid_t spawn(const SpawnOptions& options);
  std::optional<int> end_of(pid_t pid);
  bool has_ended(pid_t pid);
  /// Whether the child is stopped or has ended.
  bool stands(pid_t pid);
  /// Ends processes that have lost their parent.
  void end_strays();

 private:
  /// Sends a request and returns the words of the reply; empty if the supervisor is gone.
  std::vector<std::string> ask(const std::vector<std::string>& words,
                               const std::vector<int>& descriptors = {});
  /// Waits for the supervisor's first words. Throws Error(kEnvironment) if they are not those of a supervisor
  /// of this version.
  void greet(const std::string& program);
  /// Ends the supervisor at once. Returns its wait status.
  int end();
  bool serves() const;
  friend std::shared_ptr<Supervised> supervise(const std::string& program);

  std::mutex mutex_;
  Fd socket_;
  pid_t pid_ = -1;
  pid_t owner_ = -1;
};

/// Runs the supervisor. It serves `fd`, a socket to the process that has started it, until that process ends
/// or closes its end. Returns the exit code.
int supervisor_main(int fd);

}  // namespace lehr
