#include "measure/cuda/nvrtc_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>

namespace lehr {
namespace {

/// Major versions in the libraries' names, the newest first. The flow callback, cubins and the options that
/// we use exist since 12.0. The newest number is not released yet (2025).
constexpr int kNewestMajor = 15, kOldestMajor = 12;

/// Loads the builtins. NVRTC opens libnvrtc-builtins.so.13.0 by its bare name when it compiles, and has no
/// RUNPATH to its own folder: if the loader does not know that folder, the library must be loaded already.
void load_builtins(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path();
    if (entry->path().filename().string().starts_with("libnvrtc-builtins.so."))
      load_library(std::span(&path, 1));
  }
}

/// Returns the paths where `name` may be. The bare name, for the loader's own search, is the first.
std::vector<std::string> places_of(const std::string& name, const std::vector<std::string>& directories) {
  std::vector<std::string> paths = {name};
  for (const std::string& directory : directories) paths.push_back(directory + "/" + name);
  paths.push_back("/usr/local/cuda/lib64/" + name);
  return paths;
}

CudaVersion version_of(const SharedLibrary& library) {
  CudaVersion version;
  if (auto* const ask = function_of<int(int*, int*)>(library.handle, "nvrtcVersion"))
    ask(&version.major, &version.minor);
  return version;
}

bool serves(const std::optional<CudaVersion>& driver, int major) {
  return !driver || major <= driver->major;
}

/// Loads a library and finds its file's path. A library that is loaded already is found by its bare name. It
/// is never unloaded: each unloading would leak the 73 kB of its C++ run time, and each loading costs some 50
/// ms.
SharedLibrary load_from(const std::vector<std::string>& paths) {
  SharedLibrary library = load_library(paths);
  link_map* map = nullptr;
  if (library && dlinfo(library.handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0')
    library.path = map->l_name;
  return library;
}

SharedLibrary load_major(int major, const std::vector<std::string>& directories) {
  return load_from(places_of(fmt::format("libnvrtc.so.{}", major), directories));
}

}  // namespace

std::vector<NvrtcLibrary> installed_nvrtcs(const std::vector<std::string>& directories) {
  std::vector<NvrtcLibrary> found;
  for (int major = kNewestMajor; major >= kOldestMajor; --major)
    if (const SharedLibrary library = load_major(major, directories))
      found.push_back({library, version_of(library)});
  if (!found.empty()) return found;
  // "libnvrtc.so" without a version is a link that only some installations have.
  for (const std::string& path : places_of("libnvrtc.so", directories))
    if (const SharedLibrary library = load_from({path})) found.push_back({library, version_of(library)});
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [](const NvrtcLibrary& each) { return each.version.major; });
  return found;
}

NvrtcChoice choose_nvrtc(const std::vector<std::string>& directories, std::optional<CudaVersion> driver) {
  NvrtcChoice choice;
  for (int major = kNewestMajor; major >= kOldestMajor && !choice.library; --major)
    if (serves(driver, major)) choice.library = load_major(major, directories);
  if (!choice.library) {
    const std::vector<NvrtcLibrary> found = installed_nvrtcs(directories);
    for (const NvrtcLibrary& each : found)
      if (!choice.library && serves(driver, each.version.major)) choice.library = each.library;
    if (found.empty())
      choice.reason = fmt::format("libnvrtc.so was not found; {}", nvrtc_install_hint(driver));
    else if (!choice.library)
      choice.reason =
          fmt::format("the driver serves CUDA {} and loads no code of NVRTC {} ({}); {}", to_text(*driver),
                      to_text(found.back().version), found.back().library.path, nvrtc_install_hint(driver));
  }
  if (choice.library) load_builtins_of(choice.library);
  return choice;
}

void load_builtins_of(const SharedLibrary& library) {
  const std::filesystem::path path = library.path;
  if (path.has_parent_path()) load_builtins(path.parent_path());
}

std::string nvrtc_install_hint(std::optional<CudaVersion> driver) {
  if (driver && driver->major < kOldestMajor) return "install NVIDIA's driver 525 or newer";
  if (driver && driver->major == 12)
    return "install an NVRTC of CUDA 12 (Debian and Ubuntu: cuda-nvrtc-12-9, pip: nvidia-cuda-nvrtc-cu12) or "
           "name its "
           "directory in LD_LIBRARY_PATH, or install NVIDIA's driver 580 or newer";
  return "install the CUDA toolkit's NVRTC (12.0 or newer; Debian and Ubuntu: cuda-nvrtc-13-0, pip: "
         "nvidia-cuda-nvrtc) or name its directory in LD_LIBRARY_PATH";
}

}  // namespace lehr
