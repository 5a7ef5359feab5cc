// The loop nest of one work item:
//
//   nchw: for planes of the output / for blocks of tiles of lines
//   nhwc: for images / for blocks of tiles of lines / for vectors of channels
//           copy the lines of the input that the block needs, padded (nchw: by phase of the stride)   (copy)
//           for tiles of lines / for tiles of columns -> micro-kernel: rows x cols accumulators
//
// The padding in the copy is cleared once per work item, and lines outside of the image once per block.
// Without a copy, tiles at the margins check for each vector whether it exists. Outputs of a tile after the
// last line are computed and dropped. With dot products, for each column that a tile reads, four lines of the
// input are put side by side. The filters are packed beforehand in the same order, with zeros where a line
// has no tap.
#include "templates/conv2d/cpu/conv2d_depthwise_cpu.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "templates/conv2d/cpu/conv2d_depthwise_cpu_space.h"
#include "templates/family.h"
#include "templates/shared/conv_view.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/lines_cpu.h"

namespace lehr {
namespace {

using namespace ir;

constexpr const char* kFamily = "conv2d_depthwise_cpu";

class Lowering {
 public:
  Lowering(const Workload& workload, const DepthwiseCpuSchedule& schedule, const Limits& limits)
      : view_(cpu::conv_view(workload)),
        conv_(view_.conv),
        s_(schedule),
        form_(dots() ? *cpu::dot_form(workload, limits) : *cpu::widening_form(workload)),
        shape_(depthwise_cpu_shape(conv_, s_)) {
    const Conv2d& conv = conv_;
    b_.kernel.name = kFamily;
    b_.kernel.target = Target::kCpu;
    x_ = b_.param("x", conv.input, conv.n * conv.c * conv.h * conv.w, Direction::kIn);
    f_ = b_.param("f", conv.filter, view_.filter_elements(), Direction::kIn);
    y_ = b_.param("y", conv.output, conv.n * conv.k * conv.out_h() * conv.out_w(), Direction::kOut);
    correction_ = cpu::correction_of(b_, workload, form_);
    zero_ = correction_.zero;
    epilogue_ = FusedEpilogue(b_, workload);
    dots() ? dot_buffers() : buffers();
    b_.make_vars({{part_, "task_index"},
                  {image_, "image"},
                  {unit_, "unit"},
                  {block_, "block"},
                  {tile_, "tile"},
                  {column_tile_, "column_tile"},
                  {line_, "line"},
                  {channel_, "channel"},
                  {i_, "i"},
                  {j_, "j"}});
  }

  Kernel kernel() {
    Block body = dots() ? others() : first_scratch();
    body.push_back(nest());
    b_.kernel.body = block(loop(part_, s_.threads, LoopKind::kParallel, body));
    return std::move(b_.kernel);
  }

 private:
  void buffers() {
    if (zero_) zeros_ = vectors("x_zero_reg", 1);
    if (copies()) lines_ = b_.buffer("x_lines", DType::kF32, Scope::kScratch, shape_.copy_elements());
    if (shape_.nhwc) panel_ = b_.buffer("f_panel", DType::kF32, Scope::kScratch, owned_units() * filter());
    if (s_.hold != 0) held_ = vectors("f_reg", taps());
    acc_ = vectors("acc", s_.rows * s_.cols);
    in_ = vectors("x_reg", s_.cols);
  }
  void dot_buffers() {
    quads_ = depthwise_quads(conv_, s_.rows);
    u_ = b_.param("u", form_.second_panel, shape_.units * std::ssize(quads_) * conv_.s * quad(),
                  Direction::kPrepacked);
    if (correction_.needed())
      u_sums_ = b_.param("u_sums", DType::kS32, shape_.units * s_.lanes, Direction::kPrepacked);
    others_ = b_.buffer("x_others", conv_.input, Scope::kScratch, s_.lanes);
    acc_ = b_.buffer("acc", DType::kS32, Scope::kRegister, s_.rows * s_.cols * s_.lanes, width());
    if (starts()) start_ = b_.buffer("first_sums", DType::kS32, Scope::kRegister, s_.lanes, width());
    in_ = b_.buffer("x_reg", form_.first_panel, Scope::kRegister, quad(), static_cast<int>(quad()));
    b_.kernel.prepack = pack_quads();
  }

