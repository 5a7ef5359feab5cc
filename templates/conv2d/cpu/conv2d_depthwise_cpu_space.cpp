#include "templates/conv2d/cpu/conv2d_depthwise_cpu_space.h"

#include <algorithm>

#include "templates/shared/conv_view.h"
#include "templates/shared/cpu_common.h"

namespace lehr {
namespace {

using Values = std::vector<std::int64_t>;

/// Maximum number of bytes of a block's copy; larger copies only cost bandwidth.
constexpr std::int64_t kMaxCopyBytes = 8LL << 20;
/// Maximum number of multiply-adds of one tile that are unrolled. With more, compiling takes longer than
/// measuring.
constexpr std::int64_t kMaxUnrolled = 320;

const Values kColumns = {1, 2, 3, 4, 5, 6, 7, 8, 10, 14};

bool is_nhwc(const Conv2d& conv) {
  return conv.layout == ImageLayout::kNhwc;
}

/// Returns the number of vectors that cover an output line.
std::int64_t line_vectors(const Conv2d& conv, std::int64_t lanes) {
  return is_nhwc(conv) ? conv.out_w() : ceil_div(conv.out_w(), lanes);
}

Values at_most(std::int64_t limit, Values values) {
  std::erase_if(values, [=](std::int64_t value) { return value > limit; });
  return values;
}

std::int64_t dots_of_tile(const Conv2d& conv, const DepthwiseCpuSchedule& s) {
  return std::ssize(depthwise_quads(conv, s.rows)) * conv.s * s.cols;
}

std::int64_t registers(const Conv2d& conv, const DepthwiseCpuSchedule& s) {
  if (s.taps == 2) return s.rows * s.cols + 2;
  return s.rows * s.cols + std::min<std::int64_t>(s.cols, 4) + (s.hold != 0 ? conv.r * conv.s : 1);
}

/// Returns whether the processor can multiply four lines of 16 channels at once.
bool may_dot(const Conv2d& conv, const Limits& limits) {
  return is_integer(conv.input) && is_nhwc(conv) && limits.has(Ability::kInt8Dot) &&
         limits.vector_bytes == 64 && conv.r * conv.s <= kMaxUnrolled;
}

/// Returns the schedule with the cheapest tile. The cost is counted in dot products, one for each line and
/// column. Putting four lines side by side costs about four, and eight if L1 does not keep the lines for the
/// next channels. Turning sums into outputs costs eight.
DepthwiseCpuSchedule with_dots(const Conv2d& conv, DepthwiseCpuSchedule s, std::int64_t available,
                               std::int64_t l1) {
  s.taps = 2;
  s.copy = 0;
  s.hold = 0;
  DepthwiseCpuSchedule best = s;
  double least = 0;
  for (s.rows = 1; s.rows <= std::min<std::int64_t>(8, conv.out_h()); ++s.rows)
    for (const std::int64_t cols : at_most(conv.out_w(), kColumns)) {
      s.cols = cols;
      const std::int64_t dots = dots_of_tile(conv, s);
      if (registers(conv, s) > available || 2 * dots > kMaxUnrolled) continue;
      const DepthwiseCpuShape shape = depthwise_cpu_shape(conv, s);
      const std::int64_t columns = std::min((s.cols - 1) * conv.stride_w + conv.s, s.cols * conv.s);
      const std::int64_t of_quad = shape.tile_in * conv.w * conv.c <= l1 ? 4 : 8;
      const std::int64_t tile = dots + of_quad * ceil_div(shape.tile_in, 4) * columns + 8 * s.rows * s.cols;
      const auto cost = static_cast<double>(tile * shape.row_tiles * shape.column_tiles);
      if (least == 0 || cost < least) {
        least = cost;
        best = s;
      }
    }
  return best;
}

}  // namespace

std::int64_t DepthwiseQuad::tap(const Conv2d& conv, std::int64_t e) const {
  const std::int64_t below = first + e - row * conv.stride_h;
  const bool is_tap = below >= 0 && below % conv.dilation_h == 0 && below / conv.dilation_h < conv.r;
  return is_tap ? below / conv.dilation_h : -1;
}

std::vector<DepthwiseQuad> depthwise_quads(const Conv2d& conv, std::int64_t rows) {
  std::vector<DepthwiseQuad> quads;
  const std::int64_t lines = (rows - 1) * conv.stride_h + (conv.r - 1) * conv.dilation_h + 1;
  for (std::int64_t first = 0; first < lines; first += 4)
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t e = 0; e < 4; ++e)
        if (const DepthwiseQuad quad = {first, row}; quad.tap(conv, e) >= 0) {
          quads.push_back(quad);
          break;
        }
  return quads;
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

void depthwise_cpu_knobs(Knobs<DepthwiseCpuSchedule>& k, const Workload& workload, const Limits& limits) {
  using S = DepthwiseCpuSchedule;
  const Conv2d conv = cpu::conv_view(workload).conv;
  const std::int64_t taps = conv.r * conv.s;
  const bool nhwc = is_nhwc(conv), may_unroll = taps <= kMaxUnrolled;
  cpu::thread_knobs(k, limits, false, "what the threads share out: 0 channels, 1 output lines");
  k.knob(&S::rows, "rows", "output lines of a tile", at_most(conv.out_h(), {1, 2, 3, 4, 5, 6, 7, 8}));
  k.forbid("more threads than channels or tiles of lines", [=](const S& s) {
    const DepthwiseCpuShape shape = depthwise_cpu_shape(conv, s);
    return s.threads > 1 && (s.split == 0 ? shape.units : shape.row_tiles) < s.threads;
  });
  k.knob(&S::cols, "cols",
         nhwc ? "pixels of a tile along the line" : "vectors of pixels of a tile along the line",
         at_most(line_vectors(conv, cpu::lane_counts(limits).front()), kColumns));
  k.forbid("a tile is wider than the line", [=](const S& s) { return s.cols > line_vectors(conv, s.lanes); });
  k.knob(&S::copy, "copy", "input lines are copied to padded memory first", nhwc ? Values{0, 1} : Values{1});
  k.knob(
      &S::block, "block",
      "tiles of lines between two copies of the input, or two vectors of channels; the last value covers all",
      cpu::powers_up_to(conv.out_h()));
  k.only([=](const S& s) { return cpu::is_power_up_to(s.block, depthwise_cpu_shape(conv, s).owned); });
  k.forbid("its copy of the input is too large", [=](const S& s) {
    const bool least = s.block == 1 && s.rows == 1;
    return !least && s.copy == 1 && 4 * depthwise_cpu_shape(conv, s).copy_elements() > kMaxCopyBytes;
  });
  const bool dots = may_dot(conv, limits);
  k.knob(&S::taps, "taps",
         dots ? "0: loops over the filter, 1: written out, an input vector serves all lines that need it, 2: "
                "four "
                "lines of 16 channels at once"
              : "0: loops over the filter, 1: written out, an input vector serves all lines that need it",
         dots         ? Values{0, 1, 2}
         : may_unroll ? Values{0, 1}
                      : Values{0});
  k.only([](const S& s) { return s.taps != 2 || (s.lanes == 16 && s.copy == 0); });
  // The guarded copies for the margins are code in addition to that of the inner tiles.
  k.forbid("too much code", [=](const S& s) {
    return s.taps == 1 ? s.rows * s.cols * taps * (s.copy == 1 ? 1 : 2) > kMaxUnrolled
                       : s.taps == 2 && 2 * dots_of_tile(conv, s) > kMaxUnrolled;
  });
  k.knob(&S::hold, "hold", "the filter stays in registers", may_unroll ? Values{0, 1} : Values{0});
  k.forbid("needs more vector registers than there are",
           [=](const S& s) { return registers(conv, s) > std::max(limits.vector_registers, 16); });
  k.forbid("a loop cannot index registers", [](const S& s) { return s.hold == 1 && s.taps != 1; });
}

// Chooses the cheapest tiling of the whole image that fits into the registers, with a block whose copy stays
// in L1. A tile takes the time of its multiply-adds or that of its loads, whichever is longer, plus that of
// its stores. There are two loads per cycle, but half of the unaligned loads span two cache lines.
DepthwiseCpuSchedule depthwise_cpu_wanted(const Workload& workload, const Limits& limits) {
  const Conv2d conv = cpu::conv_view(workload).conv;
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
      s.rows = rows;
      s.cols = cols;
      s.hold = 1;
      s.taps = 1;
      if (registers(conv, s) > available) s.hold = 0;
      if (rows * cols * taps * (2 - s.copy) > kMaxUnrolled) {
        s.taps = 0;
        s.hold = 0;
      }
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
      if (least == 0 || cost < least) {
        least = cost;
        best = s;
      }
    }
  }
  const std::int64_t l1 = limits.l1_bytes > 0 ? limits.l1_bytes : 32 << 10;
  s = may_dot(conv, limits) && s.lanes == 16 ? with_dots(conv, s, available, l1) : best;
  const DepthwiseCpuShape shape = depthwise_cpu_shape(conv, s);
  s.split = shape.units >= 4 * s.threads || shape.units % s.threads == 0 ? 0 : 1;
  s.block = depthwise_cpu_shape(conv, s).owned;
  const std::int64_t size = s.taps == 2 ? 1 : 4;
  while (s.block > 1 && size * depthwise_cpu_shape(conv, s).copy_elements() > l1)
    s.block = ceil_div(s.block, 2);
  return s;
}

}  // namespace lehr
