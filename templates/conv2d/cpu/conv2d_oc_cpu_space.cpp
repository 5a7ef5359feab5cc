#include "templates/conv2d/cpu/conv2d_oc_cpu_space.h"

#include <algorithm>

#include "templates/shared/conv_view.h"
#include "templates/shared/cpu_common.h"

namespace lehr {
namespace {

using Values = std::vector<std::int64_t>;

/// Maximum number of bytes. More than a work item's share of any last-level cache only costs bandwidth.
constexpr std::int64_t kMaxScratchBytes = 16LL << 20;
/// Maximum number of multiply-adds of vectors for which a line of the filter is unrolled. GCC 12 compiles 320
/// in 1 s, and 3 600 (a line of 128 taps) in 12 s.
constexpr std::int64_t kMaxUnrolled = 320;

const Values& line_steps() {
  static const Values steps = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 56, 112};
  return steps;
}
const Values& channel_steps() {
  static const Values steps = {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
  return steps;
}

/// Returns whether the input must be copied. Taps above and below the image can be skipped, but those to the
/// left and right of it cannot.
bool needs_copy(const Conv2d& conv) {
  return conv.pad_left > 0 || (conv.out_w() - 1) * conv.stride_w + (conv.s - 1) * conv.dilation_w >= conv.w;
}
/// Returns the maximum number of lines of a work item if `work_items` divide the lines.
std::int64_t most_lines(const Conv2d& conv, std::int64_t work_items, const PoolWindows& windows) {
  return ceil_div(windows.over(conv.out_h()), work_items) * windows.stride;
}
/// Returns the possible values of "lines" for work items with any of `lines` lines: multiples of the stride.
Values line_values(Values lines, std::int64_t stride) {
  for (std::int64_t& count : lines) count /= stride;
  Values values = cpu::up_to_any(lines, line_steps());
  for (std::int64_t& value : values) value *= stride;
  return values;
}
std::int64_t kept_step(std::int64_t taps, std::int64_t stride, std::int64_t dilation) {
  return taps == 1 || dilation % stride == 0 ? stride : 1;
}

std::int64_t scratch_bytes(const Conv2d& conv, const Conv2dOcSchedule& s, const PoolWindows& windows,
                           const cpu::DotForm& form) {
  const Conv2dOcShape shape = conv2d_oc_shape(conv, s, windows, form);
  return size_of(form.first_panel) * shape.copy_elements + 8 * shape.sums_elements;
}

/// Returns the possible blocks of channels. Between blocks the sums of an nhwc image are stored in y, unless
/// they have another type.
Values channel_blocks(const Workload& workload, std::int64_t channels, const cpu::DotForm& form) {
  const Conv2d conv = cpu::conv_view(workload).conv;
  const bool waits = conv.layout == ImageLayout::kNchw || window_of(workload.epilogue) > 1;
  Values values = cpu::up_to(channels, channel_steps());
  return waits || conv.output == form.sums ? values : Values{values.back()};
}

using S = Conv2dOcSchedule;

void tile_knobs(Knobs<S>& k, const Conv2d& conv, const PoolWindows& windows, const cpu::DotForm& form,
                const Limits& limits) {
  const std::int64_t filters = conv.k / conv.groups, width = conv.out_w();
  k.knob(&S::mr, "mr", "pixels of a line in registers", cpu::register_rows(width));
  k.knob(&S::nv, "nv", "vectors of output channels in registers",
         cpu::register_vectors(filters, limits, {1, 2, 3, 4, 5, 6}));
  k.forbid("needs more vector registers than there are",
           [=, &form](const S& s) { return !cpu::fits_registers(s.mr, s.nv, limits, form); });
  k.forbid("too few accumulators to hide the latency of a multiply-add", [=](const S& s) {
    const std::int64_t vectors = std::min<std::int64_t>(ceil_div(filters, s.lanes), 6);
    return cpu::too_few_accumulators(s.mr, s.nv, width, vectors);
  });
  k.forbid("a panel is wider than a group's output channels",
           [=](const S& s) { return s.nv > 1 && (s.nv - 1) * s.lanes >= filters; });
  const std::int64_t lines = windows.over(conv.out_h()), images = conv.n;
  k.forbid("more threads than lines, panels or images", [=](const S& s) {
    const std::int64_t panels = ceil_div(filters, s.nv * s.lanes);
    return s.threads > 1 && (s.split == 0 ? lines : s.split == 1 ? panels : images) < s.threads;
  });
}

}  // namespace

Conv2dOcShape conv2d_oc_shape(const Conv2d& conv, const Conv2dOcSchedule& s, const PoolWindows& windows,
                              const cpu::DotForm& form) {
  Conv2dOcShape shape;
  shape.group = form.group;
  shape.channels = form.groups(conv.c / conv.groups);
  shape.filters = conv.k / conv.groups;
  shape.nr = s.nv * s.lanes;
  shape.panels = ceil_div(shape.filters, shape.nr);
  shape.owned_panels = s.split == 1 ? ceil_div(shape.panels, s.threads) : shape.panels;
  shape.owned_lines = most_lines(conv, s.split == 0 ? s.threads : 1, windows);
  shape.lines = std::min(s.lines, shape.owned_lines);
  shape.rows = std::min(shape.lines + (windows.window - windows.stride), conv.out_h());
  shape.cc = std::min(s.cc, shape.channels);
  if (s.copy == 1) {
    shape.step_h = kept_step(conv.r, conv.stride_h, conv.dilation_h);
    shape.step_w = kept_step(conv.s, conv.stride_w, conv.dilation_w);
  }
  shape.lines_in = ((shape.rows - 1) * conv.stride_h + (conv.r - 1) * conv.dilation_h) / shape.step_h + 1;
  shape.width_in = ((conv.out_w() - 1) * conv.stride_w + (conv.s - 1) * conv.dilation_w) / shape.step_w + 1;
  shape.copy_elements = s.copy == 1 ? shape.lines_in * shape.width_in * shape.channels * form.group : 0;
  const bool is_nchw = conv.layout == ImageLayout::kNchw;
  if (is_nchw || windows.window > 1) shape.sums_elements = shape.rows * conv.out_w() * shape.nr;
  if (is_nchw && windows.window > 1 && (!windows.are_apart() || form.sums != DType::kF32))
    shape.pooled_elements = shape.lines / windows.stride * windows.over(conv.out_w()) * shape.nr;
  return shape;
}

void conv2d_oc_knobs(Knobs<Conv2dOcSchedule>& k, const Workload& workload, const Limits& limits) {
  const Conv2d conv = cpu::conv_view(workload).conv;
  const PoolWindows windows = windows_of(workload.epilogue);
  const cpu::DotForm& form = *cpu::dot_form(workload, limits);
  const std::int64_t stride = windows.stride, channels = form.groups(conv.c / conv.groups);
  cpu::thread_knobs(k, limits, conv.n > 1,
                    "what the threads share out: 0 lines, 1 output channels, 2 images");
  tile_knobs(k, conv, windows, form, limits);
  k.knob(&S::lines, "lines", "output lines of one block; the last value covers all",
         line_values({most_lines(conv, 1, windows), most_lines(conv, limits.cores, windows)}, stride));
  k.only([=](const S& s) {
    const std::int64_t most = most_lines(conv, s.split == 0 ? s.threads : 1, windows);
    return cpu::is_up_to(s.lines / stride, most / stride, line_steps());
  });
  k.knob(&S::cc, "cc", "input channels of one block; the last value covers all",
         channel_blocks(workload, channels, form));
  k.knob(&S::copy, "copy", "input: 0 read where it is, 1 a block's lines are copied",
         needs_copy(conv) || !form.is_plain() ? Values{1} : Values{0, 1});
  k.forbid("its copies of the input and of the output are too large", [=, &form](S s) {
    // As if one work item had all lines.
    s.threads = 1;
    s.split = 0;
    return s.lines > stride && scratch_bytes(conv, s, windows, form) > kMaxScratchBytes;
  });
  k.knob(&S::taps, "taps", "innermost loop: 0 channels, 1 a filter's line, unrolled",
         conv.s == 1 ? Values{0} : Values{0, 1});
  k.forbid("too much code", [=](const S& s) { return s.taps == 1 && s.mr * s.nv * conv.s > kMaxUnrolled; });
  // The compiler keeps a broadcast pixel in a register for the next tap that reads it.
  k.forbid("a line's taps need more vector registers than there are", [=, &form](const S& s) {
    return s.taps == 1 && !cpu::fits_registers(s.mr, s.nv + 1, limits, form);
  });
  k.knob(&S::prefetch, "prefetch", "filters: 0 nothing, 1 the next block", {0, 1});
  k.forbid("no block of filters comes after the first", [=](const S& s) {
    return s.prefetch == 1 && s.cc >= channels && s.nv * s.lanes >= conv.k / conv.groups;
  });
}

// Chooses blocks such that the copy of the input and the output stay in half of L2, the output alone in L1,
// and a block of filters in half of L1. Threads divide the larger operand, so that all of them read the
// smaller one.
Conv2dOcSchedule conv2d_oc_wanted(const Workload& workload, const Limits& limits) {
  const Conv2d conv = cpu::conv_view(workload).conv;
  const PoolWindows windows = windows_of(workload.epilogue);
  Conv2dOcSchedule s;
  s.threads = cpu::default_threads(workload, limits);
  s.lanes = cpu::lane_counts(limits).back();
  const cpu::DotForm& form = *cpu::dot_form(workload, limits);
  const std::int64_t filters = conv.k / conv.groups, channels = form.groups(conv.c / conv.groups);
  if (filters <= s.lanes / 2) s.lanes = cpu::lane_counts(limits).front();
  // With grouped products, unrolled taps spill registers (GCC 12).
  s.taps = conv.s > 1 && limits.vector_registers >= 32 && form.is_plain() ? 1 : 0;
  cpu::Tiling tiling = cpu::fastest_tiling(conv.out_w(), filters, s.lanes, s.taps, limits, form);
  if (s.taps == 1 && tiling.rows * tiling.vectors * conv.s > kMaxUnrolled) {
    s.taps = 0;
    tiling = cpu::fastest_tiling(conv.out_w(), filters, s.lanes, s.taps, limits, form);
  }
  s.mr = tiling.rows;
  s.nv = tiling.vectors;
  const bool lines_first = conv.h * conv.w * conv.c >= conv.k * conv.products();
  s.split = lines_first || filters < 2 * s.nv * s.lanes * limits.cores ? 0 : 1;
  const std::int64_t half_l1 = (limits.l1_bytes > 0 ? limits.l1_bytes : 32 << 10) / 2;
  const std::int64_t half_l2 = (limits.l2_bytes > 0 ? limits.l2_bytes : 1 << 20) / 2;
  s.cc = channels;
  while (s.cc > 4 && 4 * s.cc * conv.r * conv.s * s.nv * s.lanes > half_l1) s.cc = ceil_div(s.cc, 2);
  s.copy =
      needs_copy(conv) || !form.is_plain() || kept_step(conv.s, conv.stride_w, conv.dilation_w) > 1 ? 1 : 0;
  s.prefetch = 1;
  s.lines = conv2d_oc_shape(conv, s, windows, form).owned_lines;
  while (s.lines > windows.stride &&
         scratch_bytes(conv, s, windows, form) > (s.copy == 1 ? half_l2 : 2 * half_l1))
    s.lines = ceil_div(s.lines / windows.stride, 2) * windows.stride;
  return s;
}

}  // namespace lehr
