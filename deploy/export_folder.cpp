#include "deploy/export_folder.h"

#include "deploy/deployment.h"

namespace lehr {

std::vector<FolderFile> export_folder(std::vector<FolderKernel> kernels, std::span<const RebuiltSet> sets,
                                      FolderCompilers& compilers, std::string_view tool_version) {
  for (const Target target : kTargets) {
    std::vector<FolderKernel*> its_own;
    for (FolderKernel& kernel : kernels)
      if (kernel.rebuilt.source.target == target) its_own.push_back(&kernel);
    deployment_of(target).compile(its_own, compilers);
  }
  std::vector<FolderFile> files = libraries_of(kernels);
  files.push_back({"manifest.json", manifest_text(kernels, sets, files, tool_version)});
  return files;
}

}  // namespace lehr
