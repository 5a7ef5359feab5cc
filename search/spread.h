// Proposals without a model: random configs far apart from one another.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"
#include "search/batch.h"
#include "space/space.h"

namespace lehr {

/// A config as a point: its family's number and the relative position (0 first, 1 last) of each knob's value.
struct KnobPoint {
  std::size_t family = 0;
  std::vector<float> positions;
};
/// CHECKs that the family is known and the knobs are its own.
KnobPoint point_of(const Space& space, const Config& config);

/// In [0, 1]: 1 between families; else the mean over the knobs of 0 for equal values and (1 + |difference|) /
/// 2 for others: that two values differ counts as much as by how many steps.
double knob_distance(const KnobPoint& a, const KnobPoint& b);

/// Adds at most `count` random configs to `batch`: each is the one among `candidates` draws whose smallest
/// distance to the batch and to `others` is the largest. Adds fewer where draws bring nothing new
/// (search/fill.h then helps).
void add_spread(const Space& space, std::size_t count, std::size_t candidates, std::span<const Config> others,
                Batch& batch, Rng& rng);

}  // namespace lehr
