// A small process between this one and all that it starts: whatever becomes of this one, they end with it.
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

/// This process's supervisor: the one that lives, or a new one, `PROGRAM supervisor --fd N`, a process of
/// `program` (ToolPaths::program). It lives as long as somebody holds what is returned, or a process that it
/// has started; the last one waits until it has ended all. May be called by any thread, and while others run.
/// Throws Error(kEnvironment), one sentence, where it does not start or is of another version.
std::shared_ptr<Supervised> supervise(const std::string& program);

/// While it lives spawn() has the supervisor start processes. It is their *subreaper* (prctl(2)): what
/// leaves its group and its session and loses its parent, as a daemon does, becomes the supervisor's child.
/// When this process ends, also by SIGKILL, the supervisor ends all of its descendants and itself. Processes
/// run as the user: what a descendant does to the supervisor itself is not prevented.
class Supervised {
 public:
  /// supervise() without the sharing.
  explicit Supervised(const std::string& program);
  ~Supervised();
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;

  /// The one that supervise() has started and somebody holds; nullptr: none. A forked process has none.
  static std::shared_ptr<Supervised> living();

  // As the functions of process.h. Where the supervisor is gone spawn() throws Error(kEnvironment) and its
  // children count as ended.
  pid_t spawn(const SpawnOptions& options);
  std::optional<int> end_of(pid_t pid);
  bool has_ended(pid_t pid);
  /// Whether it stands still or has ended.
  bool stands(pid_t pid);
  /// Ends what has lost its parent.
  void end_strays();

 private:
  /// The reply's words; none where the supervisor is gone.
  std::vector<std::string> ask(const std::vector<std::string>& words,
                               const std::vector<int>& descriptors = {});
  /// Waits for its first words. Throws Error(kEnvironment) where they are not those of a supervisor of ours.
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

/// What the supervisor does, from its start on: serves `fd`, a socket to the process that has started it,
/// until that process ends or closes its end. Returns the exit code.
int supervisor_main(int fd);

}  // namespace lehr
