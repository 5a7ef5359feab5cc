#include "deploy/folder_compilers.h"

#include <fmt/format.h>

#include "base/error.h"
#include "target/archs.h"

namespace lehr {

std::string march_of(const RebuiltKernel& kernel) {
  return std::string(name_of(isa_level_said(kernel.winner.device->compiler)));
}

std::optional<std::string> FolderCompilers::why_not(const RebuiltKernel& kernel) {
  const StoredDevice& device = *kernel.winner.device;
  if (!device.limits.target.has(Feature::kTasks)) {
    std::string reason;
    return gpu(kernel, reason) != nullptr ? std::nullopt : std::optional(reason);
  }
  std::string identity;
  try {
    identity = host(march_of(kernel)).identity();
  } catch (const Error& error) {
    return error.what();
  }
  if (device.compiler == identity) return std::nullopt;
  return fmt::format("it was measured with another compiler ({}) than is here ({}): export it there",
                     device.compiler, identity);
}

HostCompiler& FolderCompilers::host(const std::string& march) {
  const auto known = hosts_.find(march);
  if (known != hosts_.end()) return known->second;
  HostCompilerOptions options = options_.host;
  options.march = march;
  return hosts_.try_emplace(march, std::move(options)).first->second;
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
