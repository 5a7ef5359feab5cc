// Parallel simulated annealing: see chains.h.
#include "search/chains.h"

#include <algorithm>
#include <cmath>

namespace lehr {
namespace {

// "AutoTVM" marks values of TVM 0.18, python/tvm/autotvm/tuner/sa_model_optimizer.py; kMost is one of them.
// The other values were chosen on synthetic landscapes over 7e7 valid configs of 12 knobs
// (tests/search/landscape.h is of the same kind). With 2 000 scored configs, these values reached 97-100 % of
// the optimum, and 128 chains from temperature 1 reached 48-62 %.
constexpr std::size_t kMinChains = 16;
// If the budget is too small for this many steps of all chains, there are fewer chains.
constexpr std::size_t kMinSteps = 150;
constexpr std::size_t kSteps = 500;    // AutoTVM: n_iter
constexpr std::size_t kPatience = 50;  // steps without a change of the best set; AutoTVM: early_stop
constexpr double kTemperature = 0.5;   // temperature at the beginning, in standard deviations of the scores
constexpr std::size_t kRestarts = 4;   // a later run restarts the worst of its chains: one in this many

bool accept(double now, double next, double temperature, Rng& rng) {
  if (next >= now) return true;
  if (!(temperature > 0) || !std::isfinite(next)) return false;
  return rng.uniform() < std::exp((next - now) / temperature);
}

}  // namespace

void Chains::start(const Space& space, std::span<const Point> seeds, std::size_t count, Rng& rng) {
  const std::size_t seeded = count / kRestarts;
  for (std::size_t i = 0; i < std::min(seeds.size(), seeded); ++i) states_.push_back(seeds[i]);
  while (states_.size() < count) {
    const auto point = space.try_sample(rng);
    if (!point) return;
    states_.push_back(*point);
  }
}

void Chains::restart_worst(const Space& space, std::span<const Point> seeds, ScoredCandidates& scored,
                           Rng& rng) {
  const std::vector<double> scores = scored.score(states_);
  const std::vector<std::size_t> order = top_k(scores, scores.size());
  const std::size_t restarts = states_.size() / kRestarts;
  for (std::size_t i = 0; i < restarts; ++i) {
    Point& worst = states_[order[order.size() - 1 - i]];
    if (i % 2 == 0 && i / 2 < seeds.size()) {
      worst = seeds[i / 2];
    } else if (const auto point = space.try_sample(rng)) {
      worst = *point;
    }
  }
}

void Chains::run(const Space& space, std::span<const Point> seeds, ScoredCandidates& scored, Rng& rng) {
  if (states_.empty()) {
    const std::size_t affordable = std::max(kMinChains, scored.left() / kMinSteps);
    start(space, seeds, std::min(kMost, affordable), rng);
  } else {
    restart_worst(space, seeds, scored, rng);
  }
  if (states_.empty()) return;

  std::vector<double> scores = scored.score(states_);
  const std::size_t steps = std::min(kSteps, scored.left() / states_.size() + 1);
  std::size_t changes = scored.changes();
  std::size_t unchanged = 0;
  std::vector<Point> moved(states_.size());
  for (std::size_t step = 0; step < steps && unchanged < kPatience && !scored.spent(); ++step) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      auto next = space.mutate(states_[i], rng);
      moved[i] = next ? *next : states_[i];
    }
    const std::vector<double> next = scored.score(moved);
    const double progress = static_cast<double>(step + 1) / static_cast<double>(steps);
    const double temperature = kTemperature * (1 - progress) * scored.spread();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (!accept(scores[i], next[i], temperature, rng)) continue;
      std::swap(states_[i], moved[i]);
      scores[i] = next[i];
    }
    unchanged = scored.changes() == changes ? unchanged + 1 : 0;
    changes = scored.changes();
  }
}

}  // namespace lehr
