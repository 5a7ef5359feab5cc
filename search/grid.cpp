// Grid search: see grid.h.
#include "search/grid.h"

#include "search/batch.h"

namespace lehr {

std::vector<Point> GridStrategy::propose(std::size_t n, const Seen& seen, const Score&, Rng&) {
  Batch batch(n, seen);
  for (int pass = 0; pass < 2 && !batch.full(); ++pass) {
    while (!batch.full()) {
      const auto point = cursor_.next();
      if (!point) {
        cursor_ = GridCursor(*space_);
        break;
      }
      batch.add(*point);
    }
  }
  return batch.picks();
}

}  // namespace lehr
