#include "tune/first_picks.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "costmodel/roofline_model.h"
#include "tune/searcher.h"

namespace lehr {

std::vector<FirstPick> first_picks(const Candidates& candidates, const Limits& limits, std::uint64_t seed,
                                   int threads) {
  Searcher searcher(make_tuner("anneal", candidates, limits, seed), seed, threads);
  const RooflineModel prior(limits);
  std::vector<FirstPick> picks;
  double best_us = std::numeric_limits<double>::infinity();
  const auto measure = [&](const Point& point, std::string_view picked_as) {
    const double us = prior.time_us(searcher.scorer().features({&point, 1}).row(0));
    best_us = std::min(best_us, us);
    picks.push_back({candidates.space.config_of(point), std::string(picked_as), us});
    const Measurement result{point, us};
    searcher.observe({&result, 1}, best_us);
  };
  for (const Point& point : candidates.defaults) measure(point, "default");
  while (picks.size() < searcher.tuner().learner.first_fit) {
    const std::optional<Proposal> pick = searcher.next();
    if (!pick) break;  // the space is exhausted
    measure(pick->point, pick->predicted ? "prior" : "far");
  }
  return picks;
}

}  // namespace lehr
