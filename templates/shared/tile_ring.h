// Tiles along k that are copied to a ring of stages in shared memory, some tiles ahead of their use.
#pragma once

#include <cstdint>
#include <functional>

#include "ir/kernel.h"
#include "templates/shared/split_k.h"

namespace lehr {

struct TileRing {
  std::int64_t ahead = 1;           ///< number of tiles in flight at a time
  SplitK split;                     ///< which tiles along k a block has
  ir::Expr tiles = ir::integer(1);  ///< number of the block's tiles: split.least() to split.most()
  /// Number of the first tile that is copied differently from those before it (e.g. the first one with an
  /// edge). No loop contains tiles from both sides. 0: all tiles are copied alike.
  std::int64_t change = 0;
  ir::Block commit;  ///< executed after each tile's copies, and also where no tile is left
};

/// Returns `copy` for each of the first `ahead` tiles of the block. `copy` is called once for each sequence
/// of tiles that are copied alike. `tile` is the loop's index, or a constant if the sequence has one tile;
/// `last` is the number of the sequence's last tile.
ir::Block first_tiles(ir::KernelBuilder& builder, const TileRing& ring,
                      const std::function<ir::Block(const ir::Expr& tile, std::int64_t last)>& copy);

}  // namespace lehr
