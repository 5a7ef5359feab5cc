#include "templates/conv2d_cpu_space.h"

#include <algorithm>

#include "templates/conv_view.h"
#include "templates/cpu_common.h"

namespace lehr {
namespace {

using cpu::ceil_div;

using Values = std::vector<std::int64_t>;

/// Input copy and output block of one task; more than a share of any last-level cache only costs bandwidth.
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

Conv2dCpuSchedule conv2d_cpu_schedule(const Config& config) {
  KnobReader knobs(config);
  Conv2dCpuSchedule s;
  s.threads = knobs.at("threads");
  s.split = knobs.at("split");
  s.lanes = knobs.at("lanes");
  s.mr = knobs.at("mr");
  s.nv = knobs.at("nv");
  s.lines = knobs.at("lines");
  s.cc = knobs.at("cc");
  s.order = knobs.at("order");
  s.taps = knobs.at("taps");
  s.packed = knobs.at("packed");
  return s;
}

Conv2dPlanes conv2d_planes(const Conv2d& conv, const Conv2dCpuSchedule& s) {
  Conv2dPlanes p{cpu::image_planes(conv, s.lines)};
  p.pixels = s.lines * p.width;
  p.tiles = ceil_div(p.pixels, s.nv * s.lanes);
  return p;
}

FamilySpace conv2d_cpu_space(const Workload& workload, const Limits& limits) {
  const Conv2d conv = cpu::conv_view(workload).conv;
  const std::int64_t channels = conv.c / conv.groups, filters = conv.k / conv.groups;
  const std::int64_t out_lines = conv.out_h();
  FamilySpace space("conv2d_cpu");
  const cpu::ThreadKnobs shared =
      cpu::add_thread_knobs(space, limits, conv.n > 1, "0 lines, 1 output channels, 2 images");
  const KnobId threads = shared.threads, split = shared.split, lanes = shared.lanes;
  const KnobId mr = space.add("mr", "output channels in registers", cpu::register_rows(filters));
  const KnobId nv = space.add("nv", "vectors of pixels in registers", {1, 2, 3, 4, 5, 6, 8});
  const auto lines_of_task = [=](const Point& x) {
    return x[threads] > 1 && x[split] == 0 ? ceil_div(out_lines, x[threads]) : out_lines;
  };
  const KnobId lines = space.add_dependent(
      "lines", "output lines of one block; the last value covers all",
      cpu::up_to_any({out_lines, ceil_div(out_lines, limits.cores)}, line_steps()),
      [=](const Point& x) { return cpu::up_to(lines_of_task(x), line_steps()); });
  space.add("cc", "input channels of one block; the last value covers all",
            cpu::up_to(channels, channel_steps()));
  const KnobId order = space.add("order", "outer loop inside a block: 0 pixels, 1 output channels",
                                 filters == 1 ? Values{0} : Values{0, 1});
  const KnobId taps = space.add("taps", "unrolled: 0 nothing, 1 a filter's line, 2 the whole filter",
                                conv.r * conv.s == 1 ? Values{0} : Values{0, 1, 2});
  space.add("packed", "filters: 0 read as they lie, 1 laid out beforehand for the micro-kernel", {0, 1});

  space.require("needs more vector registers than there are", {mr, nv},
                [=](const Point& x) { return cpu::fits_registers(x[mr], x[nv], limits); });
  // Fewer accumulators than the multiply-add's latency x throughput (8 to 10) cannot keep the units busy.
  space.require("too few accumulators to hide the latency of a multiply-add", {lanes, mr, nv, lines},
                [=](const Point& x) {
                  Conv2dCpuSchedule s;
                  s.lines = x[lines];
                  const std::int64_t vectors = ceil_div(conv2d_planes(conv, s).pixels, x[lanes]);
                  const std::int64_t most =
                      std::min<std::int64_t>(filters, 28) * std::min<std::int64_t>(vectors, 8);
                  return x[mr] * x[nv] >= std::min<std::int64_t>(6, most);
                });
  space.require(
      "more threads than lines, channel tiles or images", {threads, split, mr}, [=](const Point& x) {
        if (x[threads] == 1) return true;
        return (x[split] == 0 ? out_lines : x[split] == 1 ? ceil_div(filters, x[mr]) : conv.n) >= x[threads];
      });
  space.require("a tile is wider than the block of lines", {lanes, nv, lines}, [=](const Point& x) {
    Conv2dCpuSchedule s;
    s.lanes = x[lanes], s.nv = x[nv], s.lines = x[lines];
    return x[nv] == 1 || (x[nv] - 1) * x[lanes] < conv2d_planes(conv, s).pixels;
  });
  space.require("its copy of the input and of the output is too large", {lanes, mr, nv, lines},
                [=](const Point& x) {
                  Conv2dCpuSchedule s;
                  s.lanes = x[lanes], s.mr = x[mr], s.nv = x[nv], s.lines = x[lines];
                  return x[lines] == 1 || scratch_bytes(conv, s) <= kMaxScratchBytes;
                });
  space.require("the order of one loop has no meaning", {mr, order},
                [=](const Point& x) { return x[order] == 0 || filters > x[mr]; });
  space.require("too much code", {mr, nv, taps}, [=](const Point& x) {
    const std::int64_t copies = x[taps] == 0 ? 1 : x[taps] == 1 ? conv.s : conv.r * conv.s;
    return x[taps] == 0 || x[mr] * x[nv] * copies <= 160;
  });
  space.require("unrolling one line is unrolling the whole filter", {taps},
                [=](const Point& x) { return x[taps] != 2 || conv.r > 1; });
  return space;
}

// As gemm_cpu: the largest micro-tile that the registers hold; as many lines as leave the copy in half of L2.
Config conv2d_cpu_default(const Workload& workload, const Limits& limits) {
  const Conv2d conv = cpu::conv_view(workload).conv;
  const FamilySpace space = conv2d_cpu_space(workload, limits);
  const std::int64_t filters = conv.k / conv.groups;
  const std::int64_t registers = std::max(limits.vector_registers, 16);
  Conv2dCpuSchedule s;
  s.threads = cpu::default_threads(workload, limits);
  s.split = conv.out_h() >= 2 * limits.cores || filters < 2 * limits.cores ? 0 : 1;
  s.lanes = cpu::lane_counts(limits).back();
  // Wide rather than tall: 6 x 4 is ahead of 12 x 2 by a tenth on 14 x 14 maps, and nowhere behind.
  s.nv = registers < 32 && filters >= 6 ? 2 : filters < 4 ? 6 : 4;
  s.mr = std::min<std::int64_t>(filters, (registers - s.nv - 1) / s.nv);
  const std::int64_t half_l2 = (limits.l2_bytes > 0 ? limits.l2_bytes : 1 << 20) / 2;
  const std::int64_t most_lines = s.split == 0 ? ceil_div(conv.out_h(), s.threads) : conv.out_h();
  s.lines = most_lines;
  while (s.lines > 1 && scratch_bytes(conv, s) > half_l2) s.lines = ceil_div(s.lines, 2);
  return cpu::nearest_config(space, {s.threads, s.split, s.lanes, s.mr, s.nv, s.lines, conv.c / conv.groups,
                                     filters > s.mr ? 1 : 0, 1, 1});
}

}  // namespace lehr
