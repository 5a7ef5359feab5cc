// Random search: see random.h.
#include "search/random.h"

#include "search/batch.h"
#include "search/fill.h"

namespace lehr {

std::vector<Point> RandomStrategy::propose(std::size_t n, const Seen& seen, const Score&, Rng& rng) {
  Batch batch(n, seen);
  add_random(*space_, n, batch, rng);
  return batch.picks();
}

}  // namespace lehr
