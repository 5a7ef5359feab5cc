// The features that a processor has beyond the minimum of its architecture: their names, macros and flags.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// Returns the features that a compiler uses, given the names of the macros that it defines.
std::vector<std::string> features_of(std::span<const std::string> macros);
/// Returns the flags with which any GCC or clang uses exactly these features of this architecture.
std::vector<std::string> feature_flags(std::span<const std::string> features);
/// Returns the macro that a compiler defines if it may use the feature.
std::string_view macro_of(std::string_view feature);

}  // namespace lehr