  /// Returns a vector of pixels outside of the image.
  Block others() const {
    const Expr zero = zero_ ? load(*zero_, integer(0)) : cast(conv_.input, integer(0));
    return block(Alloc{others_}, Store{others_, integer(0), splat(zero, width()), width(), std::nullopt});
  }
  Block first_scratch() {
    Block body;
    if (zero_)
      append(body, block(Alloc{zeros_},
                         Store{zeros_, integer(0), splat(zero_point(), width()), width(), std::nullopt}));
    if (copies()) body.push_back(Alloc{lines_});
    if (shape_.nhwc) body.push_back(Alloc{panel_});
    if (copies()) body.push_back(cpu::clear_line(b_, lines_, integer(0), shape_.copy_elements(), s_.lanes));
    if (shape_.nhwc) body.push_back(pack_filter());
    return body;
  }

  int width() const { return static_cast<int>(s_.lanes); }
  std::int64_t taps() const { return conv_.r * conv_.s; }
  /// Returns the number of elements of a packed filter, including taps that the view leaves out.
  std::int64_t filter() const { return view_.stored_taps * s_.lanes; }
  bool copies() const { return s_.copy != 0; }
  bool dots() const { return s_.taps == 2; }
  /// Returns whether sums of dot products begin with the contribution of zero points and offsets instead of
  /// 0.
  bool starts() const { return dots() && correction_.needed(); }
  Expr start() const {
    return correction_.corrected(zero(DType::kS32, width()), load(u_sums_, var(channel_), width()), width());
  }
  /// Returns the elements of a vector of four lines.
  std::int64_t quad() const { return 4 * s_.lanes; }
  bool by_channels() const { return s_.split == 0; }
  std::int64_t owned_units() const {
    return by_channels() ? ceil_div(shape_.units, s_.threads) : shape_.units;
  }
  BufferId vectors(const char* name, std::int64_t count) {
    return b_.buffer(name, DType::kF32, Scope::kRegister, count * s_.lanes, width());
  }

  Expr first_unit() const {
    return by_channels() ? cpu::first_tile(var(part_), shape_.units, s_.threads) : integer(0);
  }
  Expr units_now() const {
    if (!by_channels() || shape_.units % s_.threads == 0) return integer(owned_units());
    return cpu::first_tile(var(part_) + 1, shape_.units, s_.threads) - first_unit();
  }
  Expr first_tile() const {
    return by_channels() ? integer(0) : cpu::first_tile(var(part_), shape_.row_tiles, s_.threads);
  }
  Expr tiles_now() const {
    const bool even = by_channels() || shape_.row_tiles % s_.threads == 0;
    const Expr end = by_channels() ? integer(shape_.row_tiles)
                                   : cpu::first_tile(var(part_) + 1, shape_.row_tiles, s_.threads);
    return cpu::tiles_in_block(first_tile(), end, shape_.owned, even, var(block_), shape_.block);
  }
  std::int64_t blocks() const { return ceil_div(shape_.owned, shape_.block); }
  Expr image() const { return conv_.n == 1 ? integer(0) : var(image_); }
  /// For nhwc: returns the number of channels that exist from the unit's first channel on; nullopt if all
  /// lanes exist.
  std::optional<Expr> channels_left() const {
    if (!shape_.nhwc || conv_.k % s_.lanes == 0) return std::nullopt;
    return integer(conv_.k) - var(channel_);
  }

  Stmt nest() {
    Block inner;
    if (copies()) inner = copy_in();
    inner.push_back(
        loop_to(tile_, tiles_now(), shape_.block,
                block(loop(column_tile_, shape_.column_tiles, LoopKind::kSerial, micro_kernel()))));
    // Line of the output.
    const Stmt let_line = Let{line_, (first_tile() + var(block_) * shape_.block) * s_.rows};
    const auto over_blocks = [&](Block body) {
      body.push_front(let_line);
      return loop(block_, blocks(), LoopKind::kSerial, body);
    };
    const auto over_units = [&](Block body) {
      Block whole = block(Let{channel_, shape_.nhwc ? (first_unit() + var(unit_)) * s_.lanes
                                                    : (first_unit() + var(unit_)) % integer(conv_.k)});
      if (starts())
        append(whole, block(Alloc{start_}, Store{start_, integer(0), start(), width(), std::nullopt}));
      if (s_.hold != 0) append(whole, hold_filter());
      append(whole, body);
      return loop_to(unit_, units_now(), owned_units(), whole);
    };
    if (!shape_.nhwc) return over_units(block(over_blocks(inner)));
    Stmt of_image = over_blocks(block(over_units(inner)));
    return conv_.n == 1 ? of_image : loop(image_, conv_.n, LoopKind::kSerial, block(of_image));
  }

