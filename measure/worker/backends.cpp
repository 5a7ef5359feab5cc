#include "measure/worker/backends.h"

#include <array>

#include "measure/cuda/cuda_backend.h"
#include "measure/host/host_backend.h"
#include "measure/worker/compile_workers.h"

namespace lehr {
namespace {

constexpr std::array<const Backend*, kTargets.size()> kBackends = {&kHostBackend, &kCudaBackend};

}  // namespace

std::span<const Backend* const> backends() {
  return kBackends;
}

const Backend& backend_of(Target target) {
  return *kBackends[target.index()];
}

std::string_view cache_policy(const Device& device) {
  return device.cold ? "cold" : backend_of(device.limits.target).caches;
}

std::shared_ptr<Supervised> supervise(const ToolPaths& tools) {
  return tools.supervised ? supervise(tools.program) : nullptr;
}

std::unique_ptr<Compiler> make_compiler(const Limits& limits, const ToolPaths& tools,
                                        const CompileSettings& settings) {
  const Backend& backend = backend_of(limits.target);
  if (backend.compiler != nullptr) return backend.compiler(tools, settings);
  CompileWorkersOptions options;
  options.worker.program = tools.program;
  options.worker.stop = settings.stop;
  options.target = limits.target;
  options.compiler.arch = limits.arch;
  options.compiler.library_directories = backend.library_folders(tools);
  options.workers = settings.jobs;
  options.temp_base = tools.scratch;
  return std::make_unique<CompileWorkers>(std::move(options));
}

}  // namespace lehr
