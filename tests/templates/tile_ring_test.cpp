// Tests of the first tiles of a ring: each is copied once, in order, and guarded where not all blocks have
// it.
#include "templates/shared/tile_ring.h"

#include <gtest/gtest.h>

#include "ir/print.h"

namespace lehr {
namespace {

using namespace ir;

struct Ring {
  KernelBuilder builder;
  BufferId tile = builder.buffer("tile", DType::kF32, Scope::kShared, 64);
  VarId count = builder.var("count");
  std::vector<std::int64_t> lasts;

  std::string text(std::int64_t ahead, const SplitK& split, std::int64_t change) {
    const TileRing ring{ahead, split, var(count), change, block(Barrier{})};
    builder.kernel.name = "ring";
    builder.kernel.body = first_tiles(builder, ring, [&](const Expr& at, std::int64_t last) {
      lasts.push_back(last);
      return block(Store{tile, at, Float{1}, 1, std::nullopt});
    });
    const std::string all = to_text(builder.kernel);
    return all.substr(all.find('\n') + 1);
  }
};

TEST(TileRing, IsOneLoopWhereAllTilesAreAlike) {
  Ring ring;
  EXPECT_EQ(ring.text(3, {1, 8}, 0),
            "unrolled ahead in 0..3:\n"
            "  tile[ahead] = 1.0\n"
            "  barrier block\n");
  EXPECT_EQ(ring.lasts, (std::vector<std::int64_t>{2}));
}

TEST(TileRing, GuardsWhatOnlySomeBlocksHaveAndCommitsWhatNoneHas) {
  Ring ring;  // parts of 3, 3 and 2 tiles
  EXPECT_EQ(ring.text(5, {3, 8}, 0),
            "unrolled ahead in 0..2:\n"
            "  tile[ahead] = 1.0\n"
            "  barrier block\n"
            "if 2<count:\n"
            "  tile[2] = 1.0\n"
            "barrier block\n"
            "unrolled ahead_2 in 0..2:\n"
            "  barrier block\n");
  EXPECT_EQ(ring.lasts, (std::vector<std::int64_t>{1, 2}));
}

TEST(TileRing, PartsTilesWhereCopiesChange) {
  Ring ring;
  EXPECT_EQ(ring.text(4, {1, 8}, 1),
            "tile[0] = 1.0\n"
            "barrier block\n"
            "unrolled ahead in 0..3:\n"
            "  tile[ahead+1] = 1.0\n"
            "  barrier block\n");
  EXPECT_EQ(ring.lasts, (std::vector<std::int64_t>{0, 3}));
  Ring behind;  // a change behind the first tiles does not count
  behind.text(2, {1, 8}, 7);
  EXPECT_EQ(behind.lasts, (std::vector<std::int64_t>{1}));
}

}  // namespace
}  // namespace lehr
