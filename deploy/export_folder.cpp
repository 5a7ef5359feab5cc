#include "deploy/export_folder.h"

#include "deploy/deployment.h"

namespace lehr {

std::vector<FolderFile> export_folder(std::span<const RebuiltKernel> kernels,
                                      std::span<const RebuiltSet> sets, FolderCompilers& compilers,
                                      std::string_view tool_version) {
  std::vector<FolderKernel> all;
  for (const RebuiltKernel& kernel : kernels) {
    FolderKernel& one = all.emplace_back();
    one.rebuilt = kernel;
    one.name = deployed_name(kernel.source, kernel.winner.device->compiler);
    deployment_of(one).prepare(one, compilers);
  }
  for (const Target target : kTargets) {
    std::vector<FolderKernel*> its_own;
    for (FolderKernel& kernel : all)
      if (kernel.rebuilt.source.target == target) its_own.push_back(&kernel);
    deployment_of(target).compile(its_own, compilers);
  }
  std::vector<FolderFile> files = libraries_of(all);
  files.push_back({"manifest.json", manifest_text(all, sets, files, tool_version)});
  return files;
}

}  // namespace lehr
