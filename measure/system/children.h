// Children of this process. The functions of process.h call these functions, or have the supervisor call
// them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>

#include "measure/system/process.h"

namespace lehr {

/// Whether signals to this process's session reach a child, or only signals to the child's own session.
enum class ChildSession { kOurs, kItsOwn };
/// Starts a child as spawn() does, but always as a child of this process.
pid_t start_child(const SpawnOptions& options, ChildSession session = ChildSession::kOurs);

/// Returns the wait status of a child that has ended, but only once. Returns -1 if it is not our child,
/// nullopt while it runs.
std::optional<int> end_of_child(pid_t pid);
/// Whether the child is stopped or has ended. Does not collect its status.
bool child_stands(pid_t pid);
/// Whether the child has ended. Does not collect its status.
bool child_has_ended(pid_t pid);

/// Ends each child that is not in `known`, and then the child's children, which become ours. Such processes
/// left their group and lost their parent; only a subreaper gets them (PR_SET_CHILD_SUBREAPER in prctl(2)).
void kill_strays(const std::set<pid_t>& known);

}  // namespace lehr
