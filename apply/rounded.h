// A network that only rounds to bf16 and has no kernels. Its error shows how large the error of a network
// with kernels in bf16 may be.
#pragma once

#include <span>
#include <string>

#include "apply/rewrite.h"

namespace lehr {

/// Returns the bytes of the original network with rounding added: for each replacement whose kernel reads
/// bf16, the inputs of the match are rounded once. The engine's casts to bf16 and back do the rounding. For a
/// bias into which constants are folded, the rounding error is added after the last folded node. Matches in
/// f32 are unchanged. A scale and shift after a step that is not linear is not rounded. Throws the same
/// errors as fold().
std::string rounded_network(const OnnxModel& model, const GraphShapes& shapes,
                            std::span<const Replacement> replacements);

}  // namespace lehr
