// The part of the C++ device-intrinsics header for functions of one value (ir::UnaryOp).
#pragma once

#include <string>
#include <vector>

namespace lehr {

/// Returns the text of snippet `name`; "" for an unknown name. "unary_silu16" defines `lehr_silu` for 16
/// lanes. For all finite x, exp, tanh, sigmoid and erf are within 6 units in the last place of the exact
/// value (tests/codegen/math_test.cpp checks that); SiLU and GELU are within 6 units in the last place of x.
/// "unary_exp_full", "unary_log" and "unary_rsqrt" are within 2 units, and "unary_sqrt" is the nearest value.
/// NaN gives NaN. All of these have the values of IEEE 754 at the ends of their domains, and do not flush
/// denormal numbers, except that exp_full gives 0 below 2^-126.
std::string math_snippet(const std::string& name);
/// Returns the snippets that `name` calls; each sorts before it.
std::vector<std::string> math_snippets_needed_by(const std::string& name);

}  // namespace lehr
