// Looks at folders. Loads no library.
#include "measure/host/environment_folders.h"

#include <algorithm>
#include <filesystem>

namespace lehr {
namespace {

namespace fs = std::filesystem;

bool holds_libraries(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("lib") && name.find(".so") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

// A virtual environment is recognized by its pyvenv.cfg. Conda's environments do not have this file. They
// must not be returned: a libstdc++ lies in their `lib`, and a worker must not use it.
std::vector<std::string> environment_library_folders(std::span<const std::string> search_path) {
  std::vector<std::string> folders;
  for (const std::string& bin : search_path) {
    std::error_code ignored;
    const fs::path prefix = fs::canonical(bin, ignored).parent_path();
    if (ignored || !fs::exists(prefix / "pyvenv.cfg", ignored)) continue;
    std::string folder = (prefix / "lib").string();
    if (std::ranges::find(folders, folder) == folders.end() && holds_libraries(folder))
      folders.push_back(std::move(folder));
  }
  return folders;
}

}  // namespace lehr
