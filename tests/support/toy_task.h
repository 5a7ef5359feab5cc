// A task with tiny kernels whose times are computed by a formula, for tests of the tuner that must not depend
// on a machine.
#pragma once

#include <cstdint>

#include "codegen/source.h"
#include "ir/kernel.h"
#include "tune/task.h"

namespace lehr::testing {

/// Returns an 8 x 8 x 8 GEMM on an invented CPU.
Task toy_task();

/// Returns the family "toy" with the knobs rows (1 to 32, powers of two), columns (1 to 8, powers of two),
/// unroll (1, 2, 4, 8) and pack (0, 1): 384 configs, all with different sources. The kernel's name contains
/// the config, so that a fake measurer can read it. `version` is the template version.
Candidates toy_candidates(int version = 1);
/// Returns the same family with the knob `unroll` only: 4 configs.
Candidates tiny_candidates();

/// Returns a config. The default is rows=1, columns=1, unroll=1, pack=0.
Config toy_config(std::int64_t rows, std::int64_t columns, std::int64_t unroll, std::int64_t pack);
/// Returns the kernel of a config of either family.
ir::Kernel toy_kernel(const Config& config);
/// Returns the config of the kernel in `source`.
Config config_of(const Source& source);

/// Returns microseconds: 1000 / (rows * columns * unroll) for small products; times grow again for products
/// beyond 64. Packing saves 10 %. The default takes 1000 us, the fastest config about 14 us.
double toy_time_us(const Config& config);
/// Returns a Timing of toy_time_us() times (1 + x), where x is up to `noise` and is a hash of config and
/// seed.
Outcome toy_outcome(const Source& source, double noise = 0, std::uint64_t seed = 0);

}  // namespace lehr::testing
