// The loop nest of one task:
//
//   for group / for jb: blocks of output channels / for cb: blocks of input channels
//     pack the filter's block into panels of nr output channels
//     for image / for blocks of output lines
//       copy the input lines that the block needs, padded                (images without padding stay)
//       for tiles of output channels, lines, tiles of pixels (order) -> micro-kernel over taps and channels
//
// Until the last block of input channels y holds sums. Tiles at the right edges have micro-kernels of their
// own, at most four in all.
#include "templates/conv2d_nhwc_cpu.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "templates/conv2d_nhwc_cpu_space.h"
#include "templates/cpu_common.h"
#include "templates/lines_cpu.h"
#include "templates/register_tile.h"

namespace lehr {
namespace {

using namespace ir;
using cpu::ceil_div;

constexpr const char* kFamily = "conv2d_nhwc_cpu";

class Lowering {
 public:
  Lowering(const Workload& workload, const Conv2dNhwcSchedule& schedule)
      : conv_(workload.conv2d()), s_(schedule), shape_(conv2d_nhwc_shape(conv_, s_)) {
    const Conv2d& conv = conv_;
    b_.kernel.name = kFamily;
    b_.kernel.target = Target::kCpu;
    x_ = b_.param("x", DType::kF32, conv.n * conv.c * conv.h * conv.w, Direction::kIn);
    f_ = b_.param("f", DType::kF32, conv.k * conv.products(), Direction::kIn);
    y_ = b_.param("y", DType::kF32, conv.n * conv.k * conv.out_h() * conv.out_w(), Direction::kOut);
    epilogue_ = FusedEpilogue(b_, workload);
    panel_ = b_.buffer("f_panel", DType::kF32, Scope::kScratch, shape_.panel_elements(conv));
    if (shape_.copies) lines_ = b_.buffer("x_lines", DType::kF32, Scope::kScratch, shape_.copy_elements());
    for (const auto& [id, name] : {std::pair(&task_, "task_index"),
                                   {&group_, "group"},
                                   {&jb_, "jb"},
                                   {&cb_, "cb"},
                                   {&image_, "image"},
                                   {&block_, "block"},
                                   {&line_, "line"},
                                   {&jt_, "jt"},
                                   {&y_in_block_, "y_line"},
                                   {&it_, "it"},
                                   {&filter_, "filter"}})
      *id = b_.var(name);
  }

  Kernel kernel() {
    Block of_block = block(Let{line_, first_line() + var(block_) * shape_.lines});
    if (shape_.copies) of_block.push_back(copy_in());
    of_block.push_back(tiles());
    Stmt images =
        loop(block_, ceil_div(shape_.owned_lines, shape_.lines), LoopKind::kSerial, std::move(of_block));
    if (conv_.n > 1 && s_.split != 2) images = loop(image_, conv_.n, LoopKind::kSerial, block(images));
    Block body = block(
        loop(jb_, ceil_div(shape_.owned_tiles, shape_.nc), LoopKind::kSerial,
             block(loop(cb_, channel_blocks(), LoopKind::kSerial, block(pack_filter(), std::move(images))))));
    if (conv_.groups > 1) body = block(loop(group_, conv_.groups, LoopKind::kSerial, std::move(body)));
    if (conv_.n > 1 && s_.split == 2) body.insert(body.begin(), Let{image_, var(task_)});
    if (shape_.copies) body.insert(body.begin(), Alloc{lines_});
    body.insert(body.begin(), Alloc{panel_});
    const std::int64_t tasks = s_.split == 2 ? conv_.n : s_.threads;
    b_.kernel.body = block(loop(task_, tasks, LoopKind::kParallel, std::move(body)));
    return std::move(b_.kernel);
  }

