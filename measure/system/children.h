// What a process does with children of its own: the functions of process.h call these here, or have the
// supervisor call them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>

#include "measure/system/process.h"

namespace lehr {

/// Whether a child is out of reach of what is sent to this process's session, too, and not only to its group.
enum class ChildSession { kOurs, kItsOwn };
/// As spawn(), always as a child of this process.
pid_t start_child(const SpawnOptions& options, ChildSession session = ChildSession::kOurs);

/// The wait status of a child that has ended, once; -1 when it is no child; nullopt while it runs.
std::optional<int> end_of_child(pid_t pid);
/// Whether it stands still or has ended. Changes nothing.
bool child_stands(pid_t pid);
/// Whether it has ended. Changes nothing.
bool child_has_ended(pid_t pid);

/// Ends every child that is not among `known`, and theirs once they have become ours. These are processes
/// that left their group and lost their parent; only a subreaper is given them (PR_SET_CHILD_SUBREAPER in
/// prctl(2)).
void kill_strays(const std::set<pid_t>& known);

}  // namespace lehr
