// Tests of who owns expressions and blocks: copies share their nodes, and no copy sees another one's change.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "ir/kernel.h"
#include "ir/print.h"

namespace lehr::ir {
namespace {

TEST(Expr, OutlivesWhatItWasMadeOf) {
  Expr kept = integer(0);
  {
    const Expr index = var(VarId{0}) / 3;
    kept = index % 5 + 1;
    const Expr moved = std::move(kept);
    kept = moved;
  }
  EXPECT_EQ(kept, var(VarId{0}) / 3 % 5 + 1);
  kept = kept.as_binary()->a;  // the assigned node belongs to the tree that the assignment drops
  EXPECT_EQ(kept, var(VarId{0}) / 3 % 5);
}

TEST(Expr, IsSharedByThreads) {
  const Expr shared = load(BufferId{0}, var(VarId{0}) / 3, 4) + splat(Float{1}, 4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([copy = shared] {
      for (int round = 0; round < 1000; ++round) {
        const Expr more = copy * copy;
        ASSERT_EQ(more.as_binary()->a, copy);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared, load(BufferId{0}, var(VarId{0}) / 3, 4) + splat(Float{1}, 4));
}

// Otherwise a sum over thousands of terms would end the program where it is printed or dropped.
TEST(Expr, RefusesWhatIsTooDeepToWalk) {
  Expr sum = load(BufferId{0}, integer(0));
  while (sum.depth() < Expr::kMaxDepth) sum = sum + load(BufferId{0}, integer(sum.depth()));
  EXPECT_THROW(sum + sum, Error);
  EXPECT_EQ(sum.depth(), Expr::kMaxDepth);
  EXPECT_EQ(min(var(VarId{0}), var(VarId{0}) / 3).depth(), 2);
  EXPECT_EQ(load_active(BufferId{0}, integer(0), 4, var(VarId{0}) / 3).depth(), 2);
  EXPECT_EQ(select(var(VarId{0}), integer(1), var(VarId{0}) / 3).depth(), 2);
  EXPECT_EQ(fma(Float{1}, Float{2}, cast(DType::kF32, load(BufferId{0}, integer(0)))).depth(), 3);
}

/// Returns the buffers of the Allocs that the tests below put into blocks.
std::vector<int> numbers(const Block& block) {
  std::vector<int> result;
  for (const Stmt& stmt : block) result.push_back(static_cast<int>(std::get<Alloc>(stmt.node).buffer));
  return result;
}
Stmt numbered(int number) {
  return Alloc{static_cast<BufferId>(number)};
}

TEST(Block, IsAValue) {
  Block a = {numbered(1), numbered(2), numbered(3)};
  Block b = a;
  EXPECT_EQ(a, b);
  a.push_back(numbered(4));
  b.push_back(numbered(5));
  Block c = b;
  b.push_front(numbered(0));
  c.append(c);
  EXPECT_EQ(numbers(a), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(numbers(b), (std::vector<int>{0, 1, 2, 3, 5}));
  EXPECT_EQ(numbers(c), (std::vector<int>{1, 2, 3, 5, 1, 2, 3, 5}));
  EXPECT_NE(a, b);
  a.push_back(a[0]);
  EXPECT_EQ(a.back(), numbered(1));
  EXPECT_EQ(a.front(), numbered(1));
  EXPECT_TRUE(Block().empty());
  EXPECT_EQ(Block(), Block({}));
  Block d;
  d.append(a);
  EXPECT_EQ(d, a);
}

// Copies some blocks over each other and adds to them, against vectors that share nothing.
TEST(Block, SharesNoChange) {
  constexpr std::uint64_t kSeed = 20261123;
  Rng rng(kSeed);
  std::vector<Block> blocks(5);
  std::vector<std::vector<int>> expected(5);
  for (int step = 0; step < 20000; ++step) {
    const std::size_t to = rng.below(5), from = rng.below(5);
    switch (rng.below(6)) {
      case 0:
        blocks[to] = blocks[from];
        expected[to] = expected[from];
        break;
      case 1:
        blocks[to].push_front(numbered(step));
        expected[to].insert(expected[to].begin(), step);
        break;
      case 2: {
        blocks[to].append(blocks[from]);
        const std::vector<int> added = expected[from];
        expected[to].insert(expected[to].end(), added.begin(), added.end());
        break;
      }
      default:
        blocks[to].push_back(numbered(step));
        expected[to].push_back(step);
    }
    if (blocks[to].size() > 100) {
      blocks[to] = {};
      expected[to].clear();
    }
    for (std::size_t i = 0; i < 5; ++i)
      ASSERT_EQ(numbers(blocks[i]), expected[i]) << "seed " << kSeed << " step " << step;
  }
}

// Returns a kernel with in[i] + ... over `terms` terms, of which no pair folds.
Kernel sum_kernel(int terms) {
  KernelBuilder b;
  b.kernel.name = "sum";
  const BufferId in = b.param("in", DType::kF32, 1 << 20, Direction::kIn);
  const VarId i = b.var("i");
  Block body;
  for (int t = 0; t < terms; ++t)
    body.push_back(Store{in, var(i) % (t + 2), load(in, var(i) / (t + 2)), 1, std::nullopt});
  b.kernel.body = block(loop(i, 4, LoopKind::kSerial, body));
  return std::move(b.kernel);
}

TEST(Kernel, OutlivesItsBuilderAndItsCopies) {
  std::vector<Kernel> kernels;
  for (int terms = 1; terms < 400; terms += 40) kernels.push_back(sum_kernel(terms));
  Kernel copy = kernels.back();
  const std::string text = to_text(copy);
  kernels.clear();
  EXPECT_EQ(to_text(copy), text);
  copy = sum_kernel(3);
  EXPECT_EQ(copy, sum_kernel(3));
}

TEST(Kernel, GoesFromThreadToThread) {
  std::vector<Kernel> kernels;
  std::thread([&] {
    for (int terms = 1; terms < 100; ++terms) kernels.push_back(sum_kernel(terms));
  }).join();
  for (int terms = 1; terms < 100; ++terms) {
    const Kernel taken = std::move(kernels[static_cast<std::size_t>(terms - 1)]);
    EXPECT_EQ(taken, sum_kernel(terms));
  }
}

}  // namespace
}  // namespace lehr::ir