 private:
  std::int64_t taps() const { return conv_.r * conv_.s; }
  std::int64_t channel_blocks() const { return ceil_div(shape_.channels, shape_.cc); }
  /// All channels of a group at once: then the taps of a filter follow each other without gaps.
  bool whole_filters() const { return shape_.cc == shape_.channels; }
  Expr group() const { return conv_.groups == 1 ? integer(0) : var(group_); }
  Expr image() const { return conv_.n == 1 ? integer(0) : var(image_); }
  Expr first_channel() const { return var(cb_) * shape_.cc; }  // of the group
  Expr channels_now() const {
    if (shape_.channels % shape_.cc == 0) return integer(shape_.cc);
    return min(integer(shape_.cc), integer(shape_.channels) - first_channel());
  }
  std::pair<Expr, Expr> range(bool shared, std::int64_t count) const {
    if (!shared) return {integer(0), integer(count)};
    return {cpu::first_tile(var(task_), count, s_.threads),
            cpu::first_tile(var(task_) + 1, count, s_.threads)};
  }
  Expr first_line() const { return range(s_.split == 0, conv_.out_h()).first; }
  Expr first_filter_tile() const {
    return range(s_.split == 1, shape_.filter_tiles).first + var(jb_) * shape_.nc;
  }
  Expr lines_now() const {
    const auto [first, end] = range(s_.split == 0, conv_.out_h());
    const bool even = s_.split != 0 || conv_.out_h() % s_.threads == 0;
    return cpu::tiles_in_block(first, end, shape_.owned_lines, even, var(block_), shape_.lines);
  }
  Expr filter_tiles_now() const {
    const auto [first, end] = range(s_.split == 1, shape_.filter_tiles);
    const bool even = s_.split != 1 || shape_.filter_tiles % s_.threads == 0;
    return cpu::tiles_in_block(first, end, shape_.owned_tiles, even, var(jb_), shape_.nc);
  }

  /// f_panel[jt][tap][channel][0..nr): filters beyond the last are zero.
  Expr panel_at(const Expr& tap_and_channel) const {
    return var(jt_) * (taps() * shape_.cc * shape_.nr) + tap_and_channel * shape_.nr;
  }
  Stmt pack_filter() {
    const VarId tap = b_.var("pack_tap");
    const std::int64_t filter = taps() * shape_.channels;
    cpu::Transposition t;
    t.from = f_, t.to = panel_, t.lanes = s_.lanes;
    t.from_stride = filter, t.to_stride = shape_.nr;
    t.rows = integer(shape_.filters) - var(filter_), t.most_rows = shape_.nr;
    t.source = (group() * shape_.filters + var(filter_)) * filter;
    Block body = block(Let{filter_, (first_filter_tile() + var(jt_)) * shape_.nr});
    if (whole_filters()) {
      t.target = panel_at(integer(0));
      t.columns = integer(filter), t.most_columns = filter;
      body.push_back(cpu::transpose(b_, t));
    } else {
      t.source = t.source + var(tap) * shape_.channels + first_channel();
      t.target = panel_at(var(tap) * shape_.cc);
      t.columns = channels_now(), t.most_columns = shape_.cc;
      body.push_back(loop(tap, taps(), LoopKind::kSerial, block(cpu::transpose(b_, t))));
    }
    return loop_to(jt_, filter_tiles_now(), shape_.nc, std::move(body));
  }

