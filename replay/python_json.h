// Reads JSON in the form that Python's json module writes: with NaN and Infinity, which JSON does not have.
#pragma once

#include <string>

namespace lehr {

/// Replaces NaN, Infinity and -Infinity outside of strings by null. Other words stay.
std::string without_nan(std::string text);

}  // namespace lehr
