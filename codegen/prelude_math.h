// The part of the device-intrinsics header for functions of one value (ir::UnaryOp); used by prelude.cpp
// only.
#pragma once

#include <string>
#include <vector>

#include "base/limits.h"

namespace lehr {

/// The text of snippet `name`, "" when there is none of that name. "unary_silu16": `lehr_silu` of 16 lanes
/// (C++) or of one float (CUDA, "unary_silu1"). For all finite x: exp, tanh, sigmoid and erf within 6 units
/// in the last place (tests/codegen/math_test.cpp holds the C++ ones to that; CUDA's expf, tanhf and erff are
/// within 2, CUDA C++ Programming Guide 13.0, "Mathematical Functions", and division adds 2), SiLU and GELU
/// within 6 units in the last place of x. NaN gives NaN.
std::string math_snippet(Target target, const std::string& name);
/// Snippets that `name` calls; each sorts before it.
std::vector<std::string> math_snippets_needed_by(Target target, const std::string& name);

}  // namespace lehr
