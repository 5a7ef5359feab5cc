// Kernels for processors in a library: each is compiled as it was measured.
#include "deploy/deployment.h"

#include <fmt/format.h>

#include "base/error.h"
#include "measure/host/processor_features.h"
#include "runtime/kernels.h"

namespace lehr {
namespace {

Isa isa_of(const RebuiltKernel& kernel) {
  return isa_of_identity(kernel.winner.device->compiler);
}

std::optional<std::string> why_not_on_cpu(const RebuiltKernel& kernel, FolderCompilers& compilers) {
  const std::string& measured_with = kernel.winner.device->compiler;
  std::string identity;
  try {
    identity = compilers.host(isa_of(kernel)).identity();
  } catch (const Error& error) {
    return error.what();
  }
  if (measured_with == identity) return std::nullopt;
  return fmt::format("it was measured with another compiler ({}) than is here ({}): export it there",
                     measured_with, identity);
}

void prepare_for_cpu(FolderKernel& kernel, FolderCompilers& compilers) {
  kernel.features = features_of(compilers.host(isa_of(kernel.rebuilt)).macros());
  kernel.test = self_test_of(kernel.rebuilt.workload);
}

}  // namespace

constinit const Deployment kCpuDeployment = {
    .source_suffix = "cpp", .number = KERNELS_CPU, .why_not = &why_not_on_cpu, .prepare = &prepare_for_cpu};

}  // namespace lehr
