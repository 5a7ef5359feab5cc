// Context-relation columns (Chen et al., "Learning to Optimize Tensor Programs", section 4 and appendix
// A.2.2): over the loops around an access, the relation of touch count, reuse and position. It is sampled at
// fixed points, so that loop nests of different depth and operator have the same columns.
//
// Loops are numbered from the inside out. For loop k, count_k is the product of those extents, from the
// innermost loop to k, that move the address; reuse_k is the product of the extents that do not move it;
// topdown_k is the product of the extents from the root to k. R(count -> reuse) at t is the largest reuse_k
// over the loops with count_k < t, as in the paper. The other relations are defined in the same way.
// Thresholds are powers of two. Unlike in AutoTVM's code, nothing is sorted independently, so that pairs stay
// pairs.
#include <algorithm>
#include <array>
#include <span>

#include "costmodel/feature_sections.h"

namespace lehr {
namespace {

constexpr std::array<double, 4> kThresholds = {8, 64, 512, 8192};
constexpr std::array<std::array<std::string_view, 4>, 3> kNames = {{
    {"_reuse_at_count_2^3", "_reuse_at_count_2^6", "_reuse_at_count_2^9", "_reuse_at_count_2^13"},
    {"_count_at_reuse_2^3", "_count_at_reuse_2^6", "_count_at_reuse_2^9", "_count_at_reuse_2^13"},
    {"_topdown_at_count_2^3", "_topdown_at_count_2^6", "_topdown_at_count_2^9", "_topdown_at_count_2^13"},
}};
constexpr std::array<std::string_view, 3> kMeanings = {
    "largest reuse of an operand over its loops whose touch count is below the threshold",
    "largest touch count of an operand over its loops whose reuse is below the threshold",
    "most executions among an operand's loops whose touch count is below the threshold"};

struct Point {
  double count;
  double reuse;
  double topdown;
};

/// Points of one access: the access itself, and then one point per loop around it, innermost first.
struct Points {
  std::array<Point, ir::kMaxLoopDepth + 1> values;
  std::size_t count = 0;

  void add(Point point) { values[count++] = point; }
  std::span<const Point> all() const { return std::span(values).first(count); }
};

Points points_of(const KernelView& view, int access_index) {
  Points points;
  if (access_index < 0) return points;
  const ir::Access& access = view.analysis.accesses[static_cast<std::size_t>(access_index)];
  const Chain chain = view.chain_of(access.loop);
  double count = access.lanes, reuse = 1;
  points.add({count, reuse, access.executions});
  for (std::size_t i = chain.size(); i-- > 0;) {
    const ir::LoopInfo& loop = view.analysis.loops[static_cast<std::size_t>(chain[i])];
    (stride_at(access, i) != 0 ? count : reuse) *= static_cast<double>(loop.extent);
    points.add({count, reuse, loop.iterations});
  }
  return points;
}

}  // namespace

void add_relation_columns(const FeatureContext& context, Columns& columns) {
  constexpr std::array<std::string_view, 2> kOperands = {"operand0", "operand1"};
  const KernelView& view = context.view;
  for (std::size_t o = 0; o < kOperands.size(); ++o) {
    const Points of_operand = points_of(view, view.operands[o]);
    const std::span<const Point> points = of_operand.all();
    // From the inside out, counts and reuses grow and topdown shrinks, so each maximum is at one end of its
    // range.
    std::array<std::array<double, 4>, 3> most{};
    for (std::size_t t = 0; t < kThresholds.size(); ++t) {
      if (!points.empty() && points[0].count < kThresholds[t]) most[2][t] = points[0].topdown;
      for (const Point& p : points) {
        if (p.count < kThresholds[t]) most[0][t] = p.reuse;
        if (p.reuse < kThresholds[t]) most[1][t] = p.count;
        if (p.count >= kThresholds[t] && p.reuse >= kThresholds[t]) break;
      }
    }
    for (std::size_t relation = 0; relation < kNames.size(); ++relation) {
      for (std::size_t t = 0; t < kThresholds.size(); ++t)
        columns.add(kOperands[o], kNames[relation][t], "log2(count)", kMeanings[relation],
                    log_scale(most[relation][t]));
    }
  }
}

}  // namespace lehr
