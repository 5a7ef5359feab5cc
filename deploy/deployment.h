// What deployment has to know of each target: one row for each, in the order of base/target.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "deploy/folder_compilers.h"
#include "deploy/folder_kernel.h"

namespace lehr {

struct Deployment {
  /// Of a kernel's source: "cpp".
  std::string_view source_suffix;
  /// In the C interface (runtime/kernels.h): KERNELS_CPU, ...
  std::uint32_t number = 0;
  /// Bytes to which a tensor has to be aligned; 0: as its elements.
  std::int64_t tensor_alignment = 0;
  /// FolderCompilers::why_not().
  std::optional<std::string> (*why_not)(const RebuiltKernel& kernel, FolderCompilers& compilers) = nullptr;
  /// Fills in its features and its self-test, or what a GPU loads.
  void (*prepare)(FolderKernel& kernel, FolderCompilers& compilers) = nullptr;
};

const Deployment& deployment_of(Target target);
const Deployment& deployment_of(const FolderKernel& kernel);

// The rows, each in its target's room.
extern const Deployment kCpuDeployment, kCudaDeployment;

/// Alignment of packed memory, in bytes: what vectors at their best need.
inline constexpr std::int64_t kPackedAlignment = 64;
/// Returns the alignment of what a parameter of a kernel for `target` points to, in bytes.
std::int64_t alignment_of(const SourceParam& param, Target target);

}  // namespace lehr
