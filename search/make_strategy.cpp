// Strategies by name: see make_strategy.h.
#include "search/make_strategy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "search/grid.h"
#include "search/random.h"

namespace lehr {

std::vector<std::string> strategy_names() {
  return {"anneal", "random", "genetic", "grid", "autotvm"};
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const Space& space,
                                        const StrategyOptions& options) {
  if (name == "anneal") return std::make_unique<AnnealStrategy>(space, options.anneal);
  if (name == "random") return std::make_unique<RandomStrategy>(space);
  if (name == "genetic") return std::make_unique<GeneticStrategy>(space, options.genetic);
  if (name == "autotvm") return std::make_unique<AutotvmStrategy>(space, options.autotvm);
  if (name == "grid") return std::make_unique<GridStrategy>(space);
  throw_user("unknown strategy \"{}\": known are {}", name, fmt::join(strategy_names(), ", "));
}

}  // namespace lehr
