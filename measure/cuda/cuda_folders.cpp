// Looks at folders. Loads no library.
#include "measure/cuda/cuda_folders.h"

#include <algorithm>
#include <filesystem>
#include <functional>

namespace lehr {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// Returns the entries of `folder` with matching names, in descending order: the newest version first.
std::vector<fs::path> entries(const fs::path& folder,
                              const std::function<bool(const std::string&)>& matches) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (matches(entry->path().filename().string())) found.push_back(entry->path());
  std::ranges::sort(found, std::greater());
  return found;
}

bool has_cuda_libraries(const fs::path& folder) {
  return !entries(folder, [](const std::string& name) {
            return name.starts_with("libnvrtc.so.") || name.starts_with("libcublasLt.so.") ||
                   name.starts_with("libcudnn.so.");
          }).empty();
}

/// Returns the folders of a toolkit's libraries: NVIDIA's packages fill lib64 (a link to
/// targets/x86_64-linux/lib), and conda's packages fill lib.
std::vector<fs::path> toolkit_folders(const fs::path& toolkit) {
  return {toolkit / "lib64", toolkit / "targets/x86_64-linux/lib", toolkit / "targets/sbsa-linux/lib",
          toolkit / "lib"};
}

/// Returns the folders of the wheels below `prefix`/lib/python3.*: nvidia/cu13/lib since CUDA 13, and
/// nvidia/cuda_nvrtc/lib before.
std::vector<fs::path> wheel_folders(const fs::path& prefix) {
  std::vector<fs::path> folders;
  for (const fs::path& python :
       entries(prefix / "lib", [](const std::string& name) { return name.starts_with("python3"); }))
    for (const char* packages : {"site-packages", "dist-packages"})
      for (const fs::path& wheel : entries(python / packages / "nvidia",
                                           [](const std::string& name) { return name.starts_with("cu"); }))
        folders.push_back(wheel / "lib");
  return folders;
}

}  // namespace

std::vector<std::string> cuda_library_folders(std::span<const std::string> search_path,
                                              const std::string& cuda_home, const std::string& root) {
  std::vector<fs::path> candidates;
  const auto add = [&](const std::vector<fs::path>& folders) {
    candidates.insert(candidates.end(), folders.begin(), folders.end());
  };
  std::error_code ignored;
  if (!cuda_home.empty()) add(toolkit_folders(cuda_home));
  for (const std::string& folder : search_path)
    if (fs::exists(fs::path(folder) / "nvcc", ignored)) add(toolkit_folders(fs::path(folder).parent_path()));
  const fs::path local = root + "/usr/local";
  add(toolkit_folders(local / "cuda"));
  for (const fs::path& toolkit :
       entries(local, [](const std::string& name) { return name.starts_with("cuda-"); }))
    add(toolkit_folders(toolkit));
  for (const std::string& folder : search_path) add(wheel_folders(fs::path(folder).parent_path()));

  std::vector<std::string> folders;
  for (const fs::path& candidate : candidates) {
    if (!is_folder(candidate)) continue;
    std::string folder = fs::canonical(candidate, ignored).string();
    if (folder.empty() || std::ranges::find(folders, folder) != folders.end()) continue;
    if (has_cuda_libraries(folder)) folders.push_back(std::move(folder));
  }
  return folders;
}

}  // namespace lehr