  /// Of pixel `column` of line `row` of the image, at the block's first channel.
  Expr pixel(const Expr& row, const Expr& column) const {
    return ((image() * conv_.h + row) * conv_.w + column) * conv_.c + group() * shape_.channels +
           first_channel();
  }
  Stmt copy_in() {
    const VarId y = b_.var("in_y"), row = b_.var("in_row");
    const std::int64_t line = shape_.width_in * shape_.cc;
    const std::int64_t covered = std::clamp<std::int64_t>(shape_.width_in - conv_.pad_left, 0, conv_.w);
    const std::int64_t margin = std::min(conv_.pad_left, shape_.width_in) * shape_.cc;
    const std::int64_t end = margin + covered * shape_.cc;
    const Expr target = var(y) * line;
    Block inside;
    if (margin > 0) inside.push_back(cpu::clear_line(b_, lines_, target, margin, s_.lanes));
    if (end < line) inside.push_back(cpu::clear_line(b_, lines_, target + end, line - end, s_.lanes));
    if (covered > 0) {
      Block copy = shape_.cc == conv_.c ? copy_run(target + margin, var(row), covered)
                                        : copy_pixels(target + margin, var(row), covered);
      std::move(copy.begin(), copy.end(), std::back_inserter(inside));
    }
    Stmt one = If{logical_and(le(integer(0), var(row)), lt(var(row), integer(conv_.h))), std::move(inside),
                  block(cpu::clear_line(b_, lines_, target, line, s_.lanes))};
    return loop(y, shape_.lines_in, LoopKind::kSerial,
                block(Let{row, var(line_) * conv_.stride_h + var(y) - conv_.pad_top}, std::move(one)));
  }
  /// Pixels that follow each other in memory without gaps.
  Block copy_run(const Expr& target, const Expr& row, std::int64_t pixels) {
    cpu::Line line;
    line.from = x_, line.to = lines_, line.lanes = s_.lanes;
    line.source = pixel(row, integer(0)), line.width = pixels * shape_.cc;
    line.target = [&](std::int64_t) { return target; };
    return cpu::copy_line(b_, line);
  }
  Block copy_pixels(const Expr& target, const Expr& row, std::int64_t pixels) {
    const int lanes = static_cast<int>(s_.lanes);
    const VarId column = b_.var("in_x"), v = b_.var("in_v");
    const Expr at = var(v) * s_.lanes, left = channels_now() - at;
    Stmt move = Store{lines_, target + var(column) * shape_.cc + at,
                      load_active(x_, pixel(row, var(column)) + at, lanes, left), lanes, left};
    return block(
        loop(column, pixels, LoopKind::kSerial,
             block(loop(v, ceil_div(shape_.cc, s_.lanes), LoopKind::kSerial, block(std::move(move))))));
  }

  Stmt tiles() {
    Block body = block(Let{filter_, (first_filter_tile() + var(jt_)) * shape_.nr});
    Block tile = by_pixels();
    std::move(tile.begin(), tile.end(), std::back_inserter(body));
    const auto over_filters = [&](Block b) {
      return loop_to(jt_, filter_tiles_now(), shape_.nc, std::move(b));
    };
    const auto over_pixels = [&](Block b) {
      return loop_to(y_in_block_, lines_now(), shape_.lines,
                     block(loop(it_, ceil_div(conv_.out_w(), s_.mr), LoopKind::kSerial, std::move(b))));
    };
    return s_.order == 0 ? over_filters(block(over_pixels(std::move(body))))
                         : over_pixels(block(over_filters(std::move(body))));
  }
  Block by_pixels() {
    const std::int64_t full = conv_.out_w() / s_.mr, tail = conv_.out_w() % s_.mr;
    Block inner, edge;
    if (full > 0) inner = by_filters(s_.mr);
    if (tail > 0) edge = by_filters(tail);
    return cpu::by_tile(var(it_), full, tail, std::move(inner), std::move(edge));
  }
  Block by_filters(std::int64_t rows) {
    const std::int64_t full = shape_.filters / shape_.nr, tail = shape_.filters % shape_.nr;
    Block inner, edge;
    if (full > 0) inner = micro_kernel(rows, shape_.nr);
    if (tail > 0) edge = micro_kernel(rows, tail);
    return cpu::by_tile(var(filter_) / shape_.nr, full, tail, std::move(inner), std::move(edge));
  }

