// What a processor has beyond the least of its architecture: its names, macros and flags.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// Of the names of macros that a compiler defines, the features that it uses.
std::vector<std::string> features_of(std::span<const std::string> macros);
/// The flags that make any GCC or clang use these features of this architecture and no others.
std::vector<std::string> feature_flags(std::span<const std::string> features);
/// The macro that a compiler defines where it may use the feature.
std::string_view macro_of(std::string_view feature);

}  // namespace lehr
