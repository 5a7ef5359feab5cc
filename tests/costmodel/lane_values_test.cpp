// Compares the cost of a warp's addresses with counting by the letter, and integer expressions at 32 points
// with one point at a time.
#include "costmodel/lane_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/local_arena.h"
#include "base/rng.h"
#include "costmodel/warp_access.h"

namespace lehr {
namespace {

// Returns the most distinct words that one bank gives, phase by phase, bank by bank.
double conflict_degree_by_the_letter(const Lanes& word, int words) {
  const int wide = words <= 1 ? 1 : words == 2 ? 2 : 4;
  double cycles = 0;
  for (int phase = 0; phase < wide; ++phase) {
    std::map<int, std::set<std::int32_t>> in_bank;
    for (int t = phase * 32 / wide; t < (phase + 1) * 32 / wide; ++t) {
      for (int w = 0; w < wide; ++w) {
        const std::int32_t here = word[static_cast<std::size_t>(t)] + w;
        in_bank[here % 32].insert(here);
      }
    }
    std::size_t most = 0;
    for (const auto& [bank, distinct] : in_bank) most = std::max(most, distinct.size());
    cycles += static_cast<double>(most);
  }
  return cycles / wide;
}

double sectors_by_the_letter(const Lanes& index, double access_bytes, int element_bytes) {
  const std::int64_t least = *std::min_element(index.begin(), index.end());
  std::set<std::int64_t> sectors;
  for (const std::int32_t i : index) sectors.insert((i - least) * element_bytes / kSectorBytes);
  return static_cast<double>(sectors.size()) * std::max(1.0, access_bytes / kSectorBytes);
}

// Returns rows of a tile, as kernels read them, or random addresses.
Lanes random_lanes(Rng& rng) {
  const auto number = [&](std::int32_t below) {
    return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(below)));
  };
  const std::int32_t base = number(1000), step = number(70), across = number(2000), line = 1 + number(32);
  const bool any = rng.below(4) == 0, aligned = rng.below(2) == 0;
  Lanes lanes;
  for (std::int32_t t = 0; t < 32; ++t) {
    std::int32_t value = any ? number(200) : base + t % line * step + t / line * across;
    if (aligned) value -= value % 4;
    lanes[static_cast<std::size_t>(t)] = value;
  }
  return lanes;
}

TEST(LaneValues, BankConflictsSectorsAndValuesAreCountedByTheLetter) {
  constexpr std::uint64_t kSeed = 20261123;
  Rng rng(kSeed);
  for (int i = 0; i < 4000; ++i) {
    const Lanes lanes = random_lanes(rng);
    const LaneValue index{0, 1, &lanes};
    for (const int words : {1, 2, 4})
      ASSERT_EQ(bank_conflict_degree(index, 4.0 * words, 4), conflict_degree_by_the_letter(lanes, words))
          << "seed " << kSeed << " case " << i << " words " << words;
    for (const int element : {1, 2, 4, 8})
      ASSERT_EQ(sectors_of_warp(index, 4.0 * element, element),
                sectors_by_the_letter(lanes, 4.0 * element, element))
          << "seed " << kSeed << " case " << i << " element " << element;
    const std::set<std::int32_t> distinct(lanes.begin(), lanes.end());
    ASSERT_EQ(distinct_values(index), static_cast<int>(distinct.size())) << "seed " << kSeed << " case " << i;
  }
}

// Returns the value of `expr` for one thread.
std::int32_t at_thread(const ir::Expr& expr, std::int32_t x, std::int32_t y) {
  if (const auto number = expr.as_int()) return static_cast<std::int32_t>(number->value);
  if (const auto variable = expr.as_var()) {
    return static_cast<int>(variable->id) == 0 ? x : static_cast<int>(variable->id) == 1 ? y : 0;
  }
  const auto n = expr.as_binary();
  if (!n) {
    ADD_FAILURE() << "an expression that the test does not make";
    return 0;
  }
  const std::int32_t a = at_thread(n->a, x, y), b = at_thread(n->b, x, y);
  switch (n->op) {
    case ir::BinaryOp::kAdd:
      return a + b;
    case ir::BinaryOp::kSub:
      return a - b;
    case ir::BinaryOp::kMul:
      return a * b;
    case ir::BinaryOp::kDiv:
      return b <= 0 ? 0 : a / b;
    case ir::BinaryOp::kMod:
      return b <= 0 ? 0 : a % b;
    case ir::BinaryOp::kMin:
      return std::min(a, b);
    case ir::BinaryOp::kMax:
      return std::max(a, b);
    case ir::BinaryOp::kXor:
      return a ^ b;
    case ir::BinaryOp::kLt:
      return a < b;
    case ir::BinaryOp::kLe:
      return a <= b;
    case ir::BinaryOp::kEq:
      return a == b;
    case ir::BinaryOp::kAnd:
      return a != 0 && b != 0;
  }
  return 0;
}

// Returns an expression that is not negative, as indices are. Variables 0 and 1 are the threads, 2 is a loop.
ir::Expr random_expr(Rng& rng, int depth) {
  if (depth == 0 || rng.below(4) == 0) {
    if (rng.below(3) == 0) return ir::integer(1 + static_cast<std::int64_t>(rng.below(9)));
    return ir::var(static_cast<ir::VarId>(rng.below(3)));
  }
  ir::Expr a = random_expr(rng, depth - 1), b = random_expr(rng, depth - 1);
  switch (rng.below(9)) {
    case 0:  // of two variables only near the leaves, so that nothing overflows
      return depth == 1 ? std::move(a) * std::move(b)
                        : std::move(a) * (1 + static_cast<std::int64_t>(rng.below(9)));
    case 1:
      return std::move(a) / (std::int64_t{1} << rng.below(4));
    case 2:
      return std::move(a) % (1 + static_cast<std::int64_t>(rng.below(12)));
    case 3:
      return ir::min(std::move(a), std::move(b));
    case 4:
      return ir::bit_xor(std::move(a), std::move(b));
    case 5:
      return ir::lt(std::move(a), std::move(b));
    case 6:
      return ir::max(std::move(a), b) - b;
    default:
      return std::move(a) + std::move(b);
  }
}