  /// `rows` pixels x `columns` output channels, over the current block of input channels.
  Block micro_kernel(std::int64_t rows, std::int64_t columns) {
    cpu::RegisterTile tile(b_, rows, columns, s_.lanes);
    const Expr filter = group() * shape_.filters + var(filter_);
    const auto y_at = [&](Expr column) {
      const Expr row = (image() * conv_.out_h() + var(line_) + var(y_in_block_)) * conv_.out_w() +
                       var(it_) * s_.mr + tile.row();
      return row * conv_.k + filter + std::move(column);
    };
    Block result = block(tile.allocate());
    if (channel_blocks() == 1)
      result.push_back(tile.clear());
    else
      result.push_back(If{lt(var(cb_), integer(1)), block(tile.clear()), block(tile.load_c(y_, y_at))});
    result.push_back(sums(tile));
    const auto finish = [&](Expr value, Expr column, std::optional<Expr> active) {
      const Expr at = y_at(column);
      return epilogue_.of(std::move(value),
                          {filter + column, true, at, static_cast<int>(s_.lanes), std::move(active)});
    };
    if (epilogue_.empty() || channel_blocks() == 1)
      result.push_back(tile.store_c(y_, y_at, finish));
    else
      result.push_back(If{lt(var(cb_), integer(channel_blocks() - 1)), block(tile.store_c(y_, y_at)),
                          block(tile.store_c(y_, y_at, finish))});
    return result;
  }

  /// Where the pixels of a line lie without gaps, the taps of a line and their channels are one loop.
  Stmt sums(cpu::RegisterTile& tile) {
    const VarId r = b_.var("r"), s = b_.var("s"), c = b_.var("c");
    const bool gapless =
        conv_.dilation_w == 1 && shape_.channels % shape_.cc == 0 && (shape_.copies || shape_.cc == conv_.c);
    const std::int64_t step = gapless ? conv_.s * shape_.cc : shape_.cc;  // of the innermost loop
    const Expr tap = gapless ? var(r) : var(r) * conv_.s + var(s);
    const Expr shift = gapless ? integer(0) : var(s) * conv_.dilation_w;
    const Expr column = (var(it_) * s_.mr + tile.row()) * conv_.stride_w + shift;
    const Expr below = var(r) * conv_.dilation_h;
    const Expr value =
        shape_.copies
            ? load(lines_,
                   ((var(y_in_block_) * conv_.stride_h + below) * shape_.width_in + column) * shape_.cc +
                       var(c))
            : load(x_, pixel((var(line_) + var(y_in_block_)) * conv_.stride_h + below, column) + var(c));
    Block body = block(tile.allocate_b());
    Block filters = tile.load_b(
        panel_,
        [&](Expr column_of_tile) { return panel_at(tap * step + var(c)) + std::move(column_of_tile); },
        false);
    std::move(filters.begin(), filters.end(), std::back_inserter(body));
    body.push_back(tile.multiply_add(value));
    Stmt nest = gapless ? loop(c, step, LoopKind::kSerial, std::move(body))
                        : loop(s, conv_.s, LoopKind::kSerial,
                               block(loop_to(c, channels_now(), shape_.cc, std::move(body))));
    return loop(r, conv_.r, LoopKind::kSerial, block(std::move(nest)));
  }

  const Conv2d& conv_;
  Conv2dNhwcSchedule s_;
  Conv2dNhwcShape shape_;
  KernelBuilder b_;
  FusedEpilogue epilogue_;
  BufferId x_{}, f_{}, y_{}, panel_{}, lines_{};
  VarId task_{}, group_{}, jb_{}, cb_{}, image_{}, block_{}, line_{}, jt_{}, y_in_block_{}, it_{}, filter_{};
};

Kernel lower_conv2d_nhwc_cpu(const Workload& workload, const Config& config, const Limits&) {
  return Lowering(workload, conv2d_nhwc_schedule(config)).kernel();
}

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  if (auto reason = cpu::why_not_cpu(workload, limits)) return reason;
  if (workload.conv2d().layout != ImageLayout::kNhwc) return "reads images as nhwc only";
  return std::nullopt;
}

}  // namespace

Template conv2d_nhwc_cpu_template() {
  return {.name = kFamily,
          .version = 1,
          .why_not = why_not,
          .space = conv2d_nhwc_cpu_space,
          .lower = lower_conv2d_nhwc_cpu,
          .default_config = conv2d_nhwc_cpu_default,
          .op = Operator::kConv2d};
}

}  // namespace lehr