  Expr zero_point() const { return cast(DType::kF32, load(*zero_, integer(0))); }

  /// Packs the filters as f_panel[unit][tap][lane]. In memory the filters follow each other; here they become
  /// neighbouring lanes.
  Stmt pack_filter() {
    if (!form_.is_plain()) return widen_filter();
    cpu::Transposition t;
    t.from = f_;
    t.to = panel_;
    t.source = var(channel_) * view_.stored_taps;
    t.target = var(unit_) * filter();
    t.from_stride = view_.stored_taps;
    t.to_stride = s_.lanes;
    t.rows = integer(conv_.k) - var(channel_);
    t.most_rows = s_.lanes;
    t.columns = integer(view_.stored_taps);
    t.most_columns = view_.stored_taps;
    t.lanes = s_.lanes;
    return loop_to(unit_, units_now(), owned_units(),
                   block(Let{channel_, (first_unit() + var(unit_)) * s_.lanes}, cpu::transpose(b_, t)));
  }

  /// Does the same, element by element.
  Stmt widen_filter() {
    const VarId lane = b_.var("lane"), tap = b_.var("tap");
    const Expr channel = var(channel_) + var(lane);
    const Expr to = var(unit_) * filter() + var(tap) * s_.lanes + var(lane);
    const Expr from = load(f_, channel * view_.stored_taps + var(tap));
    const Stmt move = Store{panel_, to, form_.in_first_panel(from, 1), 1, std::nullopt};
    const Stmt clear = Store{panel_, to, zero(DType::kF32), 1, std::nullopt};
    const Block each = block(If{lt(channel, integer(conv_.k)), block(move), block(clear)});
    const Stmt filters =
        loop(lane, s_.lanes, LoopKind::kSerial, block(loop(tap, view_.stored_taps, LoopKind::kSerial, each)));
    return loop_to(unit_, units_now(), owned_units(),
                   block(Let{channel_, (first_unit() + var(unit_)) * s_.lanes}, filters));
  }

  /// Packs the filters as u[unit][quad][column of the filter][lane][line], and their sums as
  /// u_sums[unit][lane].
  Block pack_quads() {
    const VarId unit = b_.var("u_unit"), lane = b_.var("u_lane"), s = b_.var("u_s"), r = b_.var("u_r");
    const Expr channel = var(unit) * s_.lanes + var(lane), exists = lt(channel, integer(conv_.k));
    const auto filter = [&](const Expr& row) {
      return load(f_, channel * view_.stored_taps + view_.stored_tap(row, var(s)));
    };
    Block of_column;
    for (std::int64_t n = 0; n < std::ssize(quads_); ++n)
      for (std::int64_t e = 0; e < 4; ++e) {
        const std::int64_t tap = quads_[static_cast<std::size_t>(n)].tap(conv_, e);
        const Expr to =
            ((var(unit) * std::ssize(quads_) + n) * conv_.s + var(s)) * quad() + var(lane) * 4 + e;
        const auto put = [&](Expr value) {
          return block(Store{u_, to, form_.in_second_panel(std::move(value)), 1, std::nullopt});
        };
        const Block none = put(cast(conv_.filter, integer(0)));
        append(of_column, tap < 0 ? none : block(If{exists, put(filter(integer(tap))), none}));
      }
    Block of_lane;
    if (correction_.needed()) {
      of_lane.push_back(Store{u_sums_, channel, integer(0), 1, std::nullopt});
      const Expr sum = load(u_sums_, channel) + cast(DType::kS32, filter(var(r)));
      of_column.push_back(
          If{exists,
             block(loop(r, conv_.r, LoopKind::kSerial, block(Store{u_sums_, channel, sum, 1, std::nullopt}))),
             {}});
    }
    of_lane.push_back(loop(s, conv_.s, LoopKind::kSerial, of_column));
    return block(loop(unit, shape_.units, LoopKind::kParallel,
                      block(loop(lane, s_.lanes, LoopKind::kSerial, of_lane))));
  }

