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

std::int64_t scratch_bytes(const Conv2d& conv, const WinogradCpuSchedule& s) {
  const std::int64_t channels = conv.c + std::min(s.panels * s.mr, conv.k + s.mr);
  return 4 * winograd(s.tile).products() * channels * winograd_tiles(conv, s).room;
}

}  // namespace

WinogradCpuSchedule winograd_cpu_schedule(const Config& config) {
  WinogradCpuSchedule s;
  s.tile = config.at("tile");
  s.threads = config.at("threads");
  s.split = config.at("split");
  s.lanes = config.at("lanes");
  s.mr = config.at("mr");
  s.nv = config.at("nv");
  s.rows = config.at("rows");
  s.panels = config.at("panels");
  s.order = config.at("order");
  return s;
}

WinogradTiles winograd_tiles(const Conv2d& conv, const WinogradCpuSchedule& s) {
  WinogradTiles t;
  t.rows = ceil_div(conv.out_h(), s.tile);
  t.columns = ceil_div(conv.out_w(), s.tile);
  t.groups = ceil_div(t.columns, s.lanes);
  const std::int64_t stored = (s.rows - 1) * t.columns + t.groups * s.lanes;
  t.room = ceil_div(stored, s.nv * s.lanes) * s.nv * s.lanes;
  // A tile reads two elements beyond its own, fetched with a whole vector of tiles.
  const std::int64_t read = (t.groups * s.lanes + 1) * s.tile;
  const std::int64_t written = conv.pad_left + ceil_div(conv.w, s.lanes) * s.lanes;
  t.line = ceil_div(std::max(read, written), s.lanes) * s.lanes;
  return t;
}

FamilySpace winograd_cpu_space(const Workload& workload, const Limits& limits) {
  const Conv2d conv = workload.conv2d();
  FamilySpace space("conv2d_winograd_cpu");
  const KnobId tile = space.add("tile", "outputs of a tile along each side", {2, 4});
  const cpu::ThreadKnobs shared =
      cpu::add_thread_knobs(space, limits, conv.n > 1, "0 rows of tiles, 1 output channels, 2 images");
  const KnobId threads = shared.threads, split = shared.split, lanes = shared.lanes;
  const KnobId mr = space.add("mr", "output channels in registers", cpu::register_rows(conv.k));
  const KnobId nv = space.add("nv", "vectors of tiles in registers", {1, 2, 3, 4, 5, 6, 8});
  const auto rows_of_task = [=](std::int64_t of_tile, std::int64_t threads_now, std::int64_t split_now) {
    const std::int64_t all = ceil_div(conv.out_h(), of_tile);
    return threads_now > 1 && split_now == 0 ? ceil_div(all, threads_now) : all;
  };
  const KnobId rows = space.add_dependent(
      "rows", "rows of tiles of one block; the last value covers all",
      cpu::up_to(ceil_div(conv.out_h(), 2), row_steps()),
      [=](const Point& x) { return cpu::up_to(rows_of_task(x[tile], x[threads], x[split]), row_steps()); });
  const KnobId panels =
      space.add("panels", "micro-kernels of output channels of one block", cpu::powers_up_to(conv.k));
  const KnobId order = space.add("order", "outer loop of a product: 0 tiles, 1 output channels", {0, 1});

  space.require("needs more vector registers than there are", {mr, nv},
                [=](const Point& x) { return cpu::fits_registers(x[mr], x[nv], limits); });
  const auto schedule = [=](const Point& x) {
    WinogradCpuSchedule s;
    s.tile = x[tile], s.lanes = x[lanes], s.mr = x[mr], s.nv = x[nv], s.rows = x[rows];
    return s;
  };
  // Fewer accumulators than the multiply-add's latency x throughput (8 to 10) cannot keep the units busy.
  space.require("too few accumulators to hide the latency of a multiply-add", {mr, nv},
                [=](const Point& x) { return x[mr] * x[nv] >= std::min<std::int64_t>(6, conv.k); });
  space.require("more threads than rows of tiles, output channels or images", {tile, threads, split, mr},
                [=](const Point& x) {
                  if (x[threads] == 1) return true;
                  const std::int64_t parts = x[split] == 0   ? ceil_div(conv.out_h(), x[tile])
                                             : x[split] == 1 ? ceil_div(conv.k, x[mr])
                                                             : conv.n;
                  return parts >= x[threads];
                });
  space.require("a micro-kernel is wider than the block's tiles", {tile, lanes, nv, rows},
                [=](const Point& x) {
                  WinogradCpuSchedule s = schedule(x);
                  s.nv = 1;
                  return x[nv] * x[lanes] <= winograd_tiles(conv, s).room;
                });
  space.require("more micro-kernels than output channels", {mr, panels},
                [=](const Point& x) { return x[panels] == 1 || (x[panels] / 2) * x[mr] < conv.k; });
  space.require("the order of one loop has no meaning", {panels, order},
                [=](const Point& x) { return x[order] == 0 || x[panels] > 1; });
  space.require("its transformed inputs and products are too large", {tile, lanes, mr, nv, rows, panels},
                [=](const Point& x) {
                  WinogradCpuSchedule s = schedule(x);
                  s.panels = x[panels];
                  return (x[rows] == 1 && x[panels] == 1) || scratch_bytes(conv, s) <= kMaxScratchBytes;
                });
  return space;
}

// The larger tile where the output has several of them; the largest micro-kernel that the registers hold; as
// many rows of tiles, then as many channels, as leave transformed inputs and products in half of L2.
Config winograd_cpu_default(const Workload& workload, const Limits& limits) {
  const Conv2d& conv = workload.conv2d();
  const FamilySpace space = winograd_cpu_space(workload, limits);
  const std::int64_t registers = std::max(limits.vector_registers, 16);
  WinogradCpuSchedule s;
  s.tile = std::min(conv.out_h(), conv.out_w()) >= 12 ? 4 : 2;
  s.threads = limits.cores;
  s.split = ceil_div(conv.out_h(), s.tile) % limits.cores == 0 ? 0 : 1;
  s.lanes = cpu::lane_counts(limits).back();
  s.rows =
      s.split == 0 ? ceil_div(ceil_div(conv.out_h(), s.tile), s.threads) : ceil_div(conv.out_h(), s.tile);
  const std::int64_t half_l2 = (limits.l2_bytes > 0 ? limits.l2_bytes : 1 << 20) / 2;
  s.mr = 8;
  while (s.rows > 1 && scratch_bytes(conv, s) > half_l2) s.rows = ceil_div(s.rows, 2);
  s.nv = std::min<std::int64_t>(2, winograd_tiles(conv, s).room / s.lanes);
  s.mr = std::min<std::int64_t>(conv.k, (registers - s.nv - 1) / s.nv);
  s.mr = std::min<std::int64_t>(s.mr, 12);
  while (s.panels * s.mr < conv.k) {
    s.panels *= 2;
    if (scratch_bytes(conv, s) <= half_l2) continue;
    s.panels /= 2;
    break;
  }
  return cpu::nearest_config(
      space, {s.tile, s.threads, s.split, s.lanes, s.mr, s.nv, s.rows, s.panels, s.panels > 1 ? 1 : 0});
}

}  // namespace lehr
