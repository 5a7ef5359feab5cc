// Problems that show all of the CPU families: odd sizes, edges everywhere, as texts for parse_workload().
#pragma once

#include <string>
#include <vector>

#include "base/limits.h"
#include "base/rng.h"

namespace lehr::testing {

Limits cpu_limits(int vector_bytes, int cores);

/// Returns products, without layouts.
const std::vector<std::string>& shapes();
/// Returns convolutions in nchw.
const std::vector<std::string>& convolutions();
const std::vector<std::string>& depthwise_convolutions();
const std::vector<std::string>& nhwc_convolutions();
/// Returns problems of both operators.
std::vector<std::string> all_shapes();
/// Draws convolutions with random sizes, most of them odd; no depthwise ones.
std::vector<std::string> odd_convolutions(Rng& rng, int count);

}  // namespace lehr::testing
