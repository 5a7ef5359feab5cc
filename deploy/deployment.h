// Facts of each target for deployment: one row per target, in the order of base/target.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "deploy/folder_compilers.h"
#include "deploy/folder_kernel.h"

namespace lehr {

struct Deployment {
  /// Suffix of a kernel's source file: "cpp".
  std::string_view source_suffix;
  /// The target's number in the C interface (runtime/kernels.h): KERNELS_CPU, ...
  std::uint32_t number = 0;
  /// Alignment of tensors in bytes; 0: the alignment of the tensor's elements.
  std::int64_t tensor_alignment = 0;
  /// Does FolderCompilers::why_not().
  std::optional<std::string> (*why_not)(const RebuiltKernel& kernel, FolderCompilers& compilers) = nullptr;
  /// Fills in the kernel's features and self-test (CPU), or the code that a GPU loads.
  void (*prepare)(FolderKernel& kernel, FolderCompilers& compilers) = nullptr;
};

const Deployment& deployment_of(Target target);
const Deployment& deployment_of(const FolderKernel& kernel);

// The rows. Each is defined in the folder of its target.
extern const Deployment kCpuDeployment, kCudaDeployment;

/// Alignment of packed memory in bytes, which suits the widest vectors.
inline constexpr std::int64_t kPackedAlignment = 64;
/// Returns the alignment in bytes of the memory that a parameter of a kernel for `target` points to.
std::int64_t alignment_of(const SourceParam& param, Target target);

}  // namespace lehr
