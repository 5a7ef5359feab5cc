#include "templates/conv2d_winograd_cpu_space.h"

#include <algorithm>

#include "templates/cpu_common.h"
#include "templates/winograd.h"

namespace lehr {
namespace {

using cpu::ceil_div;

using Values = std::vector<std::int64_t>;

/// Transformed inputs and products of one task; what leaves the L2 cache by far cannot win.
constexpr std::int64_t kMaxScratchBytes = 16LL << 20;

const Values& row_steps() {
  static const Values steps = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64};
  return steps;
}

/// Of the tiles, those that hold whole windows of a pool.
Values whole_windows(std::int64_t window) {
  return window <= 2 ? Values{2, 4} : Values{4};
}

std::int64_t scratch_bytes(const Conv2d& conv, const WinogradCpuSchedule& s) {
  const WinogradCpuShape shape = winograd_cpu_shape(conv, s);
  return 4 * winograd(s.tile).products() * shape.tiles() * (shape.channels + shape.block_panels * shape.nr);
}

}  // namespace

WinogradCpuSchedule winograd_cpu_schedule(const Config& config) {
  KnobReader knobs(config);
  return {knobs.at("tile"),  knobs.at("threads"), knobs.at("split"), knobs.at("lanes"),
          knobs.at("mr"),    knobs.at("nv"),      knobs.at("rows"),  knobs.at("panels"),
          knobs.at("order"), knobs.at("prefetch")};
}

WinogradCpuShape winograd_cpu_shape(const Conv2d& conv, const WinogradCpuSchedule& s) {
  WinogradCpuShape shape;
  shape.rows = ceil_div(conv.out_h(), s.tile), shape.columns = ceil_div(conv.out_w(), s.tile);
  shape.owned_rows = s.split == 0 ? ceil_div(shape.rows, s.threads) : shape.rows;
  shape.block_rows = std::min(s.rows, shape.owned_rows);
  shape.nr = s.nv * s.lanes;
  shape.panels = ceil_div(conv.k, shape.nr);
  shape.owned_panels = s.split == 1 ? ceil_div(shape.panels, s.threads) : shape.panels;
  shape.block_panels = std::min(s.panels, shape.owned_panels);
  shape.channels = ceil_div(conv.c, s.lanes) * s.lanes;
  shape.lines_in = shape.block_rows * s.tile + 2;
  shape.width_in = shape.columns * s.tile + 2;
  return shape;
}

