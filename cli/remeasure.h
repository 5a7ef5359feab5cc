// `lehr export --remeasure`: a winner whose kernel this version makes otherwise, or of which the log tells
// too little, checked and timed as it is made now.
#pragma once

#include <atomic>
#include <string>

#include "cli/environment.h"
#include "deploy/winners.h"

namespace lehr {

/// A short session on the winner's device, where that is on this machine, with the same driver and compiler:
/// the config of the winner and the default, timed in turn with the usual vendor libraries. Its trials are
/// new rows, and its verdict is the newest of the workload, so that winners() goes by it. Returns a sentence
/// that says what came of it.
std::string remeasure(const Winner& winner, Database& database, const Environment& environment,
                      const std::atomic<bool>& interrupted);

}  // namespace lehr
