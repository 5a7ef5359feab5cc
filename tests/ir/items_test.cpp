// Sequences that share their items, and the memory that they and expressions lie in.
#include "ir/items.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/address_sanitizer.h"
#include "base/rng.h"
#include "ir/kernel.h"
#include "ir/print.h"

namespace lehr::ir {
namespace {

std::vector<int> values(const Items<int>& items) {
  return {items.begin(), items.end()};
}

TEST(Items, AreValues) {
  Items<int> a = {1, 2, 3};
  Items<int> b = a;
  EXPECT_EQ(a, b);
  a.push_back(4);
  b.push_back(5);
  Items<int> c = b;
  b.push_front(0);
  c.append(c);
  EXPECT_EQ(values(a), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(values(b), (std::vector<int>{0, 1, 2, 3, 5}));
  EXPECT_EQ(values(c), (std::vector<int>{1, 2, 3, 5, 1, 2, 3, 5}));
  EXPECT_NE(a, b);
  a.push_back(a[0]);
  EXPECT_EQ(a.back(), 1);
  EXPECT_EQ(a.front(), 1);
  EXPECT_TRUE(Items<int>().empty());
  Items<int> d;
  d.append(a);
  EXPECT_EQ(d, a);
}

// Some sequences, copied over each other and added to, against vectors that share nothing.
TEST(Items, ShareNoChange) {
  constexpr std::uint64_t kSeed = 20261123;
  Rng rng(kSeed);
  const KernelScope scope;
  std::vector<Items<int>> items(5);
  std::vector<std::vector<int>> expected(5);
  for (int step = 0; step < 20000; ++step) {
    const std::size_t to = rng.below(5), from = rng.below(5);
    switch (rng.below(6)) {
      case 0:
        items[to] = items[from];
        expected[to] = expected[from];
        break;
      case 1:
        items[to].push_front(step);
        expected[to].insert(expected[to].begin(), step);
        break;
      case 2: {
        items[to].append(items[from]);
        const std::vector<int> added = expected[from];
        expected[to].insert(expected[to].end(), added.begin(), added.end());
        break;
      }
      default:
        items[to].push_back(step);
        expected[to].push_back(step);
    }
    if (items[to].size() > 100) {
      items[to] = {};
      expected[to].clear();
    }
    for (std::size_t i = 0; i < 5; ++i)
      ASSERT_EQ(values(items[i]), expected[i]) << "seed " << kSeed << " step " << step;
  }
}

// in[i] + ... over `terms` terms, none of which folds.
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

TEST(KernelMemory, LivesAsLongAsAKernel) {
  const Kernel kernel = sum_kernel(3);
  const std::string text = to_text(kernel);
  std::vector<Kernel> others;
  for (int terms = 1; terms < 400; terms += 40) others.push_back(sum_kernel(terms));  // many pieces
  EXPECT_EQ(to_text(kernel), text);
  Kernel copy = others.back();
  const std::string last = to_text(copy);
  others.clear();
  for (int round = 0; round < 10; ++round) static_cast<void>(sum_kernel(500));
  EXPECT_EQ(to_text(copy), last);
  copy = kernel;
  EXPECT_EQ(copy, kernel);
  EXPECT_EQ(to_text(copy), text);
}

TEST(KernelMemory, GoesFromThreadToThread) {
  std::vector<Kernel> kernels;
  std::thread([&] {
    for (int terms = 1; terms < 100; ++terms) kernels.push_back(sum_kernel(terms));
  }).join();
  for (int terms = 1; terms < 100; ++terms) {
    const Kernel taken = std::move(kernels[static_cast<std::size_t>(terms - 1)]);
    EXPECT_EQ(taken, sum_kernel(terms));
  }
}

TEST(KernelMemory, IsUsedAgain) {
  if (kAddressSanitizer) GTEST_SKIP() << "nothing is used again under the address sanitizer";
  const auto place = [] {
    const KernelScope scope;
    return take_kernel_memory(kMemoryStep);
  };
  void* const first = place();
  EXPECT_EQ(place(), first);
  const KernelShare share = [] {
    const KernelScope scope;
    return KernelScope::share();
  }();
  void* const other = place();  // while somebody holds the first
  EXPECT_NE(other, first);
  EXPECT_EQ(place(), other);
}

TEST(KernelMemory, IsSharedByBuildersThatLiveTogether) {
  KernelBuilder outer;
  const VarId i = outer.var("i");
  Expr index = var(i) / 3;
  {
    KernelBuilder inner;
    index = index % 5 + 1;
  }
  static_cast<void>(sum_kernel(300));
  EXPECT_EQ(index, var(i) / 3 % 5 + 1);
}

TEST(KernelMemory, KeepsWhatIsMadeWithoutABuilder) {
  const Expr index = var(VarId{0}) / 3 % 5;
  for (int round = 0; round < 10; ++round) static_cast<void>(sum_kernel(300));
  const Expr more = index * 7 + var(VarId{1});
  EXPECT_EQ(index, var(VarId{0}) / 3 % 5);
  EXPECT_EQ(more, var(VarId{0}) / 3 % 5 * 7 + var(VarId{1}));
}

TEST(KernelMemory, HoldsWhatIsLargerThanAPiece) {
  const KernelScope scope;
  Items<Expr> many;
  for (int i = 0; i < 10000; ++i) many.push_back(var(VarId{0}) / (i + 2));
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(many[static_cast<std::size_t>(i)], var(VarId{0}) / (i + 2));
}

}  // namespace
}  // namespace lehr::ir
