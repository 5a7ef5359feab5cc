// The features of a processor beyond the least of its architecture: their names, macros and flags.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// Returns the features that a compiler uses, from the names of the macros that it defines.
std::vector<std::string> features_of(std::span<const std::string> macros);
/// Returns the flags that make any GCC or clang use these features of this architecture and no others.
std::vector<std::string> feature_flags(std::span<const std::string> features);
/// Returns the macro that a compiler defines if it may use the feature.
std::string_view macro_of(std::string_view feature);

}  // namespace lehr
