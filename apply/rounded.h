// The effect of rounding to bf16 alone on a network: the measure of how far one with kernels in bf16 may be
// off.
#pragma once

#include <span>
#include <string>

#include "apply/rewrite.h"

namespace lehr {

/// Returns the original's bytes with rounding: each match of the replacements rounds its inputs once if its
/// kernel reads them in bf16. An engine's casts to bf16 and back do this; for a bias with folded constants
/// the rounding error is added. Matches in f32 are unchanged. A scale and shift after a step that is not
/// linear is not rounded. Throws Error(kUser) as fold().
std::string rounded_network(const OnnxModel& model, const GraphShapes& shapes,
                            std::span<const Replacement> replacements);

}  // namespace lehr
