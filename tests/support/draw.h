// Draws for the generators of random cases.
#pragma once

#include <cstddef>
#include <span>

#include "base/rng.h"

namespace lehr::testing {

template <typename T>
T one_of(Rng& rng, std::span<const T> values) {
  return values[rng.below(values.size())];
}

template <typename T, std::size_t kCount>
T one_of(Rng& rng, const T (&values)[kCount]) {
  return values[rng.below(kCount)];
}

/// True with the given probability, which is rounded to a thousandth.
inline bool chance(Rng& rng, double probability) {
  return static_cast<double>(rng.below(1000)) < 1000 * probability;
}

}  // namespace lehr::testing
