// Where the CPU's vendor libraries lie when the dynamic loader does not know it.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace lehr {

/// Folders `lib` of Python's virtual environments whose `bin` is in `search_path` (PATH), in its order, none
/// twice: those that hold libraries, as the wheels of vendors put them there.
std::vector<std::string> environment_library_folders(std::span<const std::string> search_path);

}  // namespace lehr
