// Strategies by their names on the command line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "search/strategy.h"

namespace lehr {

/// Returns anneal, random, autotvm.
std::vector<std::string> strategy_names();
/// Checks the value of --strategy. Throws Error(kUser) for an unknown name.
std::string parse_strategy(std::string_view text);
/// Makes a strategy that borrows `space`. Throws Error(kUser) for an unknown name. The error's text lists the
/// known names.
std::unique_ptr<Strategy> make_strategy(std::string_view name, const Space& space);

}  // namespace lehr
