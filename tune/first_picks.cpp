#include "tune/first_picks.h"

#include <algorithm>
#include <limits>
#include <span>

#include "costmodel/roofline_model.h"
#include "tune/searcher.h"

namespace lehr {

std::vector<FirstPick> first_picks(const Candidates& candidates, const Limits& limits, std::uint64_t seed,
                                   int threads) {
  Searcher searcher(make_tuner("anneal", candidates, limits, seed), seed, threads);
  const RooflineModel prior(limits);
  std::vector<FirstPick> picks;
  double best_us = std::numeric_limits<double>::infinity();
  const auto measure = [&](std::span<const Point> points, int batch) {
    std::vector<Measurement> results;
    const FeatureMatrix rows = searcher.scorer().features(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double us = prior.time_us(rows.row(i));
      best_us = std::min(best_us, us);
      picks.push_back({candidates.space.config_of(points[i]), batch, us});
      results.push_back({points[i], us});
    }
    searcher.observe(results, best_us);
  };
  // As a session does: the first default alone.
  measure(std::span(candidates.defaults).first(1), 0);
  measure(std::span(candidates.defaults).subspan(1), 0);
  for (int batch = 1; picks.size() < searcher.tuner().learner.first_fit; ++batch) {
    std::vector<Point> points;
    const std::optional<Proposal> pick = searcher.next();
    if (!pick) break;  // the space is exhausted
    points.push_back(pick->point);
    measure(points, batch);
  }
  return picks;
}

}  // namespace lehr
