// Proposals without a model: random configs far apart from one another.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"
#include "search/batch.h"
#include "space/space.h"

namespace lehr {

/// Returns the distance of two points in [0, 1]. It is 1 between families. Else it is the mean over the
/// knobs: 0 for equal values, (1 + |difference|) / 2 for others, where a knob's values lie between 0 (the
/// first) and 1 (the last). So it counts as much that two values differ as by how many steps.
double knob_distance(const Space& space, const Point& a, const Point& b);

/// Adds at most `count` random configs to `batch`. Each is the one among `candidates` draws whose smallest
/// distance to the batch and to `others` is the largest. Adds fewer if draws bring nothing new (search/fill.h
/// then helps).
void add_spread(const Space& space, std::size_t count, std::size_t candidates, std::span<const Point> others,
                Batch& batch, Rng& rng);

}  // namespace lehr
