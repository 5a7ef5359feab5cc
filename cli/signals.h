// Signals: those that ask to end as a flag that the session looks at, those of failed writes as errors.
#pragma once

#include <atomic>

namespace lehr {

/// From now on SIGINT, SIGTERM and, unless it was ignored at the start (nohup), SIGHUP set the returned flag,
/// on which what waits for a compiler or a candidate gives up, too (measure/system/patience.h); a second one
/// ends the process as usual. A SIGTERM or SIGHUP within a second of the first is taken for the same request:
/// a shell and its terminal may both send one.
const std::atomic<bool>& watch_signals();

/// From now on a write to a pipe that nobody reads, or beyond the limit of a file's size, fails with an error
/// and does not end the process. Programs that are started have the usual way again.
void take_failed_writes_as_errors();

}  // namespace lehr
