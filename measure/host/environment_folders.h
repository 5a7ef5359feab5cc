// Folders in which vendor libraries for the CPU may be if the dynamic loader does not find them.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace lehr {

/// Returns the `lib` folders of those Python virtual environments whose `bin` is in `search_path` (PATH), in
/// the order of the path, each once. Only folders with libraries are returned: vendors' wheels put libraries
/// there.
std::vector<std::string> environment_library_folders(std::span<const std::string> search_path);

}  // namespace lehr
