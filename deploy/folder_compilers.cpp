#include "deploy/folder_compilers.h"

#include <fmt/format.h>

#include "deploy/deployment.h"

namespace lehr {

std::optional<std::string> FolderCompilers::why_not(const RebuiltKernel& kernel) {
  return deployment_of(kernel.source.target).why_not(kernel, *this);
}

HostCompiler& FolderCompilers::host(const Isa& isa) {
  const std::string name = name_of(isa);
  const auto known = hosts_.find(name);
  if (known != hosts_.end()) return known->second;
  HostCompilerOptions options = options_.host;
  options.isa = isa;
  return hosts_.try_emplace(name, std::move(options)).first->second;
}

std::string FolderCompilers::kept_object(const RebuiltKernel& kernel) const {
  const Compiler* const tuned = options_.tuned;
  if (tuned == nullptr || tuned->identity() != kernel.winner.device->compiler) return "";
  return tuned->kept_object(kernel.source);
}

NvrtcCompiler* FolderCompilers::gpu(const RebuiltKernel& kernel, std::string& reason) {
  const StoredDevice& device = *kernel.winner.device;
  const auto known = gpus_.find(device.compiler);
  if (known != gpus_.end()) return known->second.get();
  std::string here;
  WorkerCompilerOptions options;
  options.arch = device.limits.arch;
  options.library_directories = options_.gpu_libraries;
  std::unique_ptr<NvrtcCompiler> made = NvrtcCompiler::of(device.compiler, options, here);
  if (!made) {
    reason = fmt::format("it was measured with {}, and {}: install that, or export it where it is",
                         device.compiler, here);
    return nullptr;
  }
  return (gpus_[device.compiler] = std::move(made)).get();
}

}  // namespace lehr
