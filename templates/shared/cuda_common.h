// What the CUDA families share: limits of grids and indices, and what a multiprocessor has for each block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/limits.h"
#include "workload/workload.h"

namespace lehr::cuda {

/// Why a grid cannot hold the batch; nullopt when it can.
std::optional<std::string> why_no_grid(const Gemm& gemm);
/// Why 32-bit indices cannot reach all operands, when block tiles of up to `tile` rows and columns stand out
/// beyond a matrix: the index of what they do not touch must not overflow either.
std::optional<std::string> why_no_indices(const Gemm& gemm, std::int64_t tile);

/// Why sums in f32 cannot become that type there; nullopt when they can.
std::optional<std::string> why_not_stored(DType type, const Limits& limits);

/// Whether a multiprocessor's shared memory holds so many blocks of `bytes` each.
bool shared_memory_holds(const Limits& limits, std::int64_t blocks, std::int64_t bytes);
/// Registers that a thread may have when a multiprocessor holds so many blocks.
std::int64_t registers_granted(const Limits& limits, std::int64_t blocks, std::int64_t threads);

}  // namespace lehr::cuda
