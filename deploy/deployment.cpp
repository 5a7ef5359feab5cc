#include "deploy/deployment.h"

#include <array>

namespace lehr {
namespace {

constexpr std::array kRows = {&kCpuDeployment, &kCudaDeployment};
static_assert(kRows.size() == kTargets.size());

// Guaranteed alignment of workspaces in bytes (codegen/source.h).
constexpr std::int64_t kWorkspaceAlignment = 256;

}  // namespace

const Deployment& deployment_of(Target target) {
  return *kRows[target.index()];
}
const Deployment& deployment_of(const FolderKernel& kernel) {
  return deployment_of(kernel.rebuilt.source.target);
}

std::int64_t alignment_of(const SourceParam& param, Target target) {
  if (param.direction == ir::Direction::kPrepacked) return kPackedAlignment;
  if (param.direction == ir::Direction::kWorkspace) return kWorkspaceAlignment;
  const std::int64_t least = deployment_of(target).tensor_alignment;
  return least > 0 ? least : size_of(param.type);
}

}  // namespace lehr
