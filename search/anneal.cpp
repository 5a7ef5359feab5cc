// The annealing strategy: see anneal.h.
#include "search/anneal.h"

#include <algorithm>
#include <cmath>

#include "search/fill.h"
#include "search/scored_candidates.h"
#include "search/spread.h"

namespace lehr {
namespace {

// A product up to this size is walked to count its valid configs: some ten milliseconds, once.
constexpr double kMaxWalk = 1 << 20;

// All valid configs if there are at most `limit`, else none.
std::vector<Point> enumerate(const Space& space, std::size_t limit) {
  double product = 0;
  for (const FamilySpace& family : space.families()) product += family.product_size();
  std::vector<Point> all;
  if (product > kMaxWalk) return all;
  GridCursor cursor(space);
  while (const auto point = cursor.next()) {
    if (all.size() == limit) return {};
    all.push_back(*point);
  }
  return all;
}

}  // namespace

AnnealStrategy::AnnealStrategy(const Space& space, const AnnealOptions& options)
    : space_(&space), options_(options) {}

std::vector<Point> AnnealStrategy::propose(std::size_t n, const Seen& seen, const Score& score, Rng& rng) {
  last_scored_ = 0;
  Batch batch(n, seen);
  if (score) {
    add_scored(batch, seen, score, rng);
  } else {
    add_blind(batch, rng);
  }
  add_random(*space_, batch.room(), batch, rng);
  return batch.picks();
}

std::vector<Point> AnnealStrategy::surroundings(const Seen& seen) const {
  std::vector<Point> found;
  Seen known;
  for (const Point& parent : history_.best(options_.local_parents)) {
    for (Point& each : space_->neighbours(parent)) {
      if (seen.contains(each) || !known.insert(each).second) continue;
      found.push_back(std::move(each));
    }
  }
  return found;
}

void AnnealStrategy::explore(const Seen& seen, ScoredCandidates& scored, Rng& rng) {
  if (!counted_) {
    all_ = enumerate(*space_, std::min(options_.enumerate_up_to, options_.max_scored));
    counted_ = true;
  }
  if (all_.empty()) {
    chains_.run(*space_, history_.best(Chains::kMost), scored, rng);
    return;
  }
  std::vector<Point> unseen;
  for (const Point& point : all_) {
    if (!seen.contains(point)) unseen.push_back(point);
  }
  rng.shuffle(unseen);  // the first of equal scores is kept: not always the space's first corner
  scored.score(unseen);
}

void AnnealStrategy::add_scored(Batch& batch, const Seen& seen, const Score& score, Rng& rng) {
  const std::size_t n = batch.room();
  const std::size_t guided = n - share_of(n, epsilon_at(options_.epsilon, round_++), rng);
  const auto overdrawn = static_cast<std::size_t>(std::ceil(options_.overdraw * static_cast<double>(n)));
  ScoredCandidates scored(score, seen,
                          choose_ ? std::max(options_.short_list, among_) : std::max(overdrawn, n),
                          options_.max_scored);

  const std::vector<Point> around = surroundings(seen);
  const std::vector<double> around_scores = scored.score(around);
  explore(seen, scored, rng);
  last_scored_ = scored.scored();

  std::vector<ScoredPoint> candidates = scored.best();
  if (choose_) {
    for (std::size_t i : choose_(candidates, guided)) batch.add(candidates[i].point);
    return;
  }
  Batch chosen(guided, seen);
  std::vector<double> scores;
  for (std::size_t i : top_k(around_scores, std::min(share_of(n, options_.local_share, rng), guided))) {
    if (chosen.add(around[i])) scores.push_back(around_scores[i]);
  }
  std::erase_if(candidates, [&](const ScoredPoint& each) { return !chosen.accepts(each.point); });
  for (std::size_t i : diverse_pick(*space_, candidates, chosen.room(), options_.alpha)) {
    if (chosen.add(candidates[i].point)) scores.push_back(candidates[i].score);
  }
  for (std::size_t i : top_k(scores, scores.size())) batch.add(chosen.picks()[i]);
}

void AnnealStrategy::add_blind(Batch& batch, Rng& rng) {
  const std::vector<Point> parents = history_.best(options_.local_parents);
  std::vector<std::vector<Point>> around;
  for (const Point& parent : parents) {
    around.push_back(space_->neighbours(parent));
    rng.shuffle(around.back());
  }
  const std::size_t local = share_of(batch.room(), parents.empty() ? 0 : options_.local_share, rng);
  for (bool more = true; more && batch.size() < local;) {
    more = false;
    for (std::vector<Point>& each : around) {
      while (!each.empty() && batch.size() < local) {
        const bool added = batch.add(each.back());
        each.pop_back();
        if (!added) continue;
        more = true;
        break;
      }
    }
  }
  std::vector<Point> others;
  const std::vector<Observed>& results = history_.results();
  for (std::size_t i = results.size() - std::min(results.size(), options_.spread_against); i < results.size();
       ++i) {
    others.push_back(results[i].point);
  }
  add_spread(*space_, batch.room(), options_.spread_candidates, others, batch, rng);
}

}  // namespace lehr
