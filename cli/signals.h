// Signals: requests to end become a flag that the session reads, failed writes become errors.
#pragma once

#include <atomic>

namespace lehr {

/// Returns the flag that watch_signals() sets. A device is opened with it before signals are watched.
const std::atomic<bool>& end_flag();

/// Makes SIGINT, SIGTERM and, unless it was ignored at the start (nohup), SIGHUP set end_flag(), which it
/// returns. A second signal ends the process as usual. A SIGTERM or SIGHUP within a second of the first
/// counts as the same request: a shell and its terminal may both send one.
const std::atomic<bool>& watch_signals();

/// Makes a write to a pipe that nobody reads, or beyond the limit of a file's size, fail with an error
/// instead of ending the process. Programs that are started have the default behaviour.
void take_failed_writes_as_errors();

/// Ends the process by SIGPIPE.
[[noreturn]] void end_by_broken_pipe();

}  // namespace lehr
