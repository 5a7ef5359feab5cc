#include "tune/first_picks.h"

#include <algorithm>
#include <limits>
#include <span>

#include "costmodel/roofline_model.h"
#include "tune/proposer.h"
#include "tune/tuner.h"

namespace lehr {

std::vector<FirstPick> first_picks(const Candidates& candidates, const Limits& limits, std::uint64_t seed,
                                   int threads) {
  const Tuner tuner = make_tuner("anneal", candidates.space, seed);
  const LearnerOptions fits = learner_options(tuner, limits.target);
  const RooflineModel prior(limits);
  Scorer scorer(feature_table().size(), kernel_rows(candidates, limits), threads);
  Learner learner(scorer.columns(), tuner.model.get(), tuner.validity.get(), fits);
  Proposer proposer(*tuner.strategy, learner, scorer, &prior, tuner.options.batches, seed);

  proposer.vary_prior_picks(candidates.space, limits.target);

  std::vector<FirstPick> picks;
  Seen seen;
  double best_us = std::numeric_limits<double>::infinity();
  const auto measure = [&](std::span<const Point> points, int batch) {
    std::vector<Measurement> results;
    const FeatureMatrix rows = scorer.features(points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double us = prior.time_us(rows.row(i));
      best_us = std::min(best_us, us);
      picks.push_back({candidates.space.config_of(points[i]), batch, us});
      results.push_back({points[i], us});
      seen.insert(points[i]);
    }
    proposer.observe(results, best_us);
  };
  // As a session does: the first default alone.
  measure(std::span(candidates.defaults).first(1), 0);
  measure(std::span(candidates.defaults).subspan(1), 0);
  for (int batch = 1; picks.size() < fits.first_fit; ++batch) {
    std::vector<Point> points;
    for (const Proposal& each : proposer.propose(proposer.next_batch(), seen)) points.push_back(each.point);
    if (points.empty()) break;  // the space is exhausted
    measure(points, batch);
  }
  return picks;
}

}  // namespace lehr
