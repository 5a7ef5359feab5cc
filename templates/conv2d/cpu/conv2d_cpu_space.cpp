#include "templates/conv2d/cpu/conv2d_cpu_space.h"

#include <algorithm>

#include "templates/shared/conv_view.h"
#include "templates/shared/cpu_common.h"

namespace lehr {
namespace {

using Values = std::vector<std::int64_t>;

/// Maximum number of bytes of the input copy and the output block of one work item. Larger ones exceed its
/// share of any last-level cache, and only cost bandwidth.
constexpr std::int64_t kMaxScratchBytes = 48LL << 20;

const Values& line_steps() {
  static const Values steps = {1,  2,  3,  4,  5,  6,  7,  8,  10, 12,  14,
                               16, 20, 24, 28, 32, 48, 56, 64, 96, 112, 128};
  return steps;
}
const Values& channel_steps() {
  static const Values steps = {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
  return steps;
}

std::int64_t scratch_bytes(const Conv2d& conv, const Conv2dCpuSchedule& s) {
  const Conv2dPlanes planes = conv2d_planes(conv, s);
  const std::int64_t tile = s.nv * s.lanes;
  return 4 * (conv.c / conv.groups * planes.channel() + tile + planes.width +
              (conv.k / conv.groups + s.mr) * (planes.tiles + 1) * tile);
}

}  // namespace

Conv2dPlanes conv2d_planes(const Conv2d& conv, const Conv2dCpuSchedule& s) {
  Conv2dPlanes p{cpu::image_planes(conv, s.lines)};
  p.pixels = s.lines * p.width;
  p.tiles = ceil_div(p.pixels, s.nv * s.lanes);
  return p;
}

void conv2d_cpu_knobs(Knobs<Conv2dCpuSchedule>& k, const Workload& workload, const Limits& limits) {
  using S = Conv2dCpuSchedule;
  const Conv2d conv = cpu::conv_view(workload).conv;
  const std::int64_t channels = conv.c / conv.groups, filters = conv.k / conv.groups, lines = conv.out_h();
  cpu::thread_knobs(k, limits, conv.n > 1,
                    "what the threads share out: 0 lines, 1 output channels, 2 images");
  k.knob(&S::mr, "mr", "output channels in registers", cpu::register_rows(filters));
  k.forbid("more threads than lines, channel tiles or images", [=](const S& s) {
    const std::int64_t work_items = s.split == 0 ? lines : s.split == 1 ? ceil_div(filters, s.mr) : conv.n;
    return s.threads > 1 && work_items < s.threads;
  });
  k.knob(&S::nv, "nv", "vectors of pixels in registers", {1, 2, 3, 4, 5, 6, 8});
  k.forbid("needs more vector registers than there are",
           [=](const S& s) { return !cpu::fits_registers(s.mr, s.nv, limits); });
  k.knob(&S::lines, "lines", "output lines of one block; the last value covers all",
         cpu::up_to_any({lines, ceil_div(lines, limits.cores)}, line_steps()));
  k.only([=](const S& s) {
    return cpu::is_up_to(s.lines, s.split == 0 ? ceil_div(lines, s.threads) : lines, line_steps());
  });
  k.forbid("too few accumulators to hide the latency of a multiply-add", [=](const S& s) {
    const std::int64_t vectors = ceil_div(conv2d_planes(conv, s).pixels, s.lanes);
    return cpu::too_few_accumulators(s.mr, s.nv, filters, std::min<std::int64_t>(vectors, 8));
  });
  k.forbid("a tile is wider than the block of lines",
           [=](const S& s) { return s.nv > 1 && (s.nv - 1) * s.lanes >= conv2d_planes(conv, s).pixels; });
  k.forbid("its copy of the input and of the output is too large",
           [=](const S& s) { return s.lines > 1 && scratch_bytes(conv, s) > kMaxScratchBytes; });
  k.knob(&S::cc, "cc", "input channels of one block; the last value covers all",
         cpu::up_to(channels, channel_steps()));
  k.knob(&S::order, "order", "outer loop inside a block: 0 pixels, 1 output channels",
         filters == 1 ? Values{0} : Values{0, 1});
  k.forbid("the order of one loop has no meaning",
           [=](const S& s) { return s.order == 1 && filters <= s.mr; });
  k.knob(&S::taps, "taps", "unrolled: 0 nothing, 1 a filter's line, 2 the whole filter",
         conv.r * conv.s == 1 ? Values{0} : Values{0, 1, 2});
  k.forbid("too much code", [=](const S& s) {
    return s.taps != 0 && s.mr * s.nv * conv.s * (s.taps == 1 ? 1 : conv.r) > 160;
  });
  k.forbid("unrolling one line is unrolling the whole filter",
           [=](const S& s) { return s.taps == 2 && conv.r == 1; });
  k.knob(&S::packed, "packed", "filters: 0 read as they lie, 1 laid out beforehand for the micro-kernel",
         {0, 1});
}

// As for gemm_cpu, chooses the largest micro-tile that fits into the registers, and as many lines as fit into
// half of L2 with their copy.
Conv2dCpuSchedule conv2d_cpu_wanted(const Workload& workload, const Limits& limits) {
  const Conv2d conv = cpu::conv_view(workload).conv;
  const std::int64_t filters = conv.k / conv.groups;
  const std::int64_t registers = std::max(limits.vector_registers, 16);
  Conv2dCpuSchedule s;
  s.threads = cpu::default_threads(workload, limits);
  s.split = conv.out_h() >= 2 * limits.cores || filters < 2 * limits.cores ? 0 : 1;
  s.lanes = cpu::lane_counts(limits).back();
  // A wide tile is better than a tall one: 6 x 4 is faster than 12 x 2 by a tenth on 14 x 14 images, and
  // nowhere slower.
  s.nv = registers < 32 && filters >= 6 ? 2 : filters < 4 ? 6 : 4;
  s.mr = std::min<std::int64_t>(filters, (registers - s.nv - 1) / s.nv);
  const std::int64_t half_l2 = (limits.l2_bytes > 0 ? limits.l2_bytes : 1 << 20) / 2;
  const std::int64_t most_lines = s.split == 0 ? ceil_div(conv.out_h(), s.threads) : conv.out_h();
  s.lines = most_lines;
  while (s.lines > 1 && scratch_bytes(conv, s) > half_l2) s.lines = ceil_div(s.lines, 2);
  s.cc = conv.c / conv.groups;
  s.order = filters > s.mr ? 1 : 0;
  s.taps = s.packed = 1;
  return s;
}

}  // namespace lehr
