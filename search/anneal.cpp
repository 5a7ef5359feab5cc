// The annealing strategy: see anneal.h.
#include "search/anneal.h"

#include <algorithm>

#include "search/fill.h"
#include "search/scored_candidates.h"
#include "search/spread.h"

namespace lehr {
namespace {

// A space whose product of values is at most this is walked to count its valid configs. That takes some ten
// milliseconds, once.
constexpr double kMaxWalk = 1 << 20;
// Without a score, each proposal is the draw, out of kSpreadDraws, that is farthest from the other proposals
// and from the last kSpreadAgainst measured configs.
constexpr std::size_t kSpreadDraws = 8, kSpreadAgainst = 256;

// Returns all valid configs if there are at most `limit`, else an empty list.
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

std::vector<Point> AnnealStrategy::propose(std::size_t n, const Seen& seen, const Score& score, Rng& rng) {
  Batch batch(n, seen);
  if (score) {
    for (const ScoredPoint& each : short_list(n, seen, score, rng)) batch.add(each.point);
  } else {
    const std::vector<Observed>& results = history_.results();
    std::vector<Point> others;
    for (std::size_t i = results.size() - std::min(results.size(), kSpreadAgainst); i < results.size(); ++i)
      others.push_back(results[i].point);
    add_spread(*space_, n, kSpreadDraws, others, batch, rng);
  }
  add_random(*space_, batch.room(), batch, rng);
  return batch.picks();
}

std::vector<ScoredPoint> AnnealStrategy::short_list(std::size_t count, const Seen& seen, const Score& score,
                                                    Rng& rng) {
  ScoredCandidates scored(score, seen, std::min(count, max_scored_), max_scored_);
  std::vector<Point> around;
  Seen known;
  for (const Point& parent : history_.best(kParents))
    for (const Point& each : space_->neighbours(parent))
      if (!seen.contains(each) && known.insert(each).second) around.push_back(each);
  scored.score(around);
  explore(seen, scored, rng);
  last_scored_ = scored.scored();
  return scored.best();
}

void AnnealStrategy::explore(const Seen& seen, ScoredCandidates& scored, Rng& rng) {
  if (!counted_) {
    all_ = enumerate(*space_, std::min(kEnumerated, max_scored_));
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
  // If scores are equal, the first is kept. It should not always be from the same corner of the space.
  rng.shuffle(unseen);
  scored.score(unseen);
}

}  // namespace lehr