  Expr weight(const Expr& tap) const {
    const Expr stored = view_.stored_tap(tap);
    if (shape_.nhwc) return load(panel_, var(unit_) * filter() + stored * s_.lanes, width());
    return splat(form_.in_first_panel(load(f_, var(channel_) * view_.stored_taps + stored), 1), width());
  }
  Block hold_filter() {
    const VarId tap = b_.var("tap");
    return block(Alloc{held_},
                 loop(tap, taps(), LoopKind::kUnrolled,
                      block(Store{held_, var(tap) * s_.lanes, weight(var(tap)), width(), std::nullopt})));
  }

  Block copy_in() {
    const VarId y = b_.var("in_y"), row = b_.var("in_row");
    const Expr target = var(y) * shape_.line();
    Block inside = shape_.nhwc ? copy_channels(target, row) : copy_plane_line(target, row);
    Stmt one = If{logical_and(le(integer(0), var(row)), lt(var(row), integer(conv_.h))), inside,
                  block(cpu::clear_line(b_, lines_, target, shape_.line(), s_.lanes))};
    return block(loop(y, shape_.block_in, LoopKind::kSerial,
                      block(Let{row, var(line_) * conv_.stride_h + var(y) - conv_.pad_top}, one)));
  }
  Block copy_plane_line(const Expr& target, VarId row) {
    // With m filters per channel, plane p of the output reads plane p / m of the input.
    const Expr plane = (first_unit() + var(unit_)) / integer(conv_.k / conv_.c);
    cpu::Line line;
    line.from = x_;
    line.to = lines_;
    line.form = &form_;
    line.source = (plane * conv_.h + var(row)) * conv_.w;
    line.width = conv_.w;
    line.pad = conv_.pad_left;
    line.stride = conv_.stride_w;
    line.lanes = s_.lanes;
    line.phases = shape_.phases;
    if (zero_)
      line.zero = [this](int lanes) { return lanes == 1 ? zero_point() : load(zeros_, integer(0), lanes); };
    line.target = [&](const Expr& phase) { return target + phase * shape_.pitch; };
    return cpu::copy_line(b_, line);
  }
  Block copy_channels(const Expr& target, VarId row) {
    const VarId column = b_.var("in_x");
    const Expr from = ((image() * conv_.h + var(row)) * conv_.w + var(column)) * conv_.c + var(channel_);
    Expr value = input_at(from, channels_left());
    return block(loop(column, conv_.w, LoopKind::kSerial,
                      block(Store{lines_, target + (var(column) + conv_.pad_left) * s_.lanes, value, width(),
                                  std::nullopt})));
  }

