// Every copy moves whole vectors in ascending order. Elements that a vector writes after its end are
// overwritten by the next vector, or never read. Nothing outside of the image is read. Nothing is written
// outside of a panel's row (pixels as columns), or of the room after it (pixels as rows).
#include "templates/conv2d/cpu/conv2d_im2col_cpu_pack.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "templates/conv2d/cpu/conv2d_im2col_cpu_space.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/image_view.h"
#include "templates/shared/lines_cpu.h"

namespace lehr {

using namespace ir;
using cpu::GemmNest;

namespace {

/// Maximum number of taps of a line that are unrolled.
constexpr std::int64_t kMostUnrolled = 8;

/// The channels of the nest's current block of k.
struct Channels {
  Expr first, now;
  std::int64_t most;
};
Channels channels_of(const GemmNest& n, const PixelSource& from) {
  if (!n.form->is_plain()) return {integer(0), integer(from.channels()), from.channels()};
  const std::int64_t most = n.kc() / (from.conv.r * from.conv.s);
  const Expr first = var(n.pc) * most;
  if (from.channels() % most == 0) return {first, integer(most), most};
  return {first, min(integer(most), integer(from.channels()) - first), most};
}

Expr image_of(const GemmNest& n, const Conv2d& conv) {
  return conv.n == 1 ? integer(0) : n.matrix() / conv.groups;
}
Expr group_of(const GemmNest& n, const Conv2d& conv) {
  return n.matrix() % integer(conv.groups);
}

/// Returns a position in a plane of the source: where the first pixel of a panel's row would lie if all
/// pixels of the row belonged to one run. The run begins `run_begins` pixels after the row's first pixel, on
/// line `line` of the image.
Expr place_of_row(const GemmNest& n, const PixelSource& from, const Expr& run_begins, const Expr& line) {
  const Conv2d& conv = from.conv;
  const Expr begin = integer(0) - run_begins;
  if (im2col_run(conv, from.copied ? 1 : 0) != n.p.n)
    return begin +
           (from.copied ? (line - var(from.line)) * from.planes.width : line * (conv.stride_h * conv.w));
  return from.copied ? begin - var(from.line) * conv.out_w() : begin;
}

}  // namespace

Stmt pack_pixels_as_columns(GemmNest& n, const PixelSource& from, BufferId panel, const Expr& tiles) {
  const Conv2d& conv = from.conv;
  const Channels channels = channels_of(n, from);
  const std::int64_t nr = n.nr(), pixels = n.p.n, run = im2col_run(conv, from.copied ? 1 : 0);
  const int lanes = static_cast<int>(n.s.lanes);
  const VarId tile = n.builder.var("px_tile"), y = n.builder.var("px_y"), x = n.builder.var("px_x"),
              work_item = n.builder.var("px_run"), begin = n.builder.var("px_begin"),
              end = n.builder.var("px_end"), source = n.builder.var("px_from"), v = n.builder.var("px_v"),
              c = n.builder.var("px_c"), r = n.builder.var("px_r"), s = n.builder.var("px_s");
  // A tile consists of pieces of runs. Piece 0 begins in the middle of its run.
  const bool one_work_item = run == pixels || run % nr == 0, whole = pixels % nr == 0;
  const std::int64_t most_work_items =
      one_work_item ? 1 : std::min(ceil_div(pixels, run), (nr + run - 2) / run + 1);
  const Expr now = whole ? integer(nr) : min(integer(nr), integer(pixels) - var(n.column));
  const Expr in_run = run == pixels ? var(n.column) : var(x);
  // Position in the panel's row at which the run begins.
  const Expr run_begins = one_work_item ? integer(0) - in_run : var(work_item) * run - in_run;
  const Expr first = one_work_item ? integer(0) : var(begin), last = one_work_item ? now : var(end);

  const Expr line = one_work_item ? var(y) : var(y) + var(work_item);
  const Expr at = first + var(v) * n.s.lanes, channel = channels.first + var(c);
  const Expr plane = image_of(n, conv) * conv.c + group_of(n, conv) * from.channels() + channel;
  const Expr tap = from.copied
                       ? cpu::tap_in(from.planes, conv, channel * from.planes.channel(), var(r), var(s))
                       : (plane * conv.h + var(r) * conv.dilation_h) * conv.w + var(s) * conv.dilation_w;
  const Expr index = tap + var(source) + at;
  const bool even = one_work_item && whole;
  Expr value = from.copied || even ? load(from.buffer, index, lanes)
                                   : load_active(from.buffer, index, lanes, last - at);
  std::optional<Expr> room;
  if (!one_work_item) room = integer(nr) - at;
  const Expr k = (var(c) * conv.r + var(r)) * conv.s + var(s);
  Block body = block(Store{panel, var(tile) * (nr * n.kc()) + k * nr + at, value, lanes, room});
  const LoopKind of_line = conv.s <= kMostUnrolled ? LoopKind::kUnrolled : LoopKind::kSerial;
  body = block(loop(r, conv.r, LoopKind::kSerial, block(loop(s, conv.s, of_line, body))));
  body = block(loop_to(c, channels.now, channels.most, body));
  const std::int64_t most_vectors = ceil_div(std::min(run, nr), n.s.lanes);
  const Expr vectors = even ? integer(most_vectors) : (last - first + (n.s.lanes - 1)) / n.s.lanes;
  body = block(Let{source, place_of_row(n, from, run_begins, line)}, loop_to(v, vectors, most_vectors, body));
  if (!one_work_item) {
    body.push_front(Let{end, min(run_begins + run, now)});
    body.push_front(Let{begin, max(run_begins, integer(0))});
    body = block(loop_to(work_item, (in_run + now - 1) / run + 1, most_work_items, body));
  }
  Block of_tile = block(Let{n.column, n.column_of(var(tile))});
  if (!whole) {
    Stmt clear = cpu::clear_line(n.builder, panel, var(tile) * (nr * n.kc()), nr * n.kc(), n.s.lanes);
    of_tile.push_back(If{lt(integer(pixels) - var(n.column), integer(nr)), block(clear), {}});
  }
  if (run != pixels) {
    of_tile.push_back(Let{y, var(n.column) / run});
    of_tile.push_back(Let{x, var(n.column) % integer(run)});
  }
  append(of_tile, body);
  return loop_to(tile, tiles, n.nc(), of_tile);
}

namespace {

/// Copies elements into a row of a panel.
struct RowCopy {
  KernelBuilder& builder;
  BufferId from{}, to{};
  std::int64_t lanes = 16;
  const cpu::DotForm& form;
  Expr padding;  ///< an element of the panel with the value zero

