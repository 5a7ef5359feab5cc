// SIGINT and SIGTERM as a flag that the session looks at.
#pragma once

#include <atomic>

namespace lehr {

/// From now on the first SIGINT or SIGTERM only sets the returned flag; the second one ends the process as
/// usual.
const std::atomic<bool>& watch_signals();

}  // namespace lehr
