#include "deploy/applied_folder.h"

#include <filesystem>

#include "deploy/folder_files.h"

namespace lehr {

bool is_applied_folder(const std::string& path) {
  const std::filesystem::path folder(path);
  return std::filesystem::exists(folder / kAppliedModel) && std::filesystem::exists(folder / kFolderMarker);
}

}  // namespace lehr
