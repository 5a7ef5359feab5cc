#include "templates/conv2d_oc_cpu_space.h"

#include <algorithm>

#include "templates/conv_view.h"
#include "templates/cpu_common.h"

namespace lehr {
namespace {

using cpu::ceil_div;

using Values = std::vector<std::int64_t>;

/// More than a share of any last-level cache only costs bandwidth.
constexpr std::int64_t kMaxScratchBytes = 16LL << 20;

const Values& line_steps() {
  static const Values steps = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 56, 112};
  return steps;
}
const Values& channel_steps() {
  static const Values steps = {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
  return steps;
}

/// Lines above and below the image are left out, pixels beside it are not.
bool needs_copy(const Conv2d& conv) {
  return conv.pad_left > 0 || (conv.out_w() - 1) * conv.stride_w + (conv.s - 1) * conv.dilation_w >= conv.w;
}
/// Of a task, where `tasks` share the lines.
std::int64_t most_lines(const Conv2d& conv, std::int64_t tasks, std::int64_t window) {
  return ceil_div(conv.out_h() / window, tasks) * window;
}
/// Lines of a block of any of so many: whole windows.
Values line_values(Values lines, std::int64_t window) {
  for (std::int64_t& count : lines) count /= window;
  Values values = cpu::up_to_any(lines, line_steps());
  for (std::int64_t& value : values) value *= window;
  return values;
}
std::int64_t kept_step(std::int64_t taps, std::int64_t stride, std::int64_t dilation) {
  return taps == 1 || dilation % stride == 0 ? stride : 1;
}

std::int64_t scratch_bytes(const Conv2d& conv, const Conv2dOcSchedule& s, std::int64_t window) {
  const Conv2dOcShape shape = conv2d_oc_shape(conv, s, window);
  return 4 * (shape.copy_elements + 2 * shape.sums_elements);
}

}  // namespace

Conv2dOcSchedule conv2d_oc_schedule(const Config& config) {
  KnobReader knobs(config);
  return {knobs.at("threads"), knobs.at("split"),   knobs.at("lanes"), knobs.at("mr"),
          knobs.at("nv"),      knobs.at("lines"),   knobs.at("cc"),    knobs.at("copy"),
          knobs.at("taps"),    knobs.at("prefetch")};
}

Conv2dOcShape conv2d_oc_shape(const Conv2d& conv, const Conv2dOcSchedule& s, std::int64_t window) {
  Conv2dOcShape shape;
  shape.window = window;
  shape.channels = conv.c / conv.groups, shape.filters = conv.k / conv.groups;
  shape.nr = s.nv * s.lanes;
  shape.panels = ceil_div(shape.filters, shape.nr);
  shape.owned_panels = s.split == 1 ? ceil_div(shape.panels, s.threads) : shape.panels;
  shape.owned_lines = s.split == 0 ? most_lines(conv, s.threads, window) : conv.out_h();
  shape.lines = std::min(s.lines, shape.owned_lines);
  shape.cc = std::min(s.cc, shape.channels);
  if (s.copy == 1) {
    shape.step_h = kept_step(conv.r, conv.stride_h, conv.dilation_h);
    shape.step_w = kept_step(conv.s, conv.stride_w, conv.dilation_w);
  }
  shape.lines_in = ((shape.lines - 1) * conv.stride_h + (conv.r - 1) * conv.dilation_h) / shape.step_h + 1;
  shape.width_in = ((conv.out_w() - 1) * conv.stride_w + (conv.s - 1) * conv.dilation_w) / shape.step_w + 1;
  shape.copy_elements = s.copy == 1 ? shape.lines_in * shape.width_in * shape.channels : 0;
  shape.sums_elements = conv.layout == ImageLayout::kNchw || window > 1 ? shape.lines * conv.out_w() * shape.nr : 0;
  return shape;
}

FamilySpace conv2d_oc_cpu_space(const Workload& workload, const Limits& limits) {
  const Conv2d conv = cpu::conv_view(workload).conv;
  const std::int64_t window = window_of(workload.epilogue);
  const std::int64_t channels = conv.c / conv.groups, filters = conv.k / conv.groups;
  const std::int64_t narrowest = cpu::lane_counts(limits).front();
  FamilySpace space("conv2d_oc_cpu");
  const cpu::ThreadKnobs shared =
      cpu::add_thread_knobs(space, limits, conv.n > 1, "0 lines, 1 output channels, 2 images");
  const KnobId threads = shared.threads, split = shared.split, lanes = shared.lanes;
  Values vectors;
  for (const std::int64_t count : {1, 2, 3, 4, 5, 6})
    if (count == 1 || (count - 1) * narrowest < filters) vectors.push_back(count);
  const KnobId mr = space.add("mr", "pixels of a line in registers", cpu::register_rows(conv.out_w()));
  const KnobId nv = space.add("nv", "vectors of output channels in registers", vectors);
  const KnobId lines = space.add_dependent(
      "lines", "output lines of one block; the last value covers all",
      line_values({conv.out_h(), most_lines(conv, limits.cores, window)}, window), [=](const Point& x) {
        const bool shares = x[threads] > 1 && x[split] == 0;
        return line_values({shares ? most_lines(conv, x[threads], window) : conv.out_h()}, window);
      });
  const KnobId cc = space.add("cc", "input channels of one block; the last value covers all",
                              cpu::up_to(channels, channel_steps()));
  const KnobId copy = space.add("copy", "input: 0 read where it is, 1 a block's lines are copied",
                                needs_copy(conv) ? Values{1} : Values{0, 1});
  const KnobId taps = space.add("taps", "innermost loop: 0 channels, 1 a filter's line, unrolled",
                                conv.s == 1 ? Values{0} : Values{0, 1});
  const KnobId prefetch = space.add("prefetch", "filters: 0 nothing, 1 the next block", {0, 1});

  space.require("needs more vector registers than there are", {mr, nv},
                [=](const Point& x) { return cpu::fits_registers(x[mr], x[nv], limits); });
  // Fewer accumulators than the multiply-add's latency x throughput (8 to 10) cannot keep the units busy.
  space.require(
      "too few accumulators to hide the latency of a multiply-add", {lanes, mr, nv}, [=](const Point& x) {
        const std::int64_t most =
            std::min<std::int64_t>(conv.out_w(), 28) * std::min<std::int64_t>(ceil_div(filters, x[lanes]), 6);
        return x[mr] * x[nv] >= std::min<std::int64_t>(6, most);
      });
  space.require("a panel is wider than a group's output channels", {lanes, nv},
                [=](const Point& x) { return x[nv] == 1 || (x[nv] - 1) * x[lanes] < filters; });
  space.require("more threads than lines, panels or images", {threads, split, lanes, nv},
                [=](const Point& x) {
                  if (x[threads] == 1) return true;
                  const std::int64_t panels = ceil_div(filters, x[nv] * x[lanes]);
                  return (x[split] == 0 ? conv.out_h() / window : x[split] == 1 ? panels : conv.n) >= x[threads];
                });
  space.require("its copies of the input and of the output are too large", {lanes, nv, lines, copy},
                [=](const Point& x) {
                  Conv2dOcSchedule s;
                  s.lanes = x[lanes], s.nv = x[nv], s.lines = x[lines], s.copy = x[copy];
                  return x[lines] == window || scratch_bytes(conv, s, window) <= kMaxScratchBytes;
                });
  // The compiler keeps a broadcast pixel for the next tap that reads it.
  space.require(
      "a line's taps need more vector registers than there are", {mr, nv, taps},
      [=](const Point& x) { return x[taps] == 0 || cpu::fits_registers(x[mr], x[nv] + 1, limits); });
  space.require("no block of filters comes after the first", {lanes, nv, cc, prefetch}, [=](const Point& x) {
    return x[prefetch] == 0 || x[cc] < channels || x[nv] * x[lanes] < filters;
  });
  return space;
}

// Copies of input and output stay in half of L2, that of the output alone in L1, and a block of filters in
// half of L1. Threads share what is larger, so that the smaller one is what they all read.
Config conv2d_oc_cpu_default(const Workload& workload, const Limits& limits) {
  const Conv2d conv = cpu::conv_view(workload).conv;
  const std::int64_t window = window_of(workload.epilogue);
  const FamilySpace space = conv2d_oc_cpu_space(workload, limits);
  Conv2dOcSchedule s;
  s.threads = cpu::default_threads(workload, limits);
  s.lanes = cpu::lane_counts(limits).back();
  const std::int64_t filters = conv.k / conv.groups, channels = conv.c / conv.groups;
  if (filters <= s.lanes / 2) s.lanes = cpu::lane_counts(limits).front();
  s.taps = conv.s > 1 && limits.vector_registers >= 32 ? 1 : 0;
  const cpu::Tiling tiling = cpu::fastest_tiling(conv.out_w(), filters, s.lanes, s.taps, limits);
  s.mr = tiling.rows, s.nv = tiling.vectors;
  const bool lines_first = conv.h * conv.w * conv.c >= conv.k * conv.products();
  s.split = lines_first || filters < 2 * s.nv * s.lanes * limits.cores ? 0 : 1;
  const std::int64_t half_l1 = (limits.l1_bytes > 0 ? limits.l1_bytes : 32 << 10) / 2;
  const std::int64_t half_l2 = (limits.l2_bytes > 0 ? limits.l2_bytes : 1 << 20) / 2;
  s.cc = channels;
  while (s.cc > 4 && 4 * s.cc * conv.r * conv.s * s.nv * s.lanes > half_l1) s.cc = ceil_div(s.cc, 2);
  s.copy = needs_copy(conv) || kept_step(conv.s, conv.stride_w, conv.dilation_w) > 1 ? 1 : 0;
  s.prefetch = 1;
  s.lines = conv2d_oc_shape(conv, s, window).owned_lines;
  while (s.lines > window && scratch_bytes(conv, s, window) > (s.copy == 1 ? half_l2 : 2 * half_l1))
    s.lines = ceil_div(s.lines / window, 2) * window;
  return cpu::nearest_config(
      space, {s.threads, s.split, s.lanes, s.mr, s.nv, s.lines, s.cc, s.copy, s.taps, s.prefetch});
}

}  // namespace lehr