  /// Returns where, in a line of the copy, the vector begins that output column `j` of the tile reads for
  /// filter column `s`.
  Expr column_at(const Expr& s) const {
    const Expr shift = s * conv_.dilation_w;
    if (shape_.nhwc)
      return var(column_tile_) * (s_.cols * conv_.stride_w * s_.lanes) +
             (var(j_) * conv_.stride_w + shift) * s_.lanes;
    return shift % integer(conv_.stride_w) * shape_.pitch + shift / integer(conv_.stride_w) +
           (var(column_tile_) * s_.cols + var(j_)) * s_.lanes;
  }
  Expr sum_at(const Expr& i) const { return i * (s_.cols * s_.lanes) + var(j_) * s_.lanes; }
  Stmt over_columns(Stmt body) const { return loop(j_, s_.cols, LoopKind::kUnrolled, block(body)); }
  /// Loads the vectors that the tile's columns read for filter column `s`, from line `tile_line` of the
  /// tile's input.
  Stmt load_inputs(const Expr& tile_line, const Expr& s, bool guarded) const {
    return over_columns(Store{in_, var(j_) * s_.lanes, input(tile_line, s, guarded), width(), std::nullopt});
  }
  Expr input(const Expr& tile_line, const Expr& s, bool guarded) const {
    if (copies()) {
      const Expr line = var(tile_) * (s_.rows * conv_.stride_h) + tile_line;
      return load(lines_, line * shape_.line() + column_at(s), width());
    }
    const Expr column =
        (var(column_tile_) * s_.cols + var(j_)) * conv_.stride_w + s * conv_.dilation_w - conv_.pad_left;
    const Expr at =
        ((image() * conv_.h + image_line(tile_line)) * conv_.w + column) * conv_.c + var(channel_);
    std::optional<Expr> active = channels_left();
    if (!guarded) return input_at(at, active);
    const Expr exists = logical_and(le(integer(0), column), lt(column, integer(conv_.w)));
    if (zero_) return select(exists, input_at(at, active), zero(DType::kF32, width()));
    return input_at(at, exists * (active ? *active : integer(s_.lanes)));
  }
  /// Returns a vector of the image, converted to f32.
  Expr input_at(const Expr& at, const std::optional<Expr>& active) const {
    const Expr stored = active ? load_active(x_, at, width(), *active) : load(x_, at, width());
    Expr value = form_.in_first_panel(stored, width());
    return zero_ ? std::move(value) - load(zeros_, integer(0), width()) : value;
  }
  /// For kernels without a copy: returns the line of the image that is line `tile_line` of the tile's input.
  Expr image_line(const Expr& tile_line) const {
    return (var(line_) + var(tile_) * s_.rows) * conv_.stride_h + tile_line - conv_.pad_top;
  }
  /// Returns `body`, executed only if the line exists in the image. Lines outside of it contribute nothing.
  Block if_line_exists(const Expr& tile_line, Block body) const {
    const std::int64_t last =
        (shape_.row_tiles * s_.rows - 1) * conv_.stride_h + (conv_.r - 1) * conv_.dilation_h - conv_.pad_top;
    if (copies() || (conv_.pad_top == 0 && last < conv_.h)) return body;
    const Expr line = image_line(tile_line);
    return block(If{logical_and(le(integer(0), line), lt(line, integer(conv_.h))), body, {}});
  }
  /// Returns the condition that all columns that the tile reads exist; nullopt if they exist for every tile.
  std::optional<Expr> columns_exist() const {
    const std::int64_t reach = (s_.cols - 1) * conv_.stride_w + (conv_.s - 1) * conv_.dilation_w;
    const std::int64_t step = s_.cols * conv_.stride_w;
    const bool all = conv_.pad_left == 0 && (shape_.column_tiles - 1) * step + reach < conv_.w;
    if (copies() || all) return std::nullopt;
    const Expr first = var(column_tile_) * step - conv_.pad_left;
    return logical_and(le(integer(0), first), lt(first + reach, integer(conv_.w)));
  }
  Stmt multiply_add(const Expr& i, const Expr& tap) const {
    Expr factor = s_.hold != 0 ? load(held_, tap * s_.lanes, width()) : weight(tap);
    return over_columns(Store{
        acc_, sum_at(i), fma(load(in_, var(j_) * s_.lanes, width()), factor, load(acc_, sum_at(i), width())),
        width(), std::nullopt});
  }