TEST(LaneValues, AWarpsExpressionsAreWhatItsThreadsCompute) {
  constexpr std::uint64_t kSeed = 7;
  Rng rng(kSeed);
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t width = std::int64_t{1} << rng.below(7);
    ir::KernelBuilder builder;
    const ir::VarId x = builder.var("x"), y = builder.var("y"), k = builder.var("k");
    const ir::For loop_x{x, ir::Int{width}, width, ir::LoopKind::kThreadX, {}};
    const ir::For loop_y{y, ir::Int{64}, 64, ir::LoopKind::kThreadY, {}};
    const ir::For loop_k{k, ir::Int{9}, 9, ir::LoopKind::kSerial, {}};
    ir::Launch launch;
    launch.block = {width, 64, 1};
    LocalArena<16 << 10> arena;
    LaneValues values(builder.kernel, launch, arena.memory());
    values.bind(loop_x);
    values.bind(loop_y);
    values.bind(loop_k);
    const ir::Expr expr = random_expr(rng, 4);
    const Lanes lanes = values.evaluate(expr, LaneValues::Points::kWarp).all();
    for (std::int32_t t = 0; t < 32; ++t) {
      const auto across = static_cast<std::int32_t>(width);
      ASSERT_EQ(lanes[static_cast<std::size_t>(t)], at_thread(expr, t % across, t / across))
          << "seed " << kSeed << " case " << i << " thread " << t;
    }
  }
}

/// The first warp of a block of `threads` along x.
struct Warp {
  explicit Warp(std::int64_t threads)
      : loop{x, ir::Int{threads}, threads, ir::LoopKind::kThreadX, {}}, launch{.block = {threads, 1, 1}} {
    values.bind(loop);
  }
  LaneValue evaluate(const ir::Expr& expr) { return values.evaluate(expr, LaneValues::Points::kWarp); }

  ir::KernelBuilder builder;
  const ir::VarId x = builder.var("x");
  const ir::For loop;
  const ir::Launch launch;
  LocalArena<16 << 10> arena;
  LaneValues values{builder.kernel, launch, arena.memory()};
};

// 3 x 4 x 5 blocks of 64 threads: number 13 is the second along x of the first row of the second layer.
TEST(LaneValues, BlocksComeInTheOrderInWhichTheyStart) {
  ir::KernelBuilder builder;
  const ir::VarId x = builder.var("x"), y = builder.var("y"), z = builder.var("z"), t = builder.var("t");
  const ir::For loop_x{x, ir::Int{3}, 3, ir::LoopKind::kBlockX, {}};
  const ir::For loop_y{y, ir::Int{4}, 4, ir::LoopKind::kBlockY, {}};
  const ir::For loop_z{z, ir::Int{5}, 5, ir::LoopKind::kBlockZ, {}};
  const ir::For loop_t{t, ir::Int{64}, 64, ir::LoopKind::kThreadX, {}};
  const ir::Launch launch{.grid = {3, 4, 5}, .block = {64, 1, 1}};
  LocalArena<16 << 10> arena;
  LaneValues values(builder.kernel, launch, arena.memory());
  for (const ir::For* loop : {&loop_z, &loop_y, &loop_x, &loop_t}) values.bind(*loop);
  const ir::Expr place = ir::var(x) + ir::var(y) * 10 + ir::var(z) * 100 + ir::var(t) * 1000;
  const Lanes lanes = values.evaluate(place, LaneValues::Points::kBlocks).all();
  for (std::int32_t block = 0; block < 32; ++block)
    EXPECT_EQ(lanes[static_cast<std::size_t>(block)], block % 3 + block / 3 % 4 * 10 + block / 12 * 100);
  EXPECT_EQ(distinct_values(values.evaluate(ir::var(x), LaneValues::Points::kBlocks)), 3);
  EXPECT_EQ(distinct_values(values.evaluate(ir::var(x) * 7 + 1, LaneValues::Points::kBlocks)), 3);
  EXPECT_EQ(distinct_values(values.evaluate(ir::var(t), LaneValues::Points::kBlocks)), 1);
  EXPECT_EQ(distinct_values(values.evaluate(place, LaneValues::Points::kWarp)), 32);
}

TEST(LaneValues, ASelectTakesASidePerThread) {
  Warp warp(32);
  const ir::Expr thread = ir::var(warp.x);
  const Lanes lanes =
      warp.evaluate(ir::select(ir::lt(thread % 5, ir::integer(2)), thread * 3, thread / 2 + 7)).all();
  for (std::int32_t t = 0; t < 32; ++t)
    EXPECT_EQ(lanes[static_cast<std::size_t>(t)], t % 5 < 2 ? t * 3 : t / 2 + 7) << "thread " << t;
}

// As in a kernel whose first 128 threads do something else: (thread - 128) / 128 is one number per warp.
TEST(LaneValues, ADivisionOfNegativeNumbersIsTheSameForAllThreadsOfAWarp) {
  Warp warp(256);
  const ir::Expr worker = ir::var(warp.x) - 128;
  const LaneValue group = warp.evaluate(worker / 128);
  EXPECT_TRUE(group.is_uniform());
  EXPECT_EQ(group.scalar, -1);
  EXPECT_EQ(warp.evaluate(worker % 128).all()[5], 5);
}

}  // namespace
}  // namespace lehr
