// The loop nest of one work item:
//
//   for image / for group / for blocks of output lines
//     copy the lines of the input that the block needs, padded and by phase (Conv2dPlanes)
//     for cb: blocks of input channels
//       for jt, it (order): tiles of pixels, tiles of output channels -> micro-kernel over channels and taps
//     copy the block's outputs from their wide lines to y
//
// The columns of a tile are pixels along the planes' wide lines, so that every tile has all its columns. Only
// the last tile of output channels may have fewer rows, for which it has a micro-kernel of its own.
#include "templates/conv2d/cpu/conv2d_cpu.h"

#include <algorithm>

#include "templates/conv2d/cpu/conv2d_cpu_space.h"
#include "templates/family.h"
#include "templates/shared/conv_view.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/lines_cpu.h"
#include "templates/shared/planes_cpu.h"
#include "templates/shared/register_tile.h"

namespace lehr {
namespace {

using namespace ir;

struct Lowering {
  ConvView view;
  Conv2d conv;
  Conv2dCpuSchedule s;
  Conv2dPlanes planes;
  KernelBuilder builder;
  BufferId x{}, f{}, y{}, u{}, x_planes{}, y_lines{};
  FusedEpilogue epilogue;
  VarId work_item{}, image{}, group{}, block{}, line{}, cb{}, jt{}, it{};

  std::int64_t channels() const { return conv.c / conv.groups; }
  std::int64_t filters() const { return conv.k / conv.groups; }
  std::int64_t cc() const { return std::min(s.cc, channels()); }
  std::int64_t channel_blocks() const { return ceil_div(channels(), cc()); }
  std::int64_t tile() const { return s.nv * s.lanes; }
  std::int64_t filter_tiles() const { return ceil_div(filters(), s.mr); }
  std::int64_t part_filter_tiles() const {
    return s.split == 1 ? ceil_div(filter_tiles(), s.threads) : filter_tiles();
  }
  std::int64_t part_lines() const { return s.split == 0 ? ceil_div(conv.out_h(), s.threads) : conv.out_h(); }

