#include "measure/cuda/cuda_backend.h"

#include <fmt/core.h>

#include "base/error.h"
#include "measure/cuda/check_kernels.h"
#include "measure/cuda/cuda_device.h"
#include "measure/cuda/cuda_folders.h"
#include "measure/cuda/cuda_runner.h"
#include "measure/cuda/nvrtc.h"
#include "measure/cuda/nvrtc_library.h"

namespace lehr {
namespace {

std::vector<std::string> folders_of(const ToolPaths& tools) {
  return cuda_library_folders(tools.path, tools.cuda_home);
}

std::string describe_devices(const ToolPaths&) {
  std::string reason, text;
  for (int ordinal = 0;; ++ordinal) {
    const std::optional<Device> device = cuda_device(ordinal, reason);
    if (!device && ordinal == 0)
      throw_environment("{}: CUDA kernels can be generated and compiled, but not timed", reason);
    if (!device) return text;
    text += fmt::format("{}cuda:{} {}, {}, {} SMs, driver {}", ordinal == 0 ? "" : "; ", ordinal,
                        device->name, device->limits.arch, device->limits.cores, device->driver);
  }
}

std::string describe_nvrtc(const ToolPaths& tools) {
  if (const auto reason = why_no_nvrtc(folders_of(tools))) throw_environment("{}", *reason);
  const NvrtcCompiler compiler({.arch = "sm_80", .library_directories = folders_of(tools)});
  const std::optional<CudaVersion> driver = installed_driver_version();
  std::string text = fmt::format("{} ({}), the newest", compiler.identity(), compiler.library_path());
  if (driver) text += fmt::format(" whose code the driver loads, which serves CUDA {}", to_text(*driver));
  std::string others;
  for (const NvrtcLibrary& each : installed_nvrtcs(folders_of(tools)))
    if (each.library.path != compiler.library_path())
      others += fmt::format("; {} is here too ({})", to_text(each.version), each.library.path);
  return text + others;
}

constexpr MachinePart kCudaParts[] = {{"cuda device", &describe_devices}, {"nvrtc", &describe_nvrtc}};

}  // namespace

constinit const Backend kCudaBackend = {
    .target = Target::kCuda,
    .find = [](const DeviceRequest& request,
               std::string& why_not) { return cuda_device(request.ordinal, why_not); },
    .numbered = true,
    .instead =
        "--device cpu tunes on the CPU instead, and lehr compile --arch sm_90a compiles CUDA kernels "
        "without a GPU",
    .parts = kCudaParts,
    .library_folders = &folders_of,
    .why_no_compiler = [](const ToolPaths& tools) { return why_no_nvrtc(folders_of(tools)); },
    .worker_compiler = [](const WorkerCompilerOptions& options) -> std::unique_ptr<WorkerCompiler> {
      return std::make_unique<NvrtcCompiler>(options);
    },
    .make_runner = []() -> std::unique_ptr<Runner> { return std::make_unique<CudaRunner>(); },
    .check_kernels = &check_kernels,
    .caches = "rotating",
};

}  // namespace lehr
