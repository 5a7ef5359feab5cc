#include "templates/conv2d_depthwise_cpu_space.h"

#include <algorithm>

#include "templates/conv_view.h"
#include "templates/cpu_common.h"

namespace lehr {
namespace {

using cpu::ceil_div;

using Values = std::vector<std::int64_t>;

/// Of a block's copy; more only costs bandwidth.
constexpr std::int64_t kMaxCopyBytes = 8LL << 20;
/// Multiply-adds of one tile that are written out; beyond, compiling takes longer than measuring.
constexpr std::int64_t kMaxUnrolled = 320;

bool is_nhwc(const Conv2d& conv) {
  return conv.layout == ImageLayout::kNhwc;
}

/// Vectors that cover an output line.
std::int64_t line_vectors(const Conv2d& conv, std::int64_t lanes) {
  return is_nhwc(conv) ? conv.out_w() : ceil_div(conv.out_w(), lanes);
}

std::int64_t registers(const Conv2d& conv, const DepthwiseCpuSchedule& s) {
  return s.rows * s.cols + std::min<std::int64_t>(s.cols, 4) + (s.hold != 0 ? conv.r * conv.s : 1);
}

}  // namespace

DepthwiseCpuSchedule depthwise_cpu_schedule(const Config& config) {
  KnobReader knobs(config);
  return {knobs.at("threads"), knobs.at("split"), knobs.at("lanes"), knobs.at("rows"), knobs.at("cols"),
          knobs.at("copy"),    knobs.at("block"), knobs.at("taps"),  knobs.at("hold")};
}

DepthwiseCpuShape depthwise_cpu_shape(const Conv2d& conv, const DepthwiseCpuSchedule& s) {
  DepthwiseCpuShape shape;
  shape.nhwc = is_nhwc(conv);
  shape.units = shape.nhwc ? ceil_div(conv.k, s.lanes) : conv.n * conv.k;
  shape.row_tiles = ceil_div(conv.out_h(), s.rows);
  shape.column_tiles = ceil_div(line_vectors(conv, s.lanes), s.cols);
  shape.owned = s.split == 1 ? ceil_div(shape.row_tiles, s.threads) : shape.row_tiles;
  shape.block = std::min(s.block, shape.owned);
  const std::int64_t reach_h = (conv.r - 1) * conv.dilation_h + 1;
  shape.tile_in = (s.rows - 1) * conv.stride_h + reach_h;
  shape.block_in = (shape.block * s.rows - 1) * conv.stride_h + reach_h;
  const std::int64_t reach_w = (conv.s - 1) * conv.dilation_w;
  if (shape.nhwc) {
    const std::int64_t read = (shape.column_tiles * s.cols - 1) * conv.stride_w + reach_w + 1;
    shape.pitch = std::max(read, conv.pad_left + conv.w) * s.lanes;
  } else {
    shape.phases = conv.stride_w;
    const std::int64_t read = shape.column_tiles * s.cols * s.lanes + reach_w / conv.stride_w;
    shape.pitch = std::max(read, ceil_div(conv.pad_left + conv.w, conv.stride_w));
  }
  return shape;
}

FamilySpace conv2d_depthwise_cpu_space(const Workload& workload, const Limits& limits) {
  const Conv2d conv = cpu::conv_view(workload).conv;
  const std::int64_t taps_count = conv.r * conv.s, narrowest = cpu::lane_counts(limits).front();
  const auto at_most = [](std::int64_t limit, const Values& values) {
    Values result;
    for (const std::int64_t value : values)
      if (value <= limit) result.push_back(value);
    return result;
  };
  FamilySpace space("conv2d_depthwise_cpu");
  const cpu::ThreadKnobs shared = cpu::add_thread_knobs(space, limits, false, "0 channels, 1 output lines");
  const KnobId threads = shared.threads, split = shared.split, lanes = shared.lanes;
  const KnobId rows =
      space.add("rows", "output lines of a tile", at_most(conv.out_h(), {1, 2, 3, 4, 5, 6, 7, 8}));
  const KnobId cols = space.add(
      "cols",
      is_nhwc(conv) ? "pixels of a tile along the line" : "vectors of pixels of a tile along the line",
      at_most(line_vectors(conv, narrowest), {1, 2, 3, 4, 5, 6, 7, 8, 10, 14}));
  const KnobId copy = space.add("copy", "input lines are copied to padded memory first",
                                is_nhwc(conv) ? Values{0, 1} : Values{1});
  const KnobId block = space.add_dependent(
      "block",
      "tiles of lines between two copies of the input, or two vectors of channels; the last value covers all",
      cpu::powers_up_to(conv.out_h()), [=](const Point& x) {
        const std::int64_t row_tiles = ceil_div(conv.out_h(), x[rows]);
        return cpu::powers_up_to(x[split] == 1 ? ceil_div(row_tiles, x[threads]) : row_tiles);
      });
  const KnobId taps = space.add(
      "taps", "0: loops over the filter, 1: written out, an input vector serves all lines that need it",
      taps_count <= kMaxUnrolled ? Values{0, 1} : Values{0});
  const KnobId hold = space.add("hold", "the filter stays in registers",
                                taps_count <= kMaxUnrolled ? Values{0, 1} : Values{0});

  space.require("needs more vector registers than there are", {rows, cols, hold}, [=](const Point& x) {
    DepthwiseCpuSchedule s = {1, 0, 1, x[rows], x[cols]};
    s.hold = x[hold];
    return registers(conv, s) <= std::max(limits.vector_registers, 16);
  });
  space.require("too much code", {rows, cols, taps}, [=](const Point& x) {
    return x[taps] == 0 || x[rows] * x[cols] * taps_count <= kMaxUnrolled;
  });
  space.require("a loop cannot index registers", {taps, hold},
                [=](const Point& x) { return x[hold] == 0 || x[taps] == 1; });
  // Guards of the margins are code beside the code of the inner tiles.
  space.require("too much code", {rows, cols, copy, taps}, [=](const Point& x) {
    return x[taps] == 0 || x[copy] == 1 || 2 * x[rows] * x[cols] * taps_count <= kMaxUnrolled;
  });
  space.require("a tile is wider than the line", {lanes, cols},
                [=](const Point& x) { return x[cols] <= line_vectors(conv, x[lanes]); });
  space.require(
      "more threads than channels or tiles of lines", {threads, split, lanes, rows}, [=](const Point& x) {
        if (x[threads] == 1) return true;
        const DepthwiseCpuShape shape = depthwise_cpu_shape(conv, {x[threads], x[split], x[lanes], x[rows]});
        return (x[split] == 0 ? shape.units : shape.row_tiles) >= x[threads];
      });
  space.require(
      "its copy of the input is too large", {threads, split, lanes, rows, cols, copy, block},
      [=](const Point& x) {
        const DepthwiseCpuSchedule s = {x[threads], x[split], x[lanes], x[rows], x[cols], x[copy], x[block]};
        const bool least = x[block] == 1 && x[rows] == 1;
        return least || x[copy] == 0 || 4 * depthwise_cpu_shape(conv, s).copy_elements() <= kMaxCopyBytes;
      });
  return space;
}

// A tile costs its multiply-adds or its loads, whatever is more (two a cycle, but a load that begins anywhere
// reaches over two cache lines half of the time), and its stores. The cheapest tiling of the whole map that
// the registers hold is taken, with a block whose copy stays in L1.
Config conv2d_depthwise_cpu_default(const Workload& workload, const Limits& limits) {
  const Conv2d conv = cpu::conv_view(workload).conv;
  const FamilySpace space = conv2d_depthwise_cpu_space(workload, limits);
  const std::int64_t available = std::max(limits.vector_registers, 16), taps = conv.r * conv.s;
  DepthwiseCpuSchedule s;
  s.threads = cpu::default_threads(workload, limits);
  s.lanes = cpu::lane_counts(limits).back();
  s.copy = is_nhwc(conv) ? 0 : 1;
  const std::int64_t along = is_nhwc(conv) ? conv.k : conv.out_w();
  if (along <= s.lanes / 2) s.lanes = cpu::lane_counts(limits).front();
  const double cost_of_load = is_nhwc(conv) ? 0.5 : 0.75;
  double least = 0;
  DepthwiseCpuSchedule best = s;
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8}) {
    for (const std::int64_t cols : {1, 2, 3, 4, 5, 6, 7, 8}) {
      s.rows = rows, s.cols = cols, s.hold = 1, s.taps = 1;
      if (registers(conv, s) > available) s.hold = 0;
      if (rows * cols * taps * (2 - s.copy) > kMaxUnrolled) s.taps = 0, s.hold = 0;
      if (registers(conv, s) > available || rows > conv.out_h() || cols > line_vectors(conv, s.lanes))
        continue;
      const DepthwiseCpuShape shape = depthwise_cpu_shape(conv, s);
      const double lines = static_cast<double>(std::min(shape.tile_in, rows * conv.r));
      const double loads =
          s.taps == 0 ? static_cast<double>(rows * cols * taps) : lines * static_cast<double>(conv.s * cols);
      const double weights = s.hold != 0 ? 0 : static_cast<double>(taps);
      const double products = static_cast<double>(rows * cols * taps);
      const double tile =
          std::max(products / 2, (loads + weights) * cost_of_load) + static_cast<double>(rows * cols) + 4;
      const double cost = tile * static_cast<double>(shape.row_tiles * shape.column_tiles);
      if (least == 0 || cost < least) least = cost, best = s;
    }
  }
  s = best;
  const DepthwiseCpuShape shape = depthwise_cpu_shape(conv, s);
  s.split = shape.units >= 4 * s.threads || shape.units % s.threads == 0 ? 0 : 1;
  const std::int64_t l1 = limits.l1_bytes > 0 ? limits.l1_bytes : 32 << 10;
  s.block = depthwise_cpu_shape(conv, s).owned;
  while (s.block > 1 && 4 * depthwise_cpu_shape(conv, s).copy_elements() > l1) s.block = ceil_div(s.block, 2);
  return cpu::nearest_config(space,
                             {s.threads, s.split, s.lanes, s.rows, s.cols, s.copy, s.block, s.taps, s.hold});
}

}  // namespace lehr
