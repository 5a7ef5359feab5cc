// AutoTVM's plan and annealing: see autotvm.h.
#include "search/autotvm.h"

#include <algorithm>
#include <cmath>

#include "search/batch.h"
#include "search/fill.h"
#include "search/scored_candidates.h"

namespace lehr {
namespace {

// Number of random configs in a plan: int(0.05 * plan_size).
constexpr std::size_t kRandom = 3;
constexpr std::size_t kChains = 128;   // parallel_size
constexpr std::size_t kSteps = 500;    // n_iter
constexpr std::size_t kPatience = 50;  // early_stop: number of steps without a change of the best configs
// Maximum number of draws of a walk. AutoTVM has no limit and draws until the point is valid. After this many
// draws we make one of our own moves.
constexpr int kMaxDraws = 1000;

}  // namespace

Point AutotvmStrategy::walk(const Point& from, Rng& rng) const {
  const FamilySpace& family = space_->families()[from.family];
  const std::size_t knobs = family.knobs().size();
  Point to = from;
  for (int i = 0; knobs > 0 && i < kMaxDraws; ++i) {
    // If there are several families, the family counts as one more knob.
    const std::size_t index = rng.below(knobs + (space_->families().size() > 1 ? 1 : 0));
    if (index == knobs) {
      if (auto other = space_->try_sample(rng)) return *other;
      continue;
    }
    to.knobs[index] = static_cast<std::uint16_t>(rng.below(family.knobs()[index].values.size()));
    if (family.contains(to) && to != from) return to;
  }
  return space_->mutate(from, rng).value_or(from);
}

void AutotvmStrategy::make_plan(const Seen& seen, const Score& score, Rng& rng) {
  plan_.clear();
  if (!score) return;
  while (states_.size() < kChains) {
    const auto point = space_->try_sample(rng);
    if (!point) return;
    states_.push_back(*point);
  }
  ScoredCandidates scored(score, seen, kPlan, kChains * (kSteps + 1));
  std::vector<double> scores = scored.score(states_);
  const double cooling = 1.0 / static_cast<double>(kSteps + 1);
  double temperature = 1;
  std::size_t changed_at = 0, changes = scored.changes();
  std::vector<Point> moved(states_.size());
  for (std::size_t step = 0; step < kSteps && step < changed_at + kPatience; ++step) {
    std::ranges::transform(states_, moved.begin(), [&](const Point& each) { return walk(each, rng); });
    const std::vector<double> next = scored.score(moved);
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const double chance = std::exp(std::min((next[i] - scores[i]) / (temperature + 1e-5), 1.0));
      if (rng.uniform() >= chance) continue;
      states_[i] = moved[i];
      scores[i] = next[i];
    }
    if (scored.changes() != changes) changed_at = step;
    changes = scored.changes();
    temperature -= cooling;
  }
  for (const ScoredPoint& each : scored.best())
    if (each.score >= 0) plan_.push_back(each.point);
  std::ranges::reverse(plan_);
}

std::vector<Point> AutotvmStrategy::propose(std::size_t n, const Seen& seen, const Score& score, Rng& rng) {
  Batch batch(n, seen);
  while (!batch.full()) {
    if (handed_ % kPlan == 0) make_plan(seen, score, rng);
    ++handed_;
    bool added = false;
    for (; !added && plan_.size() > kRandom; plan_.pop_back()) added = batch.add(plan_.back());
    if (!added && add_random(*space_, 1, batch, rng) == 0) break;
  }
  return batch.picks();
}

}  // namespace lehr