  Expr first_line() const {
    return s.split == 0 ? cpu::first_tile(var(work_item), conv.out_h(), s.threads) : integer(0);
  }
  Expr end_line() const {
    return s.split == 0 ? cpu::first_tile(var(work_item) + 1, conv.out_h(), s.threads)
                        : integer(conv.out_h());
  }
  Expr first_filter_tile() const {
    return s.split == 1 ? cpu::first_tile(var(work_item), filter_tiles(), s.threads) : integer(0);
  }
  Expr filter_tiles_now() const {
    if (s.split != 1 || filter_tiles() % s.threads == 0) return integer(part_filter_tiles());
    return cpu::first_tile(var(work_item) + 1, filter_tiles(), s.threads) - first_filter_tile();
  }
  Expr channels_now() const {
    if (channels() % cc() == 0) return integer(cc());
    return min(integer(cc()), integer(channels()) - var(cb) * cc());
  }
  // Returns where the room after the last plane begins, which is read only for pixels that are dropped.
  std::int64_t slack_begin() const { return channels() * planes.channel(); }
  std::int64_t slack() const { return tile() + planes.width; }
  // Returns the first filter of a tile in [group][tile][channel][tap][filter of the tile].
  Expr packed(const Expr& of_group, const Expr& filter_tile, const Expr& channel, const Expr& tap) const {
    return (((of_group * filter_tiles() + filter_tile) * channels() + channel) * (conv.r * conv.s) + tap) *
           s.mr;
  }
  Expr image_index() const { return conv.n == 1 ? integer(0) : var(image); }
  Expr group_index() const { return conv.groups == 1 ? integer(0) : var(group); }
  // Returns the index of an element of the block's outputs. `filter` counts from the work item's first tile.
  Expr y_line_element(Expr filter, Expr pixel) const { return filter * (planes.tiles * tile()) + pixel; }
};

cpu::PlaneCopy copy_of(const Lowering& l) {
  return {.conv = l.conv,
          .planes = l.planes,
          .from = l.x,
          .to = l.x_planes,
          .behind = l.slack(),
          .lanes = l.s.lanes,
          .image = l.image_index(),
          .group = l.group_index(),
          .line = var(l.line)};
}

// Computes `rows` output channels x one tile of pixels, for the current block of input channels.
Block micro_kernel(Lowering& l, std::int64_t rows) {
  const Conv2d& conv = l.conv;
  const Conv2dPlanes& p = l.planes;
  cpu::RegisterTile tile(l.builder, rows, l.tile(), l.s.lanes);
  const VarId c = l.builder.var("c"), r = l.builder.var("r"), s = l.builder.var("s");
  const Expr channel = var(l.cb) * l.cc() + var(c);
  const auto y_at = [&](Expr column) {
    return l.y_line_element(var(l.it) * l.s.mr + tile.row(), var(l.jt) * l.tile() + column);
  };
  const auto x_at = [&](Expr column) {
    return cpu::tap_in(p, conv, channel * p.channel(), var(r), var(s)) + var(l.jt) * l.tile() + column;
  };
  const Expr filter =
      l.group_index() * l.filters() + (l.first_filter_tile() + var(l.it)) * l.s.mr + tile.row();
  const Expr tap = var(r) * conv.s + var(s);
  const Expr weight =
      l.s.packed == 1
          ? load(l.u, l.packed(l.group_index(), l.first_filter_tile() + var(l.it), channel, tap) + tile.row())
          : load(l.f, l.view.filter_element(filter, channel, l.view.stored_tap(var(r), var(s))));

  Block result = block(tile.allocate());
  if (l.channel_blocks() == 1) {
    result.push_back(tile.clear());
  } else {
    result.push_back(If{lt(var(l.cb), integer(1)), block(tile.clear()), block(tile.load_c(l.y_lines, y_at))});
  }
  const Block step = tile.step(l.builder, l.x_planes, x_at, false, weight);
  const LoopKind line = l.s.taps >= 1 ? LoopKind::kUnrolled : LoopKind::kSerial;
  const LoopKind lines = l.s.taps == 2 ? LoopKind::kUnrolled : LoopKind::kSerial;
  result.push_back(loop_to(c, l.channels_now(), l.cc(),
                           block(loop(r, conv.r, lines, block(loop(s, conv.s, line, step))))));
  result.push_back(tile.store_c(l.y_lines, y_at));
  return result;
}

Block pack_filters(Lowering& l) {
  const std::int64_t taps = l.conv.r * l.conv.s;
  const VarId work_item = l.builder.var("u_part"), c = l.builder.var("u_c"), tap = l.builder.var("u_tap"),
              row = l.builder.var("u_row"), filter = l.builder.var("u_k");
  const Expr group = var(work_item) / l.filter_tiles(), tile = var(work_item) % l.filter_tiles();
  const Expr from =
      l.view.filter_element(group * l.filters() + var(filter), var(c), l.view.stored_tap(var(tap)));
  Block body =
      block(Store{l.u, l.packed(group, tile, var(c), var(tap)) + var(row), load(l.f, from), 1, std::nullopt});
  if (l.filters() % l.s.mr != 0) body = block(If{lt(var(filter), integer(l.filters())), body, {}});
  body.push_front(Let{filter, tile * l.s.mr + var(row)});
  body = block(loop(row, l.s.mr, LoopKind::kSerial, body));
  body = block(loop(tap, taps, LoopKind::kSerial, body));
  return block(loop(work_item, l.conv.groups * l.filter_tiles(), LoopKind::kParallel,
                    block(loop(c, l.channels(), LoopKind::kSerial, body))));
}

Stmt compute(Lowering& l) {
  const std::int64_t full = l.filters() / l.s.mr, tail = l.filters() % l.s.mr;
  Block inner, edge;
  if (full > 0) inner = micro_kernel(l, l.s.mr);
  if (tail > 0) edge = micro_kernel(l, tail);
  Block body = cpu::by_tile(l.first_filter_tile() + var(l.it), full, tail, inner, edge);
  const auto over_filters = [&](Block b) {
    return loop_to(l.it, l.filter_tiles_now(), l.part_filter_tiles(), b);
  };
  const auto over_pixels = [&](Block b) { return loop(l.jt, l.planes.tiles, LoopKind::kSerial, b); };
  Stmt tiles =
      l.s.order == 0 ? over_pixels(block(over_filters(body))) : over_filters(block(over_pixels(body)));
  return loop(l.cb, l.channel_blocks(), LoopKind::kSerial, block(tiles));
}

Stmt copy_out(Lowering& l) {
  const Conv2d& conv = l.conv;
  const VarId filter = l.builder.var("out_k"), y = l.builder.var("out_y"), v = l.builder.var("out_v");
  const int lanes = static_cast<int>(l.s.lanes);
  const std::int64_t width = conv.out_w();
  const std::int64_t most = std::min(l.filters(), l.part_filter_tiles() * l.s.mr);
  Expr filters = l.s.split == 1 ? min(l.filter_tiles_now() * l.s.mr,
                                      integer(l.filters()) - l.first_filter_tile() * l.s.mr)
                                : integer(l.filters());
  const bool even = l.part_lines() % l.s.lines == 0 && conv.out_h() % (l.s.split == 0 ? l.s.threads : 1) == 0;
  // The last block may extend beyond the work item's lines.
  Expr lines =
      even ? integer(l.s.lines) : max(min(integer(l.s.lines), l.end_line() - var(l.line)), integer(0));
  const Expr channel = l.group_index() * l.filters() + l.first_filter_tile() * l.s.mr + var(filter);
  const Expr target = ((l.image_index() * conv.k + channel) * conv.out_h() + var(l.line) + var(y)) * width;
  const Expr column = var(v) * lanes;
  const Expr left = integer(width) - column;
  Expr sums = load(l.y_lines, l.y_line_element(var(filter), var(y) * l.planes.width + column), lanes);
  Stmt move = Store{l.y, target + column, l.epilogue.of(sums, {channel, false, target + column, lanes, left}),
                    lanes, left};
  return loop_to(filter, filters, most,
                 block(loop_to(y, lines, l.s.lines,
                               block(loop(v, ceil_div(width, lanes), LoopKind::kSerial, block(move))))));
}

Kernel lower_conv2d_cpu(const Workload& workload, const Conv2dCpuSchedule& schedule, const Limits&) {
  Lowering l;
  l.view = cpu::conv_view(workload);
  l.conv = l.view.conv;
  l.s = schedule;
  l.planes = conv2d_planes(l.conv, l.s);
  const Conv2d& conv = l.conv;
  KernelBuilder& builder = l.builder;
  builder.kernel.name = "conv2d_cpu";
  builder.kernel.target = Target::kCpu;
  l.x = builder.param("x", DType::kF32, conv.n * conv.c * conv.h * conv.w, Direction::kIn);
  l.f = builder.param("f", DType::kF32, l.view.filter_elements(), Direction::kIn);
  l.y = builder.param("y", DType::kF32, conv.n * conv.k * conv.out_h() * conv.out_w(), Direction::kOut);
  l.epilogue = FusedEpilogue(builder, workload);
  if (l.s.packed == 1)
    l.u = builder.param("u", DType::kF32,
                        conv.groups * l.filter_tiles() * l.s.mr * l.channels() * conv.r * conv.s,
                        Direction::kPrepacked);
  // The last tile reads beyond the last plane, and the last line is stored in whole vectors; the buffer has
  // room for both.
  l.x_planes = builder.buffer("x_planes", DType::kF32, Scope::kScratch, l.slack_begin() + l.slack());
  l.y_lines = builder.buffer("y_lines", DType::kF32, Scope::kScratch,
                             l.part_filter_tiles() * l.s.mr * l.planes.tiles * l.tile() + l.s.lanes);
  l.work_item = builder.var("task_index");
  l.image = builder.var("image");
  l.group = builder.var("group");
  l.block = builder.var("block");
  l.line = builder.var("line");
  l.cb = builder.var("cb");
  l.jt = builder.var("jt");
  l.it = builder.var("it");

  const std::int64_t blocks = ceil_div(l.part_lines(), l.s.lines);
  Block body = block(Let{l.line, l.first_line() + var(l.block) * l.s.lines},
                     cpu::copy_planes(builder, copy_of(l)), compute(l), copy_out(l));
  body = block(loop(l.block, blocks, LoopKind::kSerial, body));
  if (conv.groups > 1) body = block(loop(l.group, conv.groups, LoopKind::kSerial, body));
  body = cpu::over_items(conv.n, l.s.split == 2, l.image, l.work_item, body);
  // Elements after the last plane are read for pixels that are dropped. Arbitrary contents might make that
  // slow, so they are zeros.
  body.push_front(cpu::clear_planes(builder, copy_of(l)));
  body.push_front(Alloc{l.y_lines});
  body.push_front(Alloc{l.x_planes});
  const std::int64_t work_items = l.s.split == 2 ? conv.n : l.s.threads;
  builder.kernel.body = block(loop(l.work_item, work_items, LoopKind::kParallel, body));
  if (l.s.packed == 1) builder.kernel.prepack = pack_filters(l);
  return std::move(builder.kernel);
}

std::optional<std::string> why_not(const Workload& workload, const Limits&) {
  if (auto reason = cpu::why_not_cpu(workload)) return reason;
  if (cpu::conv_view(workload).conv.layout != ImageLayout::kNchw) return "reads images as nchw only";
  return std::nullopt;
}

}  // namespace

Template conv2d_cpu_template() {
  return family<"conv2d_cpu", conv2d_cpu_knobs, conv2d_cpu_wanted, lower_conv2d_cpu>(
      {.version = 7, .target = Target::kCpu, .why_not = why_not, .op = Operator::kConv2d});
}

}  // namespace lehr