FamilySpace winograd_cpu_space(const Workload& workload, const Limits& limits) {
  const Conv2d conv = pooled_part(workload);
  const std::int64_t narrowest = cpu::lane_counts(limits).front();
  FamilySpace space("conv2d_winograd_cpu");
  const KnobId tile =
      space.add("tile", "outputs of a tile along each side", whole_windows(window_of(workload.epilogue)));
  const cpu::ThreadKnobs shared =
      cpu::add_thread_knobs(space, limits, conv.n > 1, "0 rows of tiles, 1 output channels, 2 images");
  const KnobId threads = shared.threads, split = shared.split, lanes = shared.lanes;
  Values vectors;
  for (const std::int64_t count : {1, 2, 3, 4, 5, 6})
    if (count == 1 || (count - 1) * narrowest < conv.k) vectors.push_back(count);
  const std::int64_t most_rows = ceil_div(conv.out_h(), 2),
                     most_tiles = most_rows * ceil_div(conv.out_w(), 2);
  const KnobId mr = space.add("mr", "tiles in registers", cpu::register_rows(most_tiles));
  const KnobId nv = space.add("nv", "vectors of output channels in registers", vectors);
  Values row_counts;
  for (const std::int64_t size : space.knobs()[0].values)
    for (const std::int64_t tasks : {std::int64_t{1}, std::int64_t{limits.cores}})
      row_counts.push_back(ceil_div(ceil_div(conv.out_h(), size), tasks));
  const KnobId rows = space.add_dependent(
      "rows", "rows of tiles of one block; the last value covers all", cpu::up_to_any(row_counts, row_steps()),
      [=](const Point& x) {
        const std::int64_t all = ceil_div(conv.out_h(), x[tile]);
        return cpu::up_to(x[threads] > 1 && x[split] == 0 ? ceil_div(all, x[threads]) : all, row_steps());
      });
  const KnobId panels = space.add_dependent(
      "panels", "panels of output channels of one block; the last value covers all",
      cpu::powers_up_to(ceil_div(conv.k, narrowest)), [=](const Point& x) {
        const std::int64_t all = ceil_div(conv.k, x[nv] * x[lanes]);
        return cpu::powers_up_to(x[threads] > 1 && x[split] == 1 ? ceil_div(all, x[threads]) : all);
      });
  const KnobId order = space.add("order", "outer loop of a product: 0 tiles, 1 panels", {0, 1});
  space.add("prefetch", "transformed filters: 0 nothing, 1 the next panel", {0, 1});

  const auto schedule = [=](const Point& x) {
    WinogradCpuSchedule s;
    s.tile = x[tile], s.threads = x[threads], s.split = x[split], s.lanes = x[lanes];
    s.mr = x[mr], s.nv = x[nv], s.rows = x[rows];
    return s;
  };
  space.require("needs more vector registers than there are", {mr, nv},
                [=](const Point& x) { return cpu::fits_registers(x[mr], x[nv], limits); });
  // Fewer accumulators than the multiply-add's latency x throughput (8 to 10) cannot keep the units busy.
  space.require("too few accumulators to hide the latency of a multiply-add", {lanes, mr, nv, rows},
                [=](const Point& x) {
                  const std::int64_t tiles = winograd_cpu_shape(conv, schedule(x)).tiles();
                  const std::int64_t most = std::min<std::int64_t>(tiles, 28) *
                                            std::min<std::int64_t>(ceil_div(conv.k, x[lanes]), 6);
                  return x[mr] * x[nv] >= std::min<std::int64_t>(6, most);
                });
  space.require("more threads than rows of tiles, panels or images", {tile, threads, split, lanes, nv},
                [=](const Point& x) {
                  if (x[threads] == 1) return true;
                  const std::int64_t parts = x[split] == 0   ? ceil_div(conv.out_h(), x[tile])
                                             : x[split] == 1 ? ceil_div(conv.k, x[nv] * x[lanes])
                                                             : conv.n;
                  return parts >= x[threads];
                });
  space.require("a micro-kernel has more tiles than a block", {tile, threads, split, mr, rows},
                [=](const Point& x) { return x[mr] <= winograd_cpu_shape(conv, schedule(x)).tiles(); });
  space.require("a panel is wider than the output channels", {lanes, nv},
                [=](const Point& x) { return x[nv] == 1 || (x[nv] - 1) * x[lanes] < conv.k; });
  space.require("the order of one loop has no meaning", {panels, order},
                [=](const Point& x) { return x[order] == 0 || x[panels] > 1; });
  space.require("its transformed inputs and products are too large",
                {tile, threads, split, lanes, nv, rows, panels}, [=](const Point& x) {
                  WinogradCpuSchedule s = schedule(x);
                  s.panels = x[panels];
                  return (x[rows] == 1 && x[panels] == 1) || scratch_bytes(conv, s) <= kMaxScratchBytes;
                });
  return space;
}

// The larger tile where the output has several of them; as many rows of tiles, then as many panels, as leave
// transformed inputs and products in half of L2, or in an eighth where the filters stay there beside them;
// the micro-kernel that covers a block's tiles in the least time. Threads share out what they would otherwise
// all read.
Config winograd_cpu_default(const Workload& workload, const Limits& limits) {
  const Conv2d conv = pooled_part(workload);
  const FamilySpace space = winograd_cpu_space(workload, limits);
  WinogradCpuSchedule s;
  s.tile = std::min(conv.out_h(), conv.out_w()) >= 12 ? 4 : 2;
  s.threads = cpu::default_threads(workload, limits);
  const std::int64_t half_l2 = (limits.l2_bytes > 0 ? limits.l2_bytes : 1 << 20) / 2;
  const bool filters_stay = 4 * winograd(s.tile).products() * conv.k * conv.c <= half_l2;
  s.split = filters_stay && ceil_div(conv.out_h(), s.tile) % limits.cores == 0 ? 0 : 1;
  s.lanes = cpu::lane_counts(limits).back();
  s.nv = 2;  // until the blocks are known
  s.rows = winograd_cpu_shape(conv, s).owned_rows;
  const std::int64_t room = filters_stay ? half_l2 / 4 : half_l2;
  while (s.rows > 1 && scratch_bytes(conv, s) > room) s.rows = ceil_div(s.rows, 2);
  const cpu::Tiling tiling =
      cpu::fastest_tiling(winograd_cpu_shape(conv, s).tiles(), conv.k, s.lanes, 0, limits);
  s.mr = tiling.rows, s.nv = tiling.vectors;
  const std::int64_t all = winograd_cpu_shape(conv, s).owned_panels;
  while (s.panels < all) {
    s.panels *= 2;
    if (scratch_bytes(conv, s) <= room) continue;
    s.panels /= 2;
    break;
  }
  return cpu::nearest_config(
      space, {s.tile, s.threads, s.split, s.lanes, s.mr, s.nv, s.rows, s.panels, s.panels > 1 ? 1 : 0, 1});
}

}  // namespace lehr