  /// Copies `elements` elements, which are at most `most`. Also writes zeros up to the end of the last
  /// vector.
  Block move(const Expr& source, const Expr& target, const Expr& elements, std::int64_t most) const {
    const int width = static_cast<int>(lanes);
    const auto store = [&](const Expr& at, std::optional<Expr> active) {
      Expr value = active ? load_active(from, source + at, width, *active) : load(from, source + at, width);
      return Stmt(Store{to, target + at, form.in_first_panel(value, width), width, std::nullopt});
    };
    const VarId v = builder.var("px_v");
    const auto count = as_constant(elements);
    if (!count) return block(over(v, elements, most, store(var(v) * lanes, elements - var(v) * lanes)));
    const std::int64_t full = *count / lanes, rest = *count % lanes;
    Block all;
    if (full > 0) all.push_back(loop(v, full, LoopKind::kSerial, block(store(var(v) * lanes, std::nullopt))));
    if (rest > 0) all.push_back(store(integer(full * lanes), integer(rest)));
    return all;
  }
  Stmt clear(const Expr& target, const Expr& elements, std::int64_t most) const {
    const VarId v = builder.var("zero_v");
    const int width = static_cast<int>(lanes);
    return over(v, elements, most,
                Store{to, target + var(v) * lanes, splat(padding, width), width, std::nullopt});
  }
  Stmt over(VarId v, const Expr& elements, std::int64_t most, Stmt store) const {
    return loop_to(v, (elements + (lanes - 1)) / lanes, ceil_div(most, lanes), block(store));
  }
};

std::optional<Expr> both(std::optional<Expr> a, std::optional<Expr> b) {
  return !a ? b : !b ? a : std::optional<Expr>(logical_and(*a, *b));
}

/// Conditions that all taps of a filter's line lie in the image's rows and in its columns, if the first tap
/// is at (row, column). nullopt if they always do.
struct TapsInside {
  std::optional<Expr> rows, columns;
};
TapsInside taps_inside(const Conv2d& conv, const Expr& row, const Expr& column) {
  TapsInside inside;
  const std::int64_t last_row = (conv.out_h() - 1) * conv.stride_h + (conv.r - 1) * conv.dilation_h;
  const std::int64_t last_column = (conv.out_w() - 1) * conv.stride_w + conv.s - 1;
  if (conv.pad_top > 0) inside.rows = le(integer(0), row);
  if (last_row - conv.pad_top >= conv.h) inside.rows = both(inside.rows, lt(row, integer(conv.h)));
  if (conv.pad_left > 0) inside.columns = le(integer(0), column);
  if (last_column - conv.pad_left >= conv.w)
    inside.columns = both(inside.columns, le(column, integer(conv.w - conv.s)));
  return inside;
}

}  // namespace

Stmt pack_pixels_as_rows(GemmNest& n, const PixelSource& from, BufferId panel, const Expr& tiles) {
  const Conv2d& conv = from.conv;
  const Channels channels = channels_of(n, from);
  const VarId tile = n.builder.var("px_tile"), i = n.builder.var("px_i"), y = n.builder.var("px_y"),
              x = n.builder.var("px_x"), r = n.builder.var("px_r"), s = n.builder.var("px_s"),
              first = n.builder.var("px_first"), count = n.builder.var("px_count");
  const RowCopy copy{n.builder, from.buffer, panel, n.s.lanes, *n.form, n.correction.zero_in_panel(*n.form)};
  const Expr to = (var(tile) * n.s.mr + var(i)) * n.a_row_stride();
  const Expr row = var(y) + var(r) * conv.dilation_h;
  const auto pixel_at = [&](const Expr& column) {
    return ((image_of(n, conv) * conv.h + row) * conv.w + column) * conv.c +
           group_of(n, conv) * from.channels() + channels.first;
  };
  Block taps;
  // The taps of a filter's line are contiguous if no other channels and no other pixels lie between them.
  const bool gapless = channels.most == conv.c && (conv.dilation_w == 1 || conv.s == 1);
  if (gapless) {
    const std::int64_t elements = conv.s * conv.c;
    const Expr target = to + var(r) * elements;
    Block all = copy.move(pixel_at(var(x)), target, integer(elements), elements);
    const TapsInside inside = taps_inside(conv, row, var(x));
    Block otherwise = block(copy.clear(target, integer(elements), elements));
    if (inside.columns) {
      Block some = block(
          Let{first, max(integer(0) - var(x), integer(0))},
          Let{count, max(min(integer(conv.s), integer(conv.w) - var(x)) - var(first), integer(0)) * conv.c});
      append(some,
             copy.move(pixel_at(var(x) + var(first)), target + var(first) * conv.c, var(count), elements));
      if (n.correction.needed()) {  // zeros were written after them, but padding has another value
        const Expr end = var(first) * conv.c + var(count);
        some.push_back(copy.clear(target + end, integer(elements) - end, elements));
      }
      append(otherwise, inside.rows ? block(If{*inside.rows, some, {}}) : some);
    }
    const auto all_inside = both(inside.rows, inside.columns);
    taps = all_inside ? block(If{*all_inside, all, otherwise}) : all;
  } else {
    const Expr column = var(x) + var(s) * conv.dilation_w;
    const Expr target = to + (var(r) * conv.s + var(s)) * channels.now;
    Block all = copy.move(pixel_at(column), target, channels.now, channels.most);
    const auto inside = pixel_inside(conv, row, column, conv.out_h(), conv.out_w());
    if (inside) all = block(If{*inside, all, block(copy.clear(target, channels.now, channels.most))});
    taps = block(loop(s, conv.s, LoopKind::kSerial, all));
  }
  const Expr pixel = var(n.row) + var(i);
  const Expr rows = n.p.m % n.s.mr == 0 ? integer(n.s.mr) : min(integer(n.s.mr), integer(n.p.m) - var(n.row));
  Block of_pixel = block(Let{y, pixel / conv.out_w() * conv.stride_h - conv.pad_top},
                         Let{x, pixel % integer(conv.out_w()) * conv.stride_w - conv.pad_left},
                         loop(r, conv.r, LoopKind::kSerial, taps));
  return loop_to(tile, tiles, n.mc(),
                 block(Let{n.row, n.row_of(var(tile))}, loop_to(i, rows, n.s.mr, of_pixel)));
}

}  // namespace lehr
