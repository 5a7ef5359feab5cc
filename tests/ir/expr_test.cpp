// Tests that the builders fold what they may fold, and keep the value of what they fold.
#include "ir/expr.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/rng.h"
#include "ir/kernel.h"
#include "ir/print.h"
#include "tests/support/interpret.h"
#include "tests/support/unfolded.h"

namespace lehr::ir {
namespace {

Kernel three_variables() {
  KernelBuilder b;
  b.var("x");
  b.var("y");
  b.var("z");
  b.param("f", DType::kF32, 64, Direction::kIn);
  return std::move(b.kernel);
}
const VarId kX{0}, kY{1}, kZ{2};
const BufferId kF{0};

std::string text(const Expr& expr) {
  return to_text(expr, three_variables());
}

TEST(ExprBuilders, FoldConstants) {
  EXPECT_EQ(integer(3) + integer(4), integer(7));
  EXPECT_EQ(integer(3) - integer(4), integer(-1));
  EXPECT_EQ(integer(3) * integer(4), integer(12));
  EXPECT_EQ(integer(17) / integer(4), integer(4));
  EXPECT_EQ(integer(17) % integer(4), integer(1));
  EXPECT_EQ(min(integer(3), integer(4)), integer(3));
  EXPECT_EQ(max(integer(3), integer(4)), integer(4));
  EXPECT_EQ(lt(integer(3), integer(4)), integer(1));
  EXPECT_EQ(le(integer(5), integer(4)), integer(0));
  EXPECT_EQ(eq(integer(4), integer(4)), integer(1));
  EXPECT_EQ(bit_xor(integer(5), integer(3)), integer(6));
  EXPECT_EQ(logical_and(integer(1), integer(0)), integer(0));
}

TEST(ExprBuilders, DropIdentities) {
  EXPECT_EQ(var(kX) + 0, var(kX));
  EXPECT_EQ(integer(0) + var(kX), var(kX));
  EXPECT_EQ(var(kX) - 0, var(kX));
  EXPECT_EQ(var(kX) * 1, var(kX));
  EXPECT_EQ(integer(1) * var(kX), var(kX));
  EXPECT_EQ(var(kX) * 0, integer(0));
  EXPECT_EQ(var(kX) / 1, var(kX));
  EXPECT_EQ(var(kX) % 1, integer(0));
  EXPECT_EQ(bit_xor(var(kX), integer(0)), var(kX));
  EXPECT_EQ(logical_and(lt(var(kX), var(kY)), integer(1)), lt(var(kX), var(kY)));
  EXPECT_EQ(select(integer(1), var(kX), var(kY)), var(kX));
  EXPECT_EQ(select(integer(0), var(kX), var(kY)), var(kY));
}

TEST(ExprBuilders, GatherConstantsOfChains) {
  EXPECT_EQ(text(var(kX) + 3 + 4), "x+7");
  EXPECT_EQ(text(var(kX) + 3 - 4), "x-1");
  EXPECT_EQ(text(var(kX) - 3 + 3), "x");
  EXPECT_EQ(text(integer(5) - var(kX) + 2), "7-x");
  EXPECT_EQ(text(integer(3) * (var(kX) * 4)), "x*12");
  EXPECT_EQ(text(integer(2) + var(kX) * 4), "x*4+2");
}

TEST(ExprBuilders, NeverFoldWhatMayBeFloatingPointOrAVector) {
  const Expr f = load(kF, integer(0));
  EXPECT_NE(f * integer(0), integer(0)) << "NaN * 0 is NaN";
  EXPECT_NE(f + integer(0), f) << "-0.0 + 0 is 0.0";
  EXPECT_EQ(text((f + integer(1)) + integer(2)), "f[0]+1+2");
  EXPECT_EQ(text(Expr(Float{1, DType::kF32}) + Expr(Float{2, DType::kF32})), "1.0+2.0");
  EXPECT_EQ(text(splat(integer(3), 4) * integer(0)), "splat(3 : 4)*0") << "a vector cannot become one scalar";
}

TEST(Expr, KnowsAPlainIndex) {
  const Expr x = var(kX), y = var(kY);
  for (const Expr& plain :
       {integer(3), x, x + y * 5, x / 8 + y % 4, min(x, y), select(lt(x, y), x, integer(0))})
    EXPECT_TRUE(plain.is_plain_index()) << text(plain);
  const Expr loaded = load(kF, x);
  for (const Expr& other : {x / 3, x % y, (x / 3) * 8 + y, loaded, load(kF, x) + 1, Expr(Float{1}),
                            select(eq(loaded, integer(0)), x, y), select(lt(x, y), x % 5, y)})
    EXPECT_FALSE(other.is_plain_index()) << text(other);
  EXPECT_TRUE((x / 3).is_index());
}

TEST(ExprBuilders, RefuseOverflowAndBadDivisors) {
  const std::int64_t large = std::int64_t{1} << 62;
  EXPECT_THROW(integer(large) * integer(4), Error);
  EXPECT_THROW(integer(large) + integer(large), Error);
  EXPECT_THROW(var(kX) / 0, Error);
  EXPECT_THROW(var(kX) % -2, Error);
  EXPECT_THROW(integer(-1) / integer(2), Error);
}

TEST(ExprBuilders, DropAnActiveCountThatCoversAllLanes) {
  EXPECT_EQ(load_active(kF, var(kX), 8, integer(8)), load(kF, var(kX), 8));
  EXPECT_NE(load_active(kF, var(kX), 8, integer(7)), load(kF, var(kX), 8));
}

TEST(ExprBuilders, MakeZeroOfTheTypeAndWidth) {
  EXPECT_EQ(zero(DType::kF16), Expr(Float{0, DType::kF16}));
  EXPECT_EQ(zero(DType::kS32), integer(0));
  EXPECT_EQ(zero(DType::kF32, 8), splat(Float{0, DType::kF32}, 8));
}

// A folded tree and the same tree without folding, grown side by side.
struct Pair {
  Expr folded;
  Expr plain;
};
Pair random_pair(Rng& rng, int depth) {
  if (depth == 0 || rng.below(5) == 0) {
    const Expr leaf = rng.below(2) == 0 ? var(static_cast<VarId>(rng.below(3)))
                                        : integer(static_cast<std::int64_t>(rng.below(4)));
    return {leaf, leaf};
  }
  const Pair a = random_pair(rng, depth - 1);
  const Pair b = random_pair(rng, depth - 1);
  const auto divisor = static_cast<std::int64_t>(1 + rng.below(4));
  switch (rng.below(7)) {
    case 0:
      return {a.folded + b.folded, unfolded(BinaryOp::kAdd, a.plain, b.plain)};
    case 1:
      return {a.folded * b.folded, unfolded(BinaryOp::kMul, a.plain, b.plain)};
    case 2:
      return {min(a.folded, b.folded), unfolded(BinaryOp::kMin, a.plain, b.plain)};
    case 3:
      return {max(a.folded, b.folded), unfolded(BinaryOp::kMax, a.plain, b.plain)};
    case 4:
      return {a.folded / divisor, unfolded(BinaryOp::kDiv, a.plain, integer(divisor))};
    case 5:
      return {a.folded % divisor, unfolded(BinaryOp::kMod, a.plain, integer(divisor))};
    default: {  // never negative, but through a subtraction
      const Expr folded = a.folded + 10 - min(b.folded, integer(9));
      Expr plain = unfolded(BinaryOp::kSub, unfolded(BinaryOp::kAdd, a.plain, integer(10)),
                            unfolded(BinaryOp::kMin, b.plain, integer(9)));
      return {folded, plain};
    }
  }
}

TEST(ExprBuilders, KeepTheValueOfRandomTrees) {
  constexpr std::uint64_t kSeed = 20240607;
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  Rng rng(kSeed);
  for (int round = 0; round < 2000; ++round) {
    const Pair pair = random_pair(rng, 5);
    for (int sample = 0; sample < 5; ++sample) {
      std::vector<std::int64_t> values;
      for (int v = 0; v < 3; ++v) values.push_back(static_cast<std::int64_t>(rng.below(20)));
      ASSERT_EQ(testing::evaluate(pair.folded, values), testing::evaluate(pair.plain, values))
          << text(pair.folded) << " is not " << text(pair.plain);
    }
  }
}

}  // namespace
}  // namespace lehr::ir
