// JSON as Python's json module writes and reads it: with NaN and Infinity, which JSON does not have.
#pragma once

#include <string>

namespace lehr {

/// Replaces NaN, Infinity and -Infinity outside of strings by null. Other words are not changed.
std::string without_nan(std::string text);

}  // namespace lehr
