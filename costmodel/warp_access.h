// The cost of 32 threads' addresses: bank conflicts of shared memory, sectors of global memory, and distinct
// values. Internal to costmodel/.
#pragma once

#include "costmodel/lane_values.h"

namespace lehr {

/// Returns the degree of bank conflicts of one warp's access: the factor by which conflicts multiply its
/// cycles, at least 1. Each thread accesses `bytes` bytes at `index`, which counts elements of
/// `element_bytes`. Shared memory has 32 banks of 4 bytes. Accesses of 8 and 16 bytes are served for a half
/// and a quarter of the warp at a time. Threads that read the same word at the same time share it (CUDA C++
/// Programming Guide, Compute Capability 5.x and later).
double bank_conflict_degree(const LaneValue& index, double bytes, int element_bytes);

/// Bytes of a sector of NVIDIA's L1 and L2 (Nsight Compute documentation, "sectors per request").
inline constexpr int kSectorBytes = 32;
/// Returns the number of distinct sectors that one warp's access touches, with `access_bytes` per thread.
/// `index` counts elements of `element_bytes` (a power of two up to 32). Thread 0 accesses the beginning of a
/// sector.
double sectors_of_warp(const LaneValue& index, double access_bytes, int element_bytes);

/// Returns how many of the 32 numbers are distinct.
int distinct_values(const LaneValue& value);

}  // namespace lehr
