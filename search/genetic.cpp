// The genetic algorithm: see genetic.h.
#include "search/genetic.h"

#include <algorithm>

#include "search/batch.h"
#include "search/fill.h"

namespace lehr {
namespace {

constexpr std::size_t kPopulation = 100;  // AutoTVM's GATuner: pop_size
constexpr std::size_t kElites = 3;        // AutoTVM: elite_num
constexpr double kMutation = 0.1;         // per knob; AutoTVM: mutation_prob
constexpr int kTournament = 3;  // parents are the best of so many draws (AutoTVM: fitness-proportional)
// A child that was measured already is moved on by one mutation at a time, so often, before it is given up.
constexpr int kMaxMoves = 16;

const Point& tournament(std::span<const Observed> parents, Rng& rng) {
  const Observed* best = nullptr;
  for (int i = 0; i < kTournament; ++i) {
    const Observed& drawn = parents[rng.below(parents.size())];
    if (!best || drawn.fitness > best->fitness) best = &drawn;  // nullopt, a failure, is below every number
  }
  return best->point;
}

}  // namespace

std::vector<Observed> GeneticStrategy::parents() const {
  const std::vector<Observed>& results = history_.results();
  const std::size_t recent = std::min(kPopulation, results.size());
  std::vector<Observed> chosen(results.end() - static_cast<std::ptrdiff_t>(recent), results.end());
  for (const Point& elite : history_.best(kElites)) {
    const auto found = std::find_if(results.begin(), results.end(),
                                    [&](const Observed& each) { return each.point == elite; });
    chosen.push_back(*found);
  }
  return chosen;
}

Point GeneticStrategy::child(std::span<const Observed> parents, Rng& rng) const {
  const Point& a = tournament(parents, rng);
  const Point& b = tournament(parents, rng);
  Point child = space_->crossover(a, b, rng).value_or(a);
  const std::size_t knobs = space_->families()[child.family].knobs().size();
  for (std::size_t i = 0; i < knobs; ++i) {
    if (rng.uniform() >= kMutation) continue;
    if (auto moved = space_->mutate(child, rng)) child = *moved;
  }
  return child;
}

std::vector<Point> GeneticStrategy::propose(std::size_t n, const Seen& seen, const Score&, Rng& rng) {
  Batch batch(n, seen);
  const std::size_t known = history_.results().size();
  if (known < kPopulation) add_random(*space_, kPopulation - known, batch, rng);
  if (!history_.best(1).empty()) {
    const std::vector<Observed> chosen = parents();
    for (std::size_t left = batch.room(); left > 0; --left) {
      Point next = child(chosen, rng);
      for (int i = 0; i < kMaxMoves && !batch.add(next); ++i) {
        if (auto moved = space_->mutate(next, rng)) next = *moved;
      }
    }
  }
  add_random(*space_, batch.room(), batch, rng);
  return batch.picks();
}

}  // namespace lehr
