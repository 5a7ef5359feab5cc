// The result that candidates are compared with, computed in double precision.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workload/inputs.h"
#include "workload/workload.h"

namespace lehr {

/// Expected elements of an output: all elements in order if `indices` is empty, else the elements with these
/// flat indices.
struct Reference {
  std::vector<std::int64_t> indices;
  std::vector<float> values;
  /// Bound on each element's |result - expected|, before the result is rounded to an output of 16 or 8 bits.
  /// It follows from the types, the length of the sums and the number of elements: in only one of a million
  /// checks, the largest error of a correct kernel exceeds it (tolerance.h, conv2d/winograd.h;
  /// epilogue_steps.h for the steps after the sums). 0 for integers if each step is exact: then the result
  /// must equal `values` bit for bit.
  double tolerance = 0;
  /// The bound of each element, infinite if any result is correct. If empty, `tolerance` holds for all
  /// elements.
  std::vector<float> bounds = {};
};

/// Returns the reference of each output. It has all elements if that takes at most `full_flops` operations.
/// Otherwise it has whole rows: the first, the last, and evenly spread ones in between. These are shifted by
/// pseudo-random offsets, so that every column tile and most row tiles are checked.
std::vector<Reference> make_references(const Workload& workload,
                                       const std::vector<std::vector<float>>& inputs,
                                       double full_flops = 8e9);

/// Returns Reference::tolerance for a comparison of `elements` elements.
double tolerance_for(const Workload& workload, std::int64_t elements);

/// Returns the expected values of the elements `indices` of an output, for the inputs of that seed. `output`
/// is the number of the output. Each element is computed separately, by `threads` threads.
std::vector<float> reference_at(const Workload& workload, std::uint64_t seed, std::size_t output,
                                std::span<const std::int64_t> indices, int threads = 1);
/// Returns indices of elements of an output that show whether another implementation computes the same: the
/// corners; both sides of the edges of tiles of 16 and of groups, along each dimension; and some elements in
/// between. Returns all elements if they are few, otherwise as many as need about `most_products` products,
/// but 64 to 4096. Ascending.
std::vector<std::int64_t> telling_elements(const Workload& workload, std::size_t output,
                                           std::int64_t most_products);

}  // namespace lehr
