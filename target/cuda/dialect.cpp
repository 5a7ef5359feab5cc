#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/error.h"
#include "target/cuda/cuda_target.h"

namespace lehr {
namespace {

/// Vectors are only moved, so that types but f32 share the unsigned vector of their size: "uint4" for 8 of bf16.
std::string type_name(DType type, int lanes) {
  if (lanes == 1) return scalar_name(type);
  const int bytes = lanes * size_of(type);
  CHECK(bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16, "CUDA moves no vector {} x {}", name_of(type),
        lanes);
  if (type == DType::kF32) return fmt::format("float{}", lanes);
  return bytes == 2 ? "unsigned short" : bytes == 4 ? "unsigned" : fmt::format("uint{}", bytes / 4);
}

std::string_view launch_index(ir::LoopKind kind) {
  switch (kind) {
    case ir::LoopKind::kBlockX:
      return "blockIdx.x";
    case ir::LoopKind::kBlockY:
      return "blockIdx.y";
    case ir::LoopKind::kBlockZ:
      return "blockIdx.z";
    case ir::LoopKind::kThreadX:
      return "threadIdx.x";
    case ir::LoopKind::kThreadY:
      return "threadIdx.y";
    case ir::LoopKind::kThreadZ:
      return "threadIdx.z";
    default:
      break;
  }
  CHECK(false, "not a loop that a launch binds");
  return "";
}

std::string entry_text(const ir::Kernel& kernel, const ir::Launch& launch, const EntryText& entry) {
  const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  std::string params;
  for (const ir::Param& param : kernel.params) {
    const ir::Buffer& buffer = kernel.buffer(param.buffer);
    params += params.empty() ? "" : ", ";
    if (param.map) {
      params += fmt::format("const __grid_constant__ LehrTensorMap {}", buffer.name);
      continue;
    }
    // What other blocks write to a workspace must be seen behind a fence: "restrict" would let the compiler
    // move the access across it.
    const char* alone = param.direction == ir::Direction::kWorkspace ? "" : "__restrict__ ";
    params += fmt::format("{}{}* {}{}", param.direction == ir::Direction::kIn ? "const " : "",
                          scalar_name(buffer.type), alone, buffer.name);
  }
  const std::string bounds = kernel.min_blocks_per_core > 0
                                 ? fmt::format("{}, {}", threads, kernel.min_blocks_per_core)
                                 : fmt::format("{}", threads);
  std::int64_t alignment = 16;  // one float4, one 16-byte cp.async
  for (const ir::Buffer& buffer : kernel.buffers)
    if (buffer.scope == ir::Scope::kShared) alignment = std::max(alignment, buffer.alignment);
  const std::string shared =
      launch.shared_bytes > 0
          ? fmt::format("  extern __shared__ __align__({}) unsigned char lehr_shared[];\n", alignment)
          : "";
  // Compiled in, so that an ordinary launch has the clusters (PTX ISA 9.0, "Cluster Dimension Directives").
  const std::string cluster =
      kernel.cluster > 1 ? fmt::format("__cluster_dims__({}, 1, 1) ", kernel.cluster) : "";
  return fmt::format("extern \"C\" __global__ void {}__launch_bounds__({}) {}({}) {{\n{}{}}}\n", cluster,
                     bounds, entry.name, params, shared, entry.body);
}

std::string launch_text(const ir::Launch& launch, std::int64_t) {
  const auto triple = [](const std::array<std::int64_t, 3>& v) {
    return fmt::format("{} x {} x {}", v[0], v[1], v[2]);
  };
  return fmt::format("// grid: {}\n// blocks of a cluster: {}\n// block: {}\n// shared bytes: {}\n{}",
                     triple(launch.grid), launch.cluster, triple(launch.block), launch.shared_bytes,
                     launch.programmatic ? "// programmatic dependent launch\n" : "");
}

}  // namespace

const Dialect kCudaDialect = {
    .index_type = "int",
    .restrict_word = "__restrict__",
    .unroll_prefix = "#pragma unroll",
    .unroll_counted = false,
    .no_unroll = "#pragma unroll 1",
    .block_barrier = "__syncthreads();",
    .warp_barrier = "__syncwarp();",
    .cluster_barrier = "lehr_cluster_barrier();",
    .register_align = "alignas(16) ",
    .vector_in_memory = "*reinterpret_cast<{}{}*>({})",
    .folds_offsets = true,
    .scalars_in_lanes = false,
    .type_name = &type_name,
    .launch_index = &launch_index,
    .entry = &entry_text,
    .launch_text = &launch_text,
    .snippet = &cuda_snippet,
    .snippets_needed_by = &cuda_snippets_needed_by,
};

}  // namespace lehr
