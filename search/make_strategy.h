// Strategies by the name that the command line takes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "search/anneal.h"
#include "search/autotvm.h"
#include "search/genetic.h"
#include "search/strategy.h"

namespace lehr {

struct StrategyOptions {
  AnnealOptions anneal;
  GeneticOptions genetic;
  AutotvmOptions autotvm;
};

/// anneal, random, genetic, grid, autotvm.
std::vector<std::string> strategy_names();
/// Borrows `space`. Throws Error(kUser) for an unknown name, listing the known ones.
std::unique_ptr<Strategy> make_strategy(std::string_view name, const Space& space,
                                        const StrategyOptions& options = {});

}  // namespace lehr
