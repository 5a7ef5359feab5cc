// What `lehr` does in processes that it starts of itself.
#pragma once

#include <optional>
#include <span>

#include "measure/core/problem.h"

namespace lehr {

/// Call it first in the main() of ToolPaths::program. Where the arguments name a hidden subcommand
/// (`supervisor`, `worker`, `engine`) it does that to its end and returns the exit code; nullopt: they do
/// not. A worker knows problems of these kinds. Throws Error(kUser) where somebody else than Lehr has written
/// them.
std::optional<int> served_process(int argc, char** argv, std::span<const ProblemKind> kinds);

}  // namespace lehr
