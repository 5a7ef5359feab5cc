// Grid search: see grid.h.
#include "search/grid.h"

#include "search/batch.h"

namespace lehr {

std::vector<Config> GridStrategy::propose(std::size_t n, const Seen& seen, const Score&, Rng&) {
  Batch batch(n, seen);
  for (int pass = 0; pass < 2 && !batch.full(); ++pass) {
    while (!batch.full()) {
      const auto config = cursor_.next();
      if (!config) {
        cursor_ = GridCursor(*space_);
        break;
      }
      batch.add(*config);
    }
  }
  return batch.picks();
}

}  // namespace lehr
