// The cost of 32 threads' addresses: bank conflicts of shared memory, sectors of global memory, and distinct
// values. Internal to costmodel/.
#pragma once

#include "costmodel/lane_values.h"

namespace lehr {

/// Returns the bank conflict degree of one warp's access: how many times the cycles without conflicts, at
/// least 1. Each thread accesses `bytes` at `index`, in elements of `element_bytes`. Shared memory has 32
/// banks of 4 bytes. 8- and 16-byte accesses are served per half and quarter warp. Threads of one phase that
/// read the same word share it (CUDA C++ Programming Guide, Compute Capability 5.x and later).
double bank_conflict_degree(const LaneValue& index, double bytes, int element_bytes);

/// NVIDIA L1/L2 sector (Nsight Compute documentation, "sectors per request").
inline constexpr int kSectorBytes = 32;
/// Returns how many distinct sectors one warp's access of `access_bytes` per thread touches. `index` is in
/// elements of `element_bytes` (a power of two up to 32), thread 0 at a sector's start.
double sectors_of_warp(const LaneValue& index, double access_bytes, int element_bytes);

/// Returns how many of the 32 numbers are distinct.
int distinct_values(const LaneValue& value);

}  // namespace lehr
