// Runs the hidden subcommands of `lehr` in the processes that Lehr starts.
#pragma once

#include <optional>
#include <span>

#include "measure/core/problem.h"

namespace lehr {

/// Runs a hidden subcommand (`supervisor`, `worker`, `engine`) if the arguments name one, and returns its
/// exit code; else returns nullopt. Call it first in the main() of ToolPaths::program. A worker knows
/// problems of the given `kinds`. Throws Error(kUser) if the arguments are not as Lehr writes them.
std::optional<int> served_process(int argc, char** argv, std::span<const ProblemKind> kinds);

}  // namespace lehr
