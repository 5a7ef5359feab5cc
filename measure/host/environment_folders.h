// Where the CPU's vendor libraries are if the dynamic loader does not find them.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace lehr {

/// Returns folders `lib` of Python's virtual environments whose `bin` is in `search_path` (PATH), in its
/// order, each once: those with libraries, as vendors' wheels put them there.
std::vector<std::string> environment_library_folders(std::span<const std::string> search_path);

}  // namespace lehr
