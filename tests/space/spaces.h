// Spaces for tests: small ones whose valid configs can be listed, huge ones, and random ones for property
// tests.
#pragma once

#include <cstdint>
#include <vector>

#include "space/space.h"

namespace lehr::testing {

/// Returns 5 knobs, two of them dependent (one has dead ends), two rules; about a hundred valid configs.
FamilySpace small_family();
/// Returns the space of small_family() alone.
Space small_space();
/// Returns two families of very different size: "few" (3 valid configs) and "many" (some hundred).
Space two_family_space();
/// Returns one family in the manner of a GPU GEMM: 12 knobs, two dependent, two rules; 7e7 valid configs.
/// Adds to `asked` how often a rule or a dependent knob is asked.
Space gemm_like_space(std::int64_t* asked = nullptr);
/// Returns more than 1e12 points, of which a few percent are valid. `asked` as above.
Space huge_space(std::int64_t* asked = nullptr);
/// Draws a space at random: 1-3 families of 1-6 knobs, dependent knobs with dead ends, rules. It may be
/// empty.
Space random_space(std::uint64_t seed);

/// Returns all valid points, found without GridCursor: by why_invalid on every point of the product.
std::vector<Point> brute_force(const Space& space);

}  // namespace lehr::testing
