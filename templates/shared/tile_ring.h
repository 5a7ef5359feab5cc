// Tiles of k that are copied to shared memory some tiles ahead of their use, in a ring of stages.
#pragma once

#include <cstdint>
#include <functional>

#include "ir/kernel.h"
#include "templates/shared/split_k.h"

namespace lehr {

struct TileRing {
  std::int64_t ahead = 1;           ///< tiles in flight at one time
  SplitK split;                     ///< which tiles of k a block has
  ir::Expr tiles = ir::integer(1);  ///< their number: split.least() to split.most()
  /// A tile number at which copies change, such as that of the first tile with an edge. Tiles before it and
  /// from it on do not share a loop. 0: copies do not change.
  std::int64_t change = 0;
  ir::Block commit;  ///< follows each tile's copies, even if there is no such tile
};

/// Returns `copy` for each of the first `ahead` tiles of the block. It is called for runs of tiles that are
/// copied alike: `tile` is an index or, if a run is one tile, a constant; `last` is the last one of the run.
ir::Block first_tiles(ir::KernelBuilder& builder, const TileRing& ring,
                      const std::function<ir::Block(const ir::Expr& tile, std::int64_t last)>& copy);

}  // namespace lehr
