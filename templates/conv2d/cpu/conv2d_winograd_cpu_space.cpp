#include "templates/conv2d/cpu/conv2d_winograd_cpu_space.h"

#include <algorithm>

#include "templates/shared/cpu_common.h"
#include "templates/shared/winograd.h"

namespace lehr {
namespace {

using Values = std::vector<std::int64_t>;

/// Maximum number of bytes of the transformed inputs and products of one work item. A kernel that exceeds the
/// L2 cache by far cannot be the fastest.
constexpr std::int64_t kMaxScratchBytes = 16LL << 20;

const Values& row_steps() {
  static const Values steps = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64};
  return steps;
}

/// Returns the tile sizes that hold whole windows of a pool.
Values whole_windows(std::int64_t window) {
  return window <= 2 ? Values{2, 4} : Values{4};
}

std::int64_t scratch_bytes(const Conv2d& conv, const WinogradCpuSchedule& s) {
  const WinogradCpuShape shape = winograd_cpu_shape(conv, s);
  return 4 * winograd(s.tile).products() * shape.tiles() * (shape.channels + shape.block_panels * shape.nr);
}

using S = WinogradCpuSchedule;

void tile_knobs(Knobs<S>& k, const Conv2d& conv, const Limits& limits) {
  k.knob(&S::mr, "mr", "tiles in registers",
         cpu::register_rows(ceil_div(conv.out_h(), 2) * ceil_div(conv.out_w(), 2)));
  k.knob(&S::nv, "nv", "vectors of output channels in registers",
         cpu::register_vectors(conv.k, limits, {1, 2, 3, 4, 5, 6}));
  k.forbid("needs more vector registers than there are",
           [=](const S& s) { return !cpu::fits_registers(s.mr, s.nv, limits); });
  k.forbid("more threads than rows of tiles, panels or images", [=](const S& s) {
    const std::int64_t work_items = s.split == 0   ? ceil_div(conv.out_h(), s.tile)
                                    : s.split == 1 ? ceil_div(conv.k, s.nv * s.lanes)
                                                   : conv.n;
    return s.threads > 1 && work_items < s.threads;
  });
  k.forbid("a panel is wider than the output channels",
           [=](const S& s) { return s.nv > 1 && (s.nv - 1) * s.lanes >= conv.k; });
}

}  // namespace

WinogradCpuShape winograd_cpu_shape(const Conv2d& conv, const WinogradCpuSchedule& s) {
  WinogradCpuShape shape;
  shape.rows = ceil_div(conv.out_h(), s.tile);
  shape.columns = ceil_div(conv.out_w(), s.tile);
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

void winograd_cpu_knobs(Knobs<WinogradCpuSchedule>& k, const Workload& workload, const Limits& limits) {
  const Conv2d conv = pooled_part(workload.conv2d(), workload.epilogue);
  const Values sizes = whole_windows(window_of(workload.epilogue));
  k.knob(&S::tile, "tile", "outputs of a tile along each side", sizes);
  cpu::thread_knobs(k, limits, conv.n > 1,
                    "what the threads share out: 0 rows of tiles, 1 output channels, 2 images");
  tile_knobs(k, conv, limits);
  Values call_rows;
  for (const std::int64_t size : sizes)
    for (const std::int64_t work_items : {std::int64_t{1}, std::int64_t{limits.cores}})
      call_rows.push_back(ceil_div(ceil_div(conv.out_h(), size), work_items));
  k.knob(&S::rows, "rows", "rows of tiles of one block; the last value covers all",
         cpu::up_to_any(call_rows, row_steps()));
  k.only(
      [=](const S& s) { return cpu::is_up_to(s.rows, winograd_cpu_shape(conv, s).owned_rows, row_steps()); });
  k.forbid("too few accumulators to hide the latency of a multiply-add", [=](const S& s) {
    const std::int64_t vectors = std::min<std::int64_t>(ceil_div(conv.k, s.lanes), 6);
    return cpu::too_few_accumulators(s.mr, s.nv, winograd_cpu_shape(conv, s).tiles(), vectors);
  });
  k.forbid("a micro-kernel has more tiles than a block",
           [=](const S& s) { return s.mr > winograd_cpu_shape(conv, s).tiles(); });
  k.knob(&S::panels, "panels", "panels of output channels of one block; the last value covers all",
         cpu::powers_up_to(ceil_div(conv.k, cpu::lane_counts(limits).front())));
  k.only([=](const S& s) { return cpu::is_power_up_to(s.panels, winograd_cpu_shape(conv, s).owned_panels); });
  k.forbid("its transformed inputs and products are too large", [=](const S& s) {
    return (s.rows > 1 || s.panels > 1) && scratch_bytes(conv, s) > kMaxScratchBytes;
  });
  k.knob(&S::order, "order", "outer loop of a product: 0 tiles, 1 panels", {0, 1});
  k.forbid("the order of one loop has no meaning", [](const S& s) { return s.order == 1 && s.panels == 1; });
  k.knob(&S::prefetch, "prefetch", "transformed filters: 0 nothing, 1 the next panel", {0, 1});
}

// Chooses the larger tile if the output has several of them. Then chooses the number of rows of tiles, and
// then that of panels, such that transformed inputs and products stay in half of L2 (in an eighth if the
// filters stay in L2, too). Then chooses the micro-kernel that covers a block's tiles in the least time.
// Threads divide the operand that all of them would read otherwise.
WinogradCpuSchedule winograd_cpu_wanted(const Workload& workload, const Limits& limits) {
  const Conv2d conv = pooled_part(workload.conv2d(), workload.epilogue);
  WinogradCpuSchedule s;
  s.tile = std::min(conv.out_h(), conv.out_w()) >= 12 ? 4 : 2;
  s.threads = cpu::default_threads(workload, limits);
  const std::int64_t half_l2 = (limits.l2_bytes > 0 ? limits.l2_bytes : 1 << 20) / 2;
  const bool filters_stay = 4 * winograd(s.tile).products() * conv.k * conv.c <= half_l2;
  s.split = filters_stay && ceil_div(conv.out_h(), s.tile) % limits.cores == 0 ? 0 : 1;
  s.lanes = cpu::lane_counts(limits).back();
  s.nv = 2;  // replaced once the blocks are chosen
  s.rows = winograd_cpu_shape(conv, s).owned_rows;
  const std::int64_t room = filters_stay ? half_l2 / 4 : half_l2;
  while (s.rows > 1 && scratch_bytes(conv, s) > room) s.rows = ceil_div(s.rows, 2);
  const cpu::Tiling tiling =
      cpu::fastest_tiling(winograd_cpu_shape(conv, s).tiles(), conv.k, s.lanes, 0, limits);
  s.mr = tiling.rows;
  s.nv = tiling.vectors;
  const std::int64_t all = winograd_cpu_shape(conv, s).owned_panels;
  while (s.panels < all) {
    s.panels *= 2;
    if (scratch_bytes(conv, s) <= room) continue;
    s.panels /= 2;
    break;
  }
  s.order = s.panels > 1 ? 1 : 0;
  s.prefetch = 1;
  return s;
}

}  // namespace lehr
