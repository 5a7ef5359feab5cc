// Strategies by name: see make_strategy.h.
#include "search/make_strategy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/args.h"
#include "base/error.h"
#include "search/anneal.h"
#include "search/autotvm.h"
#include "search/random.h"

namespace lehr {

std::vector<std::string> strategy_names() {
  return {"anneal", "random", "autotvm"};
}

std::string parse_strategy(std::string_view text) {
  return parse_choice("--strategy", text, strategy_names());
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const Space& space) {
  if (name == "anneal") return std::make_unique<AnnealStrategy>(space);
  if (name == "random") return std::make_unique<RandomStrategy>(space);
  if (name == "autotvm") return std::make_unique<AutotvmStrategy>(space);
  throw_user("unknown strategy \"{}\": known are {}", name, fmt::join(strategy_names(), ", "));
}

}  // namespace lehr
