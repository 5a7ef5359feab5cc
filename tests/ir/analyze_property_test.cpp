// Tests on random small nests that the analysis is exact where it promises to be, and that its footprints are
// never too small where the index is affine.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "ir/print.h"
#include "tests/ir/against_oracle.h"

namespace lehr::ir {
namespace {

using lehr::testing::count;
using lehr::testing::Counts;
using lehr::testing::expect_exact;
using lehr::testing::expect_exact_but_footprints;

constexpr std::uint64_t kSeed = 77001;

struct Nest {
  KernelBuilder b;
  BufferId in{}, out{};
  std::vector<VarId> vars;
  std::vector<std::int64_t> extents;
};

std::int64_t between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

Nest random_nest(Rng& rng) {
  Nest nest;
  nest.b.kernel.name = "nest";
  nest.in = nest.b.param("in", DType::kF32, 100000, Direction::kIn);
  nest.out = nest.b.param("out", DType::kF16, 100000, Direction::kOut);
  const std::int64_t depth = between(rng, 1, 5);
  for (std::int64_t d = 0; d < depth; ++d) {
    nest.vars.push_back(nest.b.var("i"));
    nest.extents.push_back(between(rng, 1, 5));
  }
  return nest;
}

// Wraps `body` into the loops, outermost first, with a barrier or a second statement thrown in between.
void close_nest(Nest& nest, Block body, Rng& rng) {
  for (std::size_t d = nest.vars.size(); d-- > 0;) {
    if (rng.below(3) == 0) body.push_back(Barrier{});
    if (rng.below(4) == 0)
      body.push_front(Store{nest.out, integer(7), load(nest.in, integer(9)) * load(nest.in, integer(3)), 1,
                            std::nullopt});
    Block outer = block(loop(nest.vars[d], nest.extents[d],
                             rng.below(2) == 0 ? LoopKind::kSerial : LoopKind::kUnrolled, std::move(body)));
    body = std::move(outer);
  }
  nest.b.kernel.body = std::move(body);
}

Expr random_affine(const Nest& nest, Rng& rng) {
  Expr index = integer(between(rng, 200, 400));  // large enough to stay positive below
  for (const VarId v : nest.vars)
    if (rng.below(4) != 0) index = std::move(index) + var(v) * between(rng, -6, 12);
  return index;
}

// Returns an index that is not negative, whatever the loops do.
Expr random_index(const Nest& nest, Rng& rng, int depth) {
  if (depth == 0) {
    if (rng.below(4) == 0) return integer(between(rng, 0, 9));
    return var(nest.vars[rng.below(nest.vars.size())]) * between(rng, 1, 9);
  }
  Expr a = random_index(nest, rng, depth - 1);
  Expr b = random_index(nest, rng, depth - 1);
  switch (rng.below(9)) {
    case 0:
      return std::move(a) / between(rng, 1, 6);
    case 1:
      return std::move(a) % between(rng, 1, 9);
    case 2:
      return bit_xor(std::move(a), std::move(b));
    case 3:
      return min(std::move(a), std::move(b));
    case 4:
      return max(std::move(a), std::move(b));
    case 5:
      return select(lt(a, b), a, b + 1);
    case 6:
      return std::move(a) * std::move(b);
    default:
      return std::move(a) + std::move(b);
  }
}

Stmt copy(const Nest& nest, Expr to, Expr from, int lanes, Rng& rng) {
  Expr value = load(nest.in, std::move(from), lanes);
  if (rng.below(2) == 0) value = fma(value, value, value);
  return Store{nest.out, std::move(to), std::move(value), lanes, std::nullopt};
}

TEST(AnalyzeProperty, IsExactOnRandomTilings) {
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  Rng rng = Rng(kSeed).fork("tilings");
  for (int round = 0; round < 300 && !::testing::Test::HasFailure(); ++round) {
    // Rows and columns of a matrix, each split into several loops that stand in any order; some loops serve
    // neither.
    Nest nest = random_nest(rng);
    const int lanes = static_cast<int>(between(rng, 0, 1)) * 3 + 1;
    Expr row = integer(0), column = integer(0);
    std::int64_t rows = 1, columns = lanes;
    std::vector<std::size_t> order(nest.vars.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    rng.shuffle(order);
    for (const std::size_t i : order) {
      const std::uint64_t use = rng.below(3);
      if (use == 0) {
        row = std::move(row) + var(nest.vars[i]) * rows;
        rows *= nest.extents[i];
      } else if (use == 1) {
        column = std::move(column) + var(nest.vars[i]) * columns;
        columns *= nest.extents[i];
      }
    }
    const std::int64_t pitch = columns + between(rng, 0, 3);
    Block body = block(copy(nest, row * columns + column, row * pitch + column, lanes, rng));
    nest.b.kernel.body = std::move(body);
    for (std::size_t d = nest.vars.size(); d-- > 0;) {
      Block outer =
          block(loop(nest.vars[d], nest.extents[d], LoopKind::kSerial, std::move(nest.b.kernel.body)));
      nest.b.kernel.body = std::move(outer);
    }
    expect_exact(nest.b.kernel);
  }
}

TEST(AnalyzeProperty, NeverUnderestimatesAffineFootprints) {
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  Rng rng = Rng(kSeed).fork("affine");
  double ratios = 0;
  int samples = 0;
  for (int round = 0; round < 500 && !::testing::Test::HasFailure(); ++round) {
    Nest nest = random_nest(rng);
    const int lanes = static_cast<int>(between(rng, 1, 4));
    close_nest(nest, block(copy(nest, random_affine(nest, rng), random_affine(nest, rng), lanes, rng)), rng);
    SCOPED_TRACE(to_text(nest.b.kernel));
    const Analysis analysis = analyze(nest.b.kernel);
    const Counts counts = count(nest.b.kernel);
    expect_exact_but_footprints(nest.b.kernel, analysis, counts);
    for (std::size_t i = 0; i < counts.accesses.size(); ++i)
      for (std::size_t d = 0; d < analysis.accesses[i].footprint.size(); ++d) {
        const auto exact = static_cast<double>(counts.accesses[i].distinct[d]);
        EXPECT_GE(analysis.accesses[i].footprint[d], exact) << "access " << i << " loop " << d;
        ratios += analysis.accesses[i].footprint[d] / exact;
        ++samples;
      }
    EXPECT_GE(analysis.unique_global_bytes, 0.5 * static_cast<double>(counts.distinct_global_bytes));
  }
  RecordProperty("mean_ratio", fmt::format("{:.3f}", ratios / samples));
  EXPECT_LT(ratios / samples, 1.25) << "estimates are too loose to learn from";
}

TEST(AnalyzeProperty, GivesExactStridesAndBoundedFootprintsOfAnyIndex) {
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  Rng rng = Rng(kSeed).fork("any");
  int far_off = 0, samples = 0;
  for (int round = 0; round < 500 && !::testing::Test::HasFailure(); ++round) {
    Nest nest = random_nest(rng);
    const VarId shared = nest.b.var("shared");
    const Expr common = random_index(nest, rng, 2);
    Block body = block(Let{shared, common},
                       copy(nest, random_index(nest, rng, 3), var(shared) * 3 + random_index(nest, rng, 2),
                            static_cast<int>(between(rng, 1, 4)), rng));
    close_nest(nest, std::move(body), rng);
    SCOPED_TRACE(to_text(nest.b.kernel));
    const Analysis analysis = analyze(nest.b.kernel);
    const Counts counts = count(nest.b.kernel);
    expect_exact_but_footprints(nest.b.kernel, analysis, counts);
    for (std::size_t i = 0; i < counts.accesses.size(); ++i) {
      const Access& access = analysis.accesses[i];
      double iterations = access.lanes;
      int loop = access.loop;
      for (std::size_t d = access.footprint.size(); d-- > 0;
           loop = analysis.loops[static_cast<std::size_t>(loop)].parent) {
        iterations *= static_cast<double>(analysis.loops[static_cast<std::size_t>(loop)].extent);
        EXPECT_GE(access.footprint[d], 1);
        EXPECT_LE(access.footprint[d], iterations);
        const auto exact = static_cast<double>(counts.accesses[i].distinct[d]);
        ++samples;
        if (access.footprint[d] > 2 * exact || access.footprint[d] < exact / 2) ++far_off;
      }
    }
  }
  RecordProperty("far_off", fmt::format("{} of {}", far_off, samples));
  EXPECT_LT(far_off, samples / 10) << "of " << samples << " estimates are off by more than a factor of two";
}

}  // namespace
}  // namespace lehr::ir
