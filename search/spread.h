// Proposals without a model: random configs that are far from one another.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/rng.h"
#include "search/batch.h"
#include "space/space.h"

namespace lehr {

/// Returns the distance of two points, in [0, 1]. It is 1 if their families differ. If not, it is the mean
/// over the knobs of 0 for equal values and (1 + |difference|) / 2 for different values, where the positions
/// of a knob's values are scaled to [0, 1]. So half of a knob's distance is for values being different, and
/// half for how far apart they are.
double knob_distance(const Space& space, const Point& a, const Point& b);

/// Adds at most `count` random configs to `batch`. For each config it makes `candidates` draws, and adds the
/// draw whose smallest distance to the batch and to `others` is the largest. Adds fewer if draws find nothing
/// new (search/fill.h can add more then).
void add_spread(const Space& space, std::size_t count, std::size_t candidates, std::span<const Point> others,
                Batch& batch, Rng& rng);

}  // namespace lehr