  Block micro_kernel() {
    Block body = block(Alloc{acc_});
    const Expr first =
        starts() ? load(start_, integer(0), width()) : zero(dots() ? DType::kS32 : DType::kF32, width());
    body.push_back(loop(i_, s_.rows, LoopKind::kUnrolled,
                        block(over_columns(Store{acc_, sum_at(var(i_)), first, width(), std::nullopt}))));
    if (dots()) body.push_back(Alloc{in_});
    const auto sums = [&](bool guarded) {
      return dots() ? of_quads(guarded) : s_.taps == 1 ? written_out(guarded) : looped(guarded);
    };
    if (const auto inside = dots() ? tile_exists() : columns_exist())
      body.push_back(If{*inside, sums(false), sums(true)});
    else
      append(body, sums(false));
    append(body, write());
    return body;
  }
  /// Returns the condition that all pixels that the tile reads lie in the image.
  std::optional<Expr> tile_exists() const {
    const std::int64_t reach = (s_.cols - 1) * conv_.stride_w + (conv_.s - 1) * conv_.dilation_w;
    const Expr line = image_line(integer(0)), column = image_column(0);
    return logical_and(logical_and(le(integer(0), line), lt(line + (shape_.tile_in - 1), integer(conv_.h))),
                       logical_and(le(integer(0), column), lt(column + reach, integer(conv_.w))));
  }
  /// Returns the image's column that is `offset` columns after the tile's first one.
  Expr image_column(std::int64_t offset) const {
    return var(column_tile_) * (s_.cols * conv_.stride_w) + (offset - conv_.pad_left);
  }
  /// Loads four lines of a column into x_reg, side by side.
  Stmt load_quad(std::int64_t first, std::int64_t offset, bool guarded) const {
    const Expr line = image_line(integer(first)), column = image_column(offset);
    const std::int64_t step = conv_.w * conv_.c, lines = std::min<std::int64_t>(4, shape_.tile_in - first);
    Expr begin = integer(0), end = integer(lines);
    if (guarded) {
      const Expr exists = logical_and(le(integer(0), column), lt(column, integer(conv_.w)));
      begin = integer(0) - line;
      end = exists * min(end, integer(conv_.h) - line);
    }
    const Expr at = ((image() * conv_.h + line) * conv_.w + column) * conv_.c + var(channel_);
    return Intrinsic{intrinsic_name(conv_.input == DType::kU8 ? "quads_u8" : "quads_s8"),
                     {Touch{in_, integer(0), quad(), true}, Touch{x_, at, 4 * s_.lanes, false, 4, step, true},
                      Touch{others_, integer(0), s_.lanes, false}},
                     {integer(step), begin, end, channels_left().value_or(integer(s_.lanes))},
                     0};
  }
  /// Walks over the tile's input column by column. Four lines at a time are put side by side once, for all
  /// outputs.
  Block of_quads(bool guarded) const {
    Block body;
    const int lanes = static_cast<int>(quad());
    std::set<std::int64_t> offsets;
    for (std::int64_t j = 0; j < s_.cols; ++j)
      for (std::int64_t s = 0; s < conv_.s; ++s) offsets.insert(j * conv_.stride_w + s * conv_.dilation_w);
    for (std::size_t begin = 0, end = 0; begin < quads_.size(); begin = end) {
      while (end < quads_.size() && quads_[end].first == quads_[begin].first) ++end;
      for (const std::int64_t offset : offsets) {
        body.push_back(load_quad(quads_[begin].first, offset, guarded));
        for (std::int64_t s = 0; s < conv_.s; ++s) {
          const std::int64_t behind = offset - s * conv_.dilation_w, j = behind / conv_.stride_w;
          if (behind < 0 || behind % conv_.stride_w != 0 || j >= s_.cols) continue;
          for (std::size_t n = begin; n < end; ++n) {
            const Expr of_unit = var(channel_) / s_.lanes * (std::ssize(quads_) * conv_.s);
            const Expr weight =
                load(u_, (of_unit + (static_cast<std::int64_t>(n) * conv_.s + s)) * quad(), lanes);
            const Expr sum = integer((quads_[n].row * s_.cols + j) * s_.lanes);
            body.push_back(Store{acc_, sum,
                                 fma(load(in_, integer(0), lanes), weight, load(acc_, sum, width())), width(),
                                 std::nullopt});
          }
        }
      }
    }
    return body;
  }
  /// Walks over the tile's input line by line. A vector is loaded once, for all output lines that need it.
  Block written_out(bool guarded) {
    const VarId s = b_.var("s");
    Block body;
    for (std::int64_t q = 0; q < shape_.tile_in; ++q) {
      Block of_tap = block(Alloc{in_}, load_inputs(integer(q), var(s), guarded));
      const std::size_t loads = of_tap.size();
      for (std::int64_t i = 0; i < s_.rows; ++i) {
        const std::int64_t below = q - i * conv_.stride_h;
        if (below < 0 || below % conv_.dilation_h != 0 || below / conv_.dilation_h >= conv_.r) continue;
        of_tap.push_back(multiply_add(integer(i), integer(below / conv_.dilation_h * conv_.s) + var(s)));
      }
      if (of_tap.size() == loads) continue;
      append(body, if_line_exists(integer(q), block(loop(s, conv_.s, LoopKind::kUnrolled, of_tap))));
    }
    return body;
  }
  Block looped(bool guarded) {
    const VarId r = b_.var("r"), s = b_.var("s");
    const Expr line = var(i_) * conv_.stride_h + var(r) * conv_.dilation_h;
    Block of_row = block(Alloc{in_}, load_inputs(line, var(s), guarded),
                         multiply_add(var(i_), var(r) * conv_.s + var(s)));
    return block(
        loop(r, conv_.r, LoopKind::kSerial,
             block(loop(s, conv_.s, LoopKind::kSerial,
                        block(loop(i_, s_.rows, LoopKind::kUnrolled, if_line_exists(line, of_row)))))));
  }

