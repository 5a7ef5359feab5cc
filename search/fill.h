// Completes a batch with random configs, and detects when a space is exhausted.
#pragma once

#include <cstddef>

#include "base/rng.h"
#include "search/batch.h"
#include "space/space.h"

namespace lehr {

/// Adds at most `count` random configs to `batch`, and returns the number added. If draws hardly find new
/// configs any more (nearly all of the space is seen, or sampling finds nothing), it walks the whole space
/// and draws from the unseen configs. If it adds fewer than `count`, the batch is full or the space has no
/// further config.
std::size_t add_random(const Space& space, std::size_t count, Batch& batch, Rng& rng);

}  // namespace lehr
