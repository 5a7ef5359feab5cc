// The answer that candidates are compared with, computed in double precision.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workload/inputs.h"
#include "workload/workload.h"

namespace lehr {

/// Expected output elements. `indices` empty: every element, in order. Otherwise only those flat indices.
struct Reference {
  std::vector<std::int64_t> indices;
  std::vector<float> values;
  /// Bound on each element's |result - expected|, before the result is rounded to an output of 16 or 8 bits.
  /// By types, length of the sums and how many values there are: the largest error of all right ones exceeds
  /// it once in a million checks (tolerance.h, conv2d/winograd.h; epilogue_steps.h for what follows the
  /// sums). 0 of integers where each step is exact: then `values` are what must come out, bit for bit.
  double tolerance = 0;
  /// The bound of each value by itself, infinite where any result is right; empty: `tolerance` holds.
  std::vector<float> bounds = {};
};

/// The reference of each output, in their order. Full for up to `full_flops` operations, else whole rows of
/// them: the first, the last and evenly spread ones between them that are shifted by pseudo-random offsets,
/// so that every column tile and most row tiles are seen.
std::vector<Reference> make_references(const Workload& workload,
                                       const std::vector<std::vector<float>>& inputs,
                                       double full_flops = 8e9);

/// Reference::tolerance where so many elements are compared.
double tolerance_for(const Workload& workload, std::int64_t elements);

/// Expected values of these flat elements of an output (`output` counts outputs) for the inputs of that seed,
/// each computed by itself, on so many threads.
std::vector<float> reference_at(const Workload& workload, std::uint64_t seed, std::size_t output,
                                std::span<const std::int64_t> indices, int threads = 1);
/// Elements of an output that tell whether something else computes the same: the corners; along each
/// dimension both sides of the edges of tiles of 16 and of groups; and some between. All elements where these
/// are few; else as many as take about `most_products` products, but 64 at least and 4096 at most. Ascending.
std::vector<std::int64_t> telling_elements(const Workload& workload, std::size_t output,
                                           std::int64_t most_products);

}  // namespace lehr
