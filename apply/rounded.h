// What rounding to bf16 alone does to a network: the measure of how far one with kernels of bf16 may be off.
#pragma once

#include <span>
#include <string>

#include "apply/rewrite.h"

namespace lehr {

/// The bytes of the original, in which each place of the replacements reads what its kernel reads in bf16
/// rounded once: by an engine's casts to bf16 and back, a bias into which others are folded by what rounding
/// adds to it. Places of f32 stay. What becomes a scale and a shift behind something that is not linear is
/// not rounded. Throws Error(kUser) as fold().
std::string rounded_network(const OnnxModel& model, const GraphShapes& shapes,
                            std::span<const Replacement> replacements);

}  // namespace lehr
