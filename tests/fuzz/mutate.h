// Changes to an input, of the kinds that libFuzzer makes, for builds without libFuzzer.
#pragma once

#include <string>
#include <vector>

#include "base/rng.h"

namespace lehr::test {

/// Returns one of the seeds (not empty), changed in up to eight places: bytes changed, flipped, inserted,
/// erased, moved or doubled, numbers made extreme, a piece of another seed put in.
std::string mutated(const std::vector<std::string>& seeds, Rng& rng);

}  // namespace lehr::test
