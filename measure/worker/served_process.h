// What `lehr` does in processes that it starts of itself.
#pragma once

#include <optional>

namespace lehr {

/// Call it first in the main() of ToolPaths::program. Where the arguments name a hidden subcommand
/// (`supervisor`, `worker`, `engine`) it does that to its end and returns the exit code; nullopt: they do
/// not. Throws Error(kUser) where somebody else than Lehr has written them.
std::optional<int> served_process(int argc, char** argv);

}  // namespace lehr
