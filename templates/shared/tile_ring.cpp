#include "templates/shared/tile_ring.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lehr {

using namespace ir;

Block first_tiles(KernelBuilder& builder, const TileRing& ring,
                  const std::function<Block(const Expr& tile, std::int64_t last)>& copy) {
  // All blocks have the tiles below the first number, some blocks have the tiles below the second, and no
  // block has more.
  std::array ends = {ring.split.least(), ring.split.most(), ring.change, ring.ahead};
  std::ranges::sort(ends);
  Block result;
  std::int64_t first = 0;
  for (const std::int64_t end : ends) {
    if (end <= first || end > ring.ahead) continue;
    const Unrolled i(builder, "ahead", end - first);
    const Expr tile = i.at + first;
    Block body;
    if (first < ring.split.most()) {
      body = copy(tile, end - 1);
      if (first >= ring.split.least()) body = block(If{lt(tile, ring.tiles), body, {}});
    }
    append(body, ring.commit);
    append(result, i.over(body));
    first = end;
  }
  return result;
}

}  // namespace lehr
