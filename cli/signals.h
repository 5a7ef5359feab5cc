// Handles signals: requests to end the program set a flag that the session reads, and failed writes become
// errors.
#pragma once

#include <atomic>

namespace lehr {

/// Returns the flag that signals set after watch_signals(). A device can be opened with the flag before that.
const std::atomic<bool>& end_flag();

/// Makes SIGINT, SIGTERM and, unless it was ignored at the start (nohup), SIGHUP set end_flag(), which it
/// returns. A second signal ends the process as usual. A SIGTERM or SIGHUP within a second of the first
/// counts as the same request: a shell and its terminal may both send one.
const std::atomic<bool>& watch_signals();

/// After this, a write to a pipe that nobody reads, or beyond the limit of a file's size, fails with an error
/// instead of ending the process. Child processes have the default behaviour.
void take_failed_writes_as_errors();

/// Ends the process by SIGPIPE.
[[noreturn]] void end_by_broken_pipe();

}  // namespace lehr
