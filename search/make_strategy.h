// Strategies by the name that the command line takes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "search/strategy.h"

namespace lehr {

/// anneal, random, autotvm.
std::vector<std::string> strategy_names();
/// What --strategy says. Throws Error(kUser) where none has this name.
std::string parse_strategy(std::string_view text);
/// Borrows `space`. Throws Error(kUser) for an unknown name, listing the known ones.
std::unique_ptr<Strategy> make_strategy(std::string_view name, const Space& space);

}  // namespace lehr