  Block write() {
    const Expr row = var(line_) + var(tile_) * s_.rows + var(i_);
    const Expr column = (var(column_tile_) * s_.cols + var(j_)) * (shape_.nhwc ? 1 : s_.lanes);
    const std::int64_t lines = conv_.out_h(), width_out = conv_.out_w();
    const Expr at = shape_.nhwc ? ((image() * lines + row) * width_out + column) * conv_.k + var(channel_)
                                : ((first_unit() + var(unit_)) * lines + row) * width_out + column;
    std::optional<Expr> active = channels_left();
    const bool whole = width_out % (s_.cols * (shape_.nhwc ? 1 : s_.lanes)) == 0;
    if (!shape_.nhwc && !whole) active = integer(width_out) - column;
    Expr sums = load(acc_, sum_at(var(i_)), width());
    if (!dots() && is_integer(conv_.accum)) sums = cast(conv_.accum, sums);  // exact
    Expr value = epilogue_.of(std::move(sums), {var(channel_), shape_.nhwc, at, width(), active});
    Stmt store = Store{y_, at, epilogue_.stored(value), width(), active};
    if (shape_.nhwc && !whole) store = If{lt(column, integer(width_out)), block(store), {}};
    store = over_columns(store);
    if (lines % s_.rows != 0) store = If{lt(row, integer(lines)), block(store), {}};
    return block(loop(i_, s_.rows, LoopKind::kUnrolled, block(store)));
  }

  ConvView view_;
  const Conv2d& conv_;
  DepthwiseCpuSchedule s_;
  const cpu::DotForm& form_;
  DepthwiseCpuShape shape_;
  KernelBuilder b_;
  FusedEpilogue epilogue_;
  cpu::Correction correction_;
  std::optional<BufferId> zero_;  ///< x's zero point
  std::vector<DepthwiseQuad> quads_;
  BufferId x_{}, f_{}, y_{}, lines_{}, panel_{}, held_{}, acc_{}, in_{}, zeros_{}, u_{}, u_sums_{}, others_{},
      start_{};
  VarId part_{}, image_{}, unit_{}, block_{}, tile_{}, column_tile_{}, line_{}, channel_{}, i_{}, j_{};
};

Kernel lower_conv2d_depthwise_cpu(const Workload& workload, const DepthwiseCpuSchedule& schedule,
                                  const Limits& limits) {
  return Lowering(workload, schedule, limits).kernel();
}

std::optional<std::string> why_not(const Workload& workload, const Limits&) {
  if (cpu::widening_form(workload) == nullptr)
    return "computes in f32, of f32, bf16, and u8 or s8 by s8 only";
  if (is_gated(workload.epilogue)) return kNoGate;
  const Conv2d conv = cpu::conv_view(workload).conv;
  if (conv.groups != conv.c) return "takes as many groups as input channels";
  if (conv.layout == ImageLayout::kNhwc && conv.k != conv.c)
    return "takes one filter a channel of nhwc images";
  if (is_integer(conv.input) && conv.r * conv.s > cpu::kMostExactProducts)
    return fmt::format("sums up integers of {} taps at most", cpu::kMostExactProducts);
  return std::nullopt;
}

}  // namespace

Template conv2d_depthwise_cpu_template() {
  return family<"conv2d_depthwise_cpu", depthwise_cpu_knobs, depthwise_cpu_wanted,
                lower_conv2d_depthwise_cpu>({.version = 4,
                                             .target = Target::kCpu,
                                             .why_not = why_not,
                                             .op = Operator::kConv2d,
                                             .reads = {"math", "zero"}});
}

}  // namespace lehr
