// A task whose kernels are tiny and whose times are a formula: for tests of the tuner that must not depend on
// a machine.
#pragma once

#include <cstdint>

#include "codegen/source.h"
#include "ir/kernel.h"
#include "tune/task.h"

namespace lehr::testing {

/// Returns an 8 x 8 x 8 GEMM on an invented CPU.
Task toy_task();

/// Returns family "toy": knobs rows (1..32 in powers of two), columns (1..8), unroll (1, 2, 4, 8) and pack
/// (0, 1): 384 configs, no two with the same source. The kernel's name spells the config, so a fake measurer
/// can read it. `version`: the template version that it claims.
Candidates toy_candidates(int version = 1);
/// Returns the same with only `unroll`: 4 configs.
Candidates tiny_candidates();

/// Returns a config. The default is rows=1, columns=1, unroll=1, pack=0.
Config toy_config(std::int64_t rows, std::int64_t columns, std::int64_t unroll, std::int64_t pack);
/// Returns the kernel of a config of either.
ir::Kernel toy_kernel(const Config& config);
/// Returns the config whose kernel a source is.
Config config_of(const Source& source);

/// Returns microseconds: 1000 / (rows * columns * unroll) for small products, growing again beyond 64;
/// packing helps by 10 %. The default takes 1000, the fastest config about 14.
double toy_time_us(const Config& config);
/// Returns a Timing of toy_time_us times (1 + up to `noise`, a hash of config and seed).
Outcome toy_outcome(const Source& source, double noise = 0, std::uint64_t seed = 0);

}  // namespace lehr::testing
