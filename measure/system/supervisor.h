// A small process between this one and all that it starts: whatever becomes of this one, they end with it.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "measure/system/process.h"

namespace lehr {

/// While one lives, spawn() has the supervisor start processes. It is their *subreaper* (prctl(2)): what
/// leaves its group and its session and loses its parent, as a daemon does, becomes the supervisor's child.
/// When this process ends, also by SIGKILL, the connection to it closes, and the supervisor ends all of its
/// descendants and itself. Processes run as the user: what a descendant does to the supervisor itself is not
/// prevented.
class Supervised {
 public:
  /// Forks: no other thread may run yet, and no other Supervised may live. Throws Error(kEnvironment).
  Supervised();
  /// Waits until the supervisor has ended all.
  ~Supervised();
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;

  /// The one that lives; nullptr: none.
  static Supervised* current();

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

  std::mutex mutex_;
  Fd socket_;
  pid_t pid_ = -1;
};

}  // namespace lehr
