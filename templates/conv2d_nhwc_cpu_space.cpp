#include "templates/conv2d_nhwc_cpu_space.h"

#include <algorithm>

#include "templates/cpu_common.h"

namespace lehr {
namespace {

using cpu::ceil_div;

using Values = std::vector<std::int64_t>;

/// More than a share of any last-level cache only costs bandwidth.
constexpr std::int64_t kMaxPanelBytes = 32LL << 20, kMaxCopyBytes = 16LL << 20;

const Values& line_steps() {
  static const Values steps = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 56, 112};
  return steps;
}
const Values& channel_steps() {
  static const Values steps = {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
  return steps;
}
}  // namespace

Conv2dNhwcSchedule conv2d_nhwc_schedule(const Config& config) {
  return {config.at("threads"), config.at("split"), config.at("lanes"), config.at("mr"),   config.at("nv"),
          config.at("lines"),   config.at("cc"),    config.at("nc"),    config.at("order")};
}

Conv2dNhwcShape conv2d_nhwc_shape(const Conv2d& conv, const Conv2dNhwcSchedule& s) {
  Conv2dNhwcShape shape;
  shape.channels = conv.c / conv.groups, shape.filters = conv.k / conv.groups;
  shape.nr = s.nv * s.lanes;
  shape.filter_tiles = ceil_div(shape.filters, shape.nr);
  shape.owned_tiles = s.split == 1 ? ceil_div(shape.filter_tiles, s.threads) : shape.filter_tiles;
  shape.owned_lines = s.split == 0 ? ceil_div(conv.out_h(), s.threads) : conv.out_h();
  shape.lines = std::min(s.lines, shape.owned_lines);
  shape.cc = std::min(s.cc, shape.channels);
  shape.nc = std::min(s.nc, shape.owned_tiles);
  shape.lines_in = (shape.lines - 1) * conv.stride_h + (conv.r - 1) * conv.dilation_h + 1;
  shape.width_in = (conv.out_w() - 1) * conv.stride_w + (conv.s - 1) * conv.dilation_w + 1;
  shape.copies = conv.pad_top + conv.pad_bottom + conv.pad_left + conv.pad_right > 0;
  return shape;
}

FamilySpace conv2d_nhwc_cpu_space(const Workload& workload, const Limits& limits) {
  const Conv2d conv = workload.conv2d();
  const std::int64_t channels = conv.c / conv.groups, filters = conv.k / conv.groups;
  const std::int64_t narrowest = cpu::lane_counts(limits).front();
  FamilySpace space("conv2d_nhwc_cpu");
  const cpu::ThreadKnobs shared =
      cpu::add_thread_knobs(space, limits, conv.n > 1, "0 lines, 1 output channels, 2 images");
  const KnobId threads = shared.threads, split = shared.split, lanes = shared.lanes;
  Values vectors;
  for (const std::int64_t count : {1, 2, 3, 4, 5, 6})
    if (count == 1 || (count - 1) * narrowest < filters) vectors.push_back(count);
  const KnobId mr = space.add("mr", "pixels of a line in registers", cpu::register_rows(conv.out_w()));
  const KnobId nv = space.add("nv", "vectors of output channels in registers", vectors);
  const KnobId lines = space.add_dependent(
      "lines", "output lines of one block; the last value covers all", cpu::up_to(conv.out_h(), line_steps()),
      [=](const Point& x) {
        const bool shares = x[threads] > 1 && x[split] == 0;
        return cpu::up_to(shares ? ceil_div(conv.out_h(), x[threads]) : conv.out_h(), line_steps());
      });
  const KnobId cc = space.add("cc", "input channels of one block; the last value covers all",
                              cpu::up_to(channels, channel_steps()));
  const KnobId nc = space.add_dependent(
      "nc", "tiles of output channels of one block; the last value covers all",
      cpu::powers_up_to(ceil_div(filters, narrowest)), [=](const Point& x) {
        const std::int64_t tiles = ceil_div(filters, x[nv] * x[lanes]);
        return cpu::powers_up_to(x[threads] > 1 && x[split] == 1 ? ceil_div(tiles, x[threads]) : tiles);
      });
  const KnobId order = space.add("order", "outer loop inside a block: 0 output channels, 1 pixels",
                                 filters <= narrowest ? Values{0} : Values{0, 1});

  space.require("needs more vector registers than there are", {mr, nv},
                [=](const Point& x) { return cpu::fits_registers(x[mr], x[nv], limits); });
  // Fewer accumulators than the multiply-add's latency x throughput (8 to 10) cannot keep the units busy.
  space.require(
      "too few accumulators to hide the latency of a multiply-add", {lanes, mr, nv}, [=](const Point& x) {
        const std::int64_t most =
            std::min<std::int64_t>(conv.out_w(), 28) * std::min<std::int64_t>(ceil_div(filters, x[lanes]), 6);
        return x[mr] * x[nv] >= std::min<std::int64_t>(6, most);
      });
  space.require("a tile is wider than a group's output channels", {lanes, nv},
                [=](const Point& x) { return x[nv] == 1 || (x[nv] - 1) * x[lanes] < filters; });
  space.require("more threads than lines, channel tiles or images", {threads, split, lanes, nv},
                [=](const Point& x) {
                  if (x[threads] == 1) return true;
                  const std::int64_t tiles = ceil_div(filters, x[nv] * x[lanes]);
                  return (x[split] == 0 ? conv.out_h() : x[split] == 1 ? tiles : conv.n) >= x[threads];
                });
  space.require("its copy of the input is too large", {threads, split, lines, cc}, [=](const Point& x) {
    Conv2dNhwcSchedule s;
    s.threads = x[threads], s.split = x[split], s.lines = x[lines], s.cc = x[cc];
    const bool least = x[lines] == 1 && x[cc] == channel_steps().front();
    return least || 4 * conv2d_nhwc_shape(conv, s).copy_elements() <= kMaxCopyBytes;
  });
  space.require("its copy of the filter is too large", {threads, split, lanes, nv, cc, nc},
                [=](const Point& x) {
                  Conv2dNhwcSchedule s;
                  s.threads = x[threads], s.split = x[split], s.lanes = x[lanes], s.nv = x[nv];
                  s.cc = x[cc], s.nc = x[nc];
                  const bool least = x[nc] == 1 && x[cc] == channel_steps().front();
                  return least || 4 * conv2d_nhwc_shape(conv, s).panel_elements(conv) <= kMaxPanelBytes;
                });
  space.require("the order of one loop has no meaning", {nc, order},
                [=](const Point& x) { return x[order] == 0 || x[nc] > 1; });
  return space;
}

// A step of a tile of m pixels costs its multiply-adds or its loads (two a cycle), but not less than the
// multiply-add's latency, and the loop's own half cycle; the tiling that covers a line in the least time is
// taken. The copy of the input stays in half of L2, that of the filter in a quarter. Threads share what is
// larger, so that the smaller one is what they all prepare.
Config conv2d_nhwc_cpu_default(const Workload& workload, const Limits& limits) {
  const Conv2d& conv = workload.conv2d();
  const FamilySpace space = conv2d_nhwc_cpu_space(workload, limits);
  Conv2dNhwcSchedule s;
  s.threads = limits.cores;
  s.lanes = cpu::lane_counts(limits).back();
  const std::int64_t filters = conv.k / conv.groups, channels = conv.c / conv.groups;
  if (filters <= s.lanes / 2) s.lanes = cpu::lane_counts(limits).front();
  const auto half_cycles = [](std::int64_t m, std::int64_t nv) {
    return m == 0 ? 0 : std::max<std::int64_t>({m * nv, m + nv, 8}) + 1;
  };
  std::int64_t least = 0;
  for (const std::int64_t nv : {1, 2, 3, 4}) {
    if (nv > 1 && (nv - 1) * s.lanes >= filters) continue;
    for (const std::int64_t mr : cpu::register_rows(conv.out_w())) {
      if (!cpu::fits_registers(mr, nv, limits)) continue;
      const std::int64_t line = conv.out_w() / mr * half_cycles(mr, nv) + half_cycles(conv.out_w() % mr, nv);
      const std::int64_t cost = line * ceil_div(filters, nv * s.lanes);
      if (least == 0 || cost < least) least = cost, s.mr = mr, s.nv = nv;
    }
  }
  const bool lines_first = conv.h * conv.w * conv.c >= conv.k * conv.products();
  s.split = lines_first || filters < 2 * s.nv * s.lanes * limits.cores ? 0 : 1;
  s.cc = channels;
  s.nc = ceil_div(filters, s.nv * s.lanes);
  const std::int64_t half_l2 = (limits.l2_bytes > 0 ? limits.l2_bytes : 1 << 20) / 2;
  while (s.nc > 1 && 4 * conv2d_nhwc_shape(conv, s).panel_elements(conv) > half_l2 / 2)
    s.nc = ceil_div(s.nc, 2);
  s.lines = conv2d_nhwc_shape(conv, {s.threads, s.split}).owned_lines;
  while (s.lines > 1 && 4 * conv2d_nhwc_shape(conv, s).copy_elements() > half_l2)
    s.lines = ceil_div(s.lines, 2);
  return cpu::nearest_config(space, {s.threads, s.split, s.lanes, s.mr, s.nv, s.lines, s.cc, s.nc, s.order});
}

}  // namespace lehr
