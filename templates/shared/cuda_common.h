// Shared code of the CUDA families: limits of grids and indices, and the resources of a multiprocessor for
// each block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/limits.h"
#include "workload/workload.h"

namespace lehr::cuda {

/// Explains why a grid cannot hold the batch. Returns nullopt if it can.
std::optional<std::string> why_no_grid(const Gemm& gemm);
/// Explains why 32-bit indices cannot reach all operands when block tiles of up to `tile` rows and columns
/// extend beyond a matrix. (The indices of elements that are not accessed must not overflow, either.)
std::optional<std::string> why_no_indices(const Gemm& gemm, std::int64_t tile);

/// Explains why the device cannot convert sums in f32 to `type`. Returns nullopt if it can.
std::optional<std::string> why_not_stored(DType type, const Limits& limits);

/// Returns whether the shared memory of a multiprocessor is large enough for `blocks` blocks of `bytes` each.
bool shared_memory_holds(const Limits& limits, std::int64_t blocks, std::int64_t bytes);
/// Returns the number of registers that a thread may have if `blocks` blocks must fit on a multiprocessor.
std::int64_t registers_granted(const Limits& limits, std::int64_t blocks, std::int64_t threads);

}  // namespace lehr::cuda
