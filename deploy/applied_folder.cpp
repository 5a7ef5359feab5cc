#include "deploy/applied_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "deploy/bundle_folder.h"

namespace lehr {

std::string plugin_kernels(const std::string& bundle) {
  const std::string folder = fmt::format("{}/{}", bundle, kPluginKernels);
  if (!is_bundle_folder(folder))
    throw_user("{} holds no kernels for a network: `lehr export --out {}` writes some", bundle, bundle);
  return folder;
}

std::vector<FolderFile> bundle_files(const std::string& bundle) {
  const std::filesystem::path folder(bundle);
  std::vector<FolderFile> files = {
      {fmt::format("{}/manifest.json", kAppliedKernels), read_bytes(folder / "manifest.json")}};
  const nlohmann::json manifest = nlohmann::json::parse(files[0].bytes, nullptr, false);
  if (!manifest.is_object() || !manifest.contains("files") || !manifest["files"].is_object())
    throw_user("{}/manifest.json names no files", bundle);
  for (const auto& [path, hash] : manifest["files"].items())
    files.push_back({fmt::format("{}/{}", kAppliedKernels, path), read_bytes(folder / path)});
  return files;
}

bool is_applied_folder(const std::string& path) {
  const std::filesystem::path folder(path);
  return std::filesystem::exists(folder / kAppliedModel) &&
         is_bundle_folder((folder / kAppliedKernels).string());
}

}  // namespace lehr
