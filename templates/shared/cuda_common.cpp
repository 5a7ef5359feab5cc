#include "templates/shared/cuda_common.h"

#include <fmt/core.h>

#include <algorithm>

namespace lehr::cuda {
namespace {

// CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability".
constexpr std::int64_t kMaxBatch = 65535;  // gridDim.z
// Schedulers of a multiprocessor (CUDA C++ Programming Guide 13.0, the sections on 8.x and 9.0,
// "Architecture").
constexpr std::int64_t kSchedulers = 4;
// Registers of a thread are rounded up to 8, so that a warp gets a multiple of 256.
constexpr std::int64_t kRegisterGranule = 8;

}  // namespace

std::optional<std::string> why_no_grid(const Gemm& g) {
  if (g.batch <= kMaxBatch) return std::nullopt;
  return fmt::format("a grid holds {} matrices of a batch at most, not {}", kMaxBatch, g.batch);
}

std::optional<std::string> why_no_indices(const Gemm& g, std::int64_t tile) {
  const auto reach = [&](std::int64_t rows, std::int64_t columns) {
    return g.batch * rows * columns + tile * (rows + columns) + tile * tile;
  };
  if (std::max({reach(g.m, g.k), reach(g.k, g.n), reach(g.m, g.n)}) <= INT32_MAX) return std::nullopt;
  return "an operand is too large for 32-bit indices";
}

std::optional<std::string> why_not_stored(DType type, const Limits& limits) {
  if (type != DType::kBF16 || limits.has(Ability::kBF16)) return std::nullopt;
  return fmt::format("{} has no conversion to bf16: sm_80 and newer have", limits.arch);
}

bool shared_memory_holds(const Limits& limits, std::int64_t blocks, std::int64_t bytes) {
  return blocks * (bytes + limits.shared_bytes_reserved) <= limits.shared_bytes_per_core;
}

std::int64_t registers_granted(const Limits& limits, std::int64_t blocks, std::int64_t threads) {
  // Each of the four schedulers has a quarter of the registers, and a warp belongs to one scheduler.
  const std::int64_t warps = blocks * threads / limits.warp_size;
  const std::int64_t of_scheduler = (warps + kSchedulers - 1) / kSchedulers;
  const std::int64_t share = limits.registers_per_core / (of_scheduler * kSchedulers * limits.warp_size);
  return std::min<std::int64_t>(share / kRegisterGranule * kRegisterGranule, limits.max_registers_per_thread);
}

}  // namespace lehr::cuda
