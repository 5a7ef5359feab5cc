#include "measure/vendor/onednn/onednn_library.h"

#include <array>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "measure/system/shared_library.h"

namespace lehr::onednn {
namespace {

/// The beginning of dnnl_version_t, the same in all versions.
struct DnnlVersion {
  int major = 0, minor = 0, patch = 0;
  friend auto operator<=>(const DnnlVersion&, const DnnlVersion&) = default;
  std::string text() const { return fmt::format("{}.{}.{}", major, minor, patch); }
};

/// Debian 13's name of the library contains "3.6".
constexpr std::array<std::string_view, 4> kNames = {"libdnnl.so.3", "libdnnl.so.3.6", "libdnnl.so.2",
                                                    "libdnnl.so"};

std::vector<std::string> paths_in(std::span<const std::string> folders) {
  std::vector<std::string> paths(kNames.begin(), kNames.end());
  for (const std::string& folder : folders)
    for (const std::string_view name : kNames) paths.push_back(fmt::format("{}/{}", folder, name));
  return paths;
}

}  // namespace

std::string OneDnnLibrary::instruction_set() const {
  const auto isa = function_of<int()>(handle, "dnnl_get_effective_cpu_isa");
  const auto name_of = function_of<const char*(int)>(handle, "dnnl_cpu_isa2str");
  if (isa == nullptr || name_of == nullptr) return "";
  constexpr std::string_view kPrefix = "cpu_isa_";
  const std::string_view name = name_of(isa());
  return std::string(name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name);
}

// Libraries that are not chosen stay loaded, too, which costs only address space.
OneDnnLibrary open_library(std::span<const std::string> folders) {
  OneDnnLibrary newest;
  DnnlVersion best, other;
  for (const std::string& path : paths_in(folders)) {
    const SharedLibrary library = load_library(std::span(&path, 1));
    if (!library) continue;
    const auto version_of = function_of<const DnnlVersion*()>(library.handle, "dnnl_version");
    if (version_of == nullptr) throw_environment("{} has no dnnl_version: it is no oneDNN", library.path);
    const DnnlVersion version = *version_of();
    const bool served = version.major == 2 || version.major == 3;
    if (!served) other = version;
    if (!served || version <= best) continue;
    best = version;
    newest = {library.handle, path, version.text(), version.major};
  }
  if (newest.handle != nullptr) return newest;
  if (other.major != 0) throw_environment("oneDNN {} is not served: versions 2 and 3 are", other.text());
  throw_environment(
      "oneDNN is not installed (Debian 12: apt-get install libdnnl2, Debian 13: libdnnl3.6, pip: "
      "onednn-cpu-gomp in an environment whose bin is in PATH)");
}

}  // namespace lehr::onednn
