// Signals: those that ask to end as a flag that the session looks at, those of failed writes as errors.
#pragma once

#include <atomic>

namespace lehr {

/// The flag that watch_signals() sets: what a device is opened with, before signals are watched.
const std::atomic<bool>& end_flag();

/// From now on SIGINT, SIGTERM and, unless it was ignored at the start (nohup), SIGHUP set end_flag(), which
/// is returned; a second one ends the process as usual. A SIGTERM or SIGHUP within a second of the first is
/// taken for the same request: a shell and its terminal may both send one.
const std::atomic<bool>& watch_signals();

/// From now on a write to a pipe that nobody reads, or beyond the limit of a file's size, fails with an error
/// and does not end the process. Programs that are started have the usual way again.
void take_failed_writes_as_errors();

/// Ends the process by SIGPIPE.
[[noreturn]] void end_by_broken_pipe();

}  // namespace lehr
