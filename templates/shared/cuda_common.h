// Shared code of the CUDA families: limits of grids and indices, and a multiprocessor's resources for each
// block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/limits.h"
#include "workload/workload.h"

namespace lehr::cuda {

/// Explains why a grid cannot hold the batch. Returns nullopt if it can.
std::optional<std::string> why_no_grid(const Gemm& gemm);
/// Explains why 32-bit indices cannot reach all operands, when block tiles of up to `tile` rows and columns
/// extend beyond a matrix: the indices of untouched elements must not overflow either.
std::optional<std::string> why_no_indices(const Gemm& gemm, std::int64_t tile);

/// Explains why sums in f32 cannot be converted to that type there. Returns nullopt if they can.
std::optional<std::string> why_not_stored(DType type, const Limits& limits);

/// Returns whether a multiprocessor's shared memory holds `blocks` blocks of `bytes` each.
bool shared_memory_holds(const Limits& limits, std::int64_t blocks, std::int64_t bytes);
/// Returns the registers that a thread may have when a multiprocessor holds `blocks` blocks.
std::int64_t registers_granted(const Limits& limits, std::int64_t blocks, std::int64_t threads);

}  // namespace lehr::cuda
