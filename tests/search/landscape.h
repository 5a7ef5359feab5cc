// Synthetic fitness landscapes over a space: a stand-in for measured times, and a loop that tunes on them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "search/strategy.h"

namespace lehr::testing {

/// exp(-cost) in (0, 1]: a bowl over the logarithms of the knobs, ridges between pairs of knobs, and a term
/// that is random per pair of values (`rugged` weighs it). Repeatable by seed.
struct Landscape {
  const Space& space;
  std::uint64_t seed = 1;
  double rugged = 0.15;
  double operator()(const Point& point) const;
};

/// Returns the score that a model would give the landscape. `noise` is the standard deviation of an error in
/// the exponent that is fixed per config: 0 is an oracle.
Score score_of(const Landscape& landscape, double noise = 0);

/// Returns the best value that hill climbing from many starts finds.
double reference_optimum(const Space& space, const Landscape& landscape);

/// Runs a whole tuning: proposes a batch, measures it on `fitness`, observes. Returns the best value after
/// each batch. Configs for which `fitness` is below `failure_below` are observed as failures.
std::vector<double> tune(Strategy& strategy, const std::function<double(const Point&)>& fitness,
                         const Score& score, std::size_t batch, std::size_t batches, std::uint64_t seed,
                         double failure_below = 0);

}  // namespace lehr::testing
