// The loop nest of one work item:
//
//   for image / for group / for blocks of output lines
//     copy the input lines that the block needs, padded at their ends; or leave them where they are
//     for jt: panels of output channels / for cb: blocks of input channels
//       for lines, tiles of pixels -> micro-kernel over the taps and the block's channels
//     pools: combine each window of the panel's sums, [pixel][output channel], to one value; the last windows
//     of a block may contain lines that the next block computes again
//     nchw: transpose the panel's sums into lines of y
//
// Taps above and below the image are skipped. The filters are stored in the order in which they are read:
// [group][panel][block of channels][step of the micro-kernel][output channel of the panel]. With nhwc, y
// holds the sums until the last block of input channels.
#include "templates/conv2d/cpu/conv2d_oc_cpu.h"

#include <algorithm>
#include <utility>

#include "templates/conv2d/cpu/conv2d_oc_cpu_copy.h"
#include "templates/conv2d/cpu/conv2d_oc_cpu_space.h"
#include "templates/family.h"
#include "templates/shared/conv_view.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/lines_cpu.h"
#include "templates/shared/pool_cpu.h"
#include "templates/shared/register_tile.h"

namespace lehr {
namespace {

using namespace ir;

constexpr const char* kFamily = "conv2d_oc_cpu";

/// The input as the micro-kernels read it: distances in elements between neighbouring lines, pixels and
/// channels.
struct Input {
  BufferId buffer{};
  Expr line = integer(0);  ///< index of the line that the first taps of the current output line read
  std::int64_t line_stride = 1, channel_stride = 1, pixel_stride = 1;
};

class Lowering {
 public:
  Lowering(const Workload& workload, const Conv2dOcSchedule& schedule, const cpu::DotForm& form)
      : view_(cpu::conv_view(workload)),
        conv_(view_.conv),
        s_(schedule),
        form_(form),
        windows_(windows_of(workload.epilogue)),
        shape_(conv2d_oc_shape(conv_, s_, windows_, form_)),
        out_{windows_.over(conv_.out_h()), windows_.over(conv_.out_w())} {
    const Conv2d& conv = conv_;
    b_.kernel.name = kFamily;
    b_.kernel.target = Target::kCpu;
    x_ = b_.param("x", conv.input, conv.n * conv.c * conv.h * conv.w, Direction::kIn);
    f_ = b_.param("f", conv.filter, view_.filter_elements(), Direction::kIn);
    y_ = b_.param("y", conv.output, conv.n * conv.k * out_.height * out_.width, Direction::kOut);
    correction_ = cpu::correction_of(b_, workload, form_);
    epilogue_ = FusedEpilogue(b_, workload);
    u_ = b_.param("u", form_.second_panel, conv.groups * shape_.panels * panel_elements(),
                  Direction::kPrepacked);
    if (correction_.needed())
      u_sums_ =
          b_.param("u_sums", DType::kS32, conv.groups * shape_.panels * shape_.nr, Direction::kPrepacked);
    if (s_.copy == 1)
      lines_ = b_.buffer("x_lines", form_.first_panel, Scope::kScratch, shape_.copy_elements + s_.lanes);
    if (keeps_sums()) sums_ = b_.buffer("sums", form_.sums, Scope::kScratch, shape_.sums_elements);
    if (shape_.pooled_elements > 0)
      pooled_ = b_.buffer("pooled", DType::kF32, Scope::kScratch, shape_.pooled_elements);
    if (!nhwc())
      y_lines_ = b_.buffer("y_lines", behind_pool_type(), Scope::kScratch,
                           shape_.nr * cpu::ChannelSums::line_room(most_pixels(), s_.lanes));
    b_.make_vars({{part_, "task_index"},
                  {image_, "image"},
                  {group_, "group"},
                  {block_, "block"},
                  {first_window_, "first_window"},
                  {line_, "line"},
                  {jt_, "jt"},
                  {panel_, "panel"},
                  {cb_, "cb"},
                  {y_in_block_, "y_line"},
                  {first_r_, "first_r"},
                  {it_, "it"}});
  }

  Kernel kernel() {
    Block of_panel = block(Let{panel_, first_panel() + var(jt_)},
                           loop(cb_, channel_blocks(), LoopKind::kSerial, block(tiles())));
    if (pools()) of_panel.push_back(pool());
    if (!nhwc()) {
      Block write = write_lines();
      append(of_panel, write);
    }
    Block of_block = first_lines();
    if (s_.copy == 1) of_block.push_back(copy_input(b_, copy()));
    of_block.push_back(loop_to(jt_, panels_now(), shape_.owned_panels, of_panel));
    Block body = block(loop(block_, ceil_div(shape_.owned_lines, shape_.lines), LoopKind::kSerial, of_block));
    body = cpu::over_items(conv_.groups, false, group_, part_, body);
    body = cpu::over_items(conv_.n, s_.split == 2, image_, part_, body);
    if (s_.copy == 1) {
      Block clear = clear_margins(b_, copy());
      append(clear, body);
      body = clear;
    }
    if (!nhwc()) body.push_front(Alloc{y_lines_});
    if (shape_.pooled_elements > 0) body.push_front(Alloc{pooled_});
    if (keeps_sums()) body.push_front(Alloc{sums_});
    if (s_.copy == 1) body.push_front(Alloc{lines_});
    const std::int64_t work_items = s_.split == 2 ? conv_.n : s_.threads;
    b_.kernel.body = block(loop(part_, work_items, LoopKind::kParallel, body));
    b_.kernel.prepack = pack_filters();
    return std::move(b_.kernel);
  }

 private:
  bool nhwc() const { return conv_.layout == ImageLayout::kNhwc; }
  bool pools() const { return windows_.window > 1; }
  /// Returns whether the sums have memory of their own; otherwise y holds them.
  bool keeps_sums() const { return !nhwc() || pools(); }
  /// Returns the maximum number of outputs of a block, after the pool.
  std::int64_t most_pixels() const { return shape_.lines / windows_.stride * out_.width; }
  Expr lines_out() const { return pools() ? lines_now() / windows_.stride : lines_now(); }
  int lanes() const { return static_cast<int>(s_.lanes); }
  std::int64_t channel_blocks() const { return ceil_div(shape_.channels, shape_.cc); }
  std::int64_t panel_elements() const {
    return shape_.channels * conv_.r * conv_.s * shape_.nr * form_.group;
  }
  std::int64_t tiles_of_line() const { return ceil_div(conv_.out_w(), s_.mr); }

  Expr image() const { return conv_.n == 1 ? integer(0) : var(image_); }
  Expr group() const { return conv_.groups == 1 ? integer(0) : var(group_); }
  Expr channels_from(const Expr& first) const {
    if (shape_.channels % shape_.cc == 0) return integer(shape_.cc);
    return min(integer(shape_.cc), integer(shape_.channels) - first);
  }
  Expr first_channel() const { return var(cb_) * shape_.cc; }
  std::pair<Expr, Expr> range(bool shared, std::int64_t count) const {
    if (!shared) return {integer(0), integer(count)};
    return {cpu::first_tile(var(part_), count, s_.threads),
            cpu::first_tile(var(part_) + 1, count, s_.threads)};
  }
  /// Defines the first lines of the block. Without a pool, or with windows apart, the first line of sums
  /// follows from that of y.
  Block first_lines() const {
    const Expr owned = range(s_.split == 0, out_.height).first;
    if (windows_.are_apart()) return block(Let{line_, owned * windows_.stride + var(block_) * shape_.lines});
    const Expr first = owned + var(block_) * (shape_.lines / windows_.stride);
    // Windows may begin outside of the image, but lines that are computed lie inside.
    const Expr line = max(var(first_window_) * windows_.stride - windows_.before, integer(0));
    return block(Let{first_window_, first}, Let{line_, min(line, integer(conv_.out_h()) - rows_of_block())});
  }
  /// Returns the line of y to which the block's first line goes.
  Expr first_line_out() const {
    if (!windows_.are_apart()) return var(first_window_);
    return pools() ? var(line_) / windows_.window : var(line_);
  }
  Expr lines_now() const {
    const auto [first, end] = range(s_.split == 0, out_.height);
    const bool even = s_.split != 0 || out_.height % s_.threads == 0;
    return cpu::tiles_in_block(first, end, shape_.owned_lines / windows_.stride, even, var(block_),
                               shape_.lines / windows_.stride) *
           windows_.stride;
  }
  /// Returns the number of lines of sums.
  Expr rows_of_block() const {
    if (windows_.are_apart()) return lines_now();
    return min(lines_now() + (windows_.window - windows_.stride), integer(conv_.out_h()));
  }
  Expr first_panel() const { return range(s_.split == 1, shape_.panels).first; }
  Expr panels_now() const {
    const auto [first, end] = range(s_.split == 1, shape_.panels);
    const bool even = s_.split != 1 || shape_.panels % s_.threads == 0;
    return cpu::tiles_in_block(first, end, shape_.owned_panels, even, integer(0), shape_.owned_panels);
  }

  // ---- input ----

  Input input() const {
    Input in;
    if (s_.copy == 1) {
      in.buffer = lines_;
      in.line_stride = shape_.width_in * shape_.channels * form_.group;
      in.channel_stride = (nhwc() ? 1 : shape_.width_in) * form_.group;
      in.pixel_stride = (nhwc() ? shape_.channels : 1) * form_.group;
      in.line = var(y_in_block_) * (conv_.stride_h / shape_.step_h) * in.line_stride;
    } else {
      in.buffer = x_;
      in.line_stride = nhwc() ? conv_.w * conv_.c : conv_.w;
      in.channel_stride = nhwc() ? 1 : conv_.h * conv_.w;
      in.pixel_stride = nhwc() ? conv_.c : 1;
      const Expr row = (var(line_) + var(y_in_block_)) * conv_.stride_h - conv_.pad_top;
      in.line = image() * (conv_.c * conv_.h * conv_.w) + group() * shape_.channels * in.channel_stride +
                row * in.line_stride;
    }
    return in;
  }

  OcCopy copy() const {
    return {.conv = conv_,
            .shape = shape_,
            .form = form_,
            .from = x_,
            .to = lines_,
            .lanes = s_.lanes,
            .image = image(),
            .group = group(),
            .line = var(line_),
            .padding = correction_.zero_in_panel(form_),
            .fills_lines = correction_.needed()};
  }

  // ---- filters ----

  /// Returns the number of a step of a micro-kernel (one tap and channel) in a block of `now` channels.
  Expr step(const Expr& now, const Expr& row, const Expr& tap, const Expr& channel) const {
    return s_.taps == 1 ? (row * now + channel) * conv_.s + tap : (row * conv_.s + tap) * now + channel;
  }
  /// Returns the number of elements of a step.
  std::int64_t step_elements() const { return shape_.nr * form_.group; }
  /// Returns where the filters of a panel begin for the block that begins at channel `first`.
  Expr filters_at(const Expr& of_group, const Expr& panel, const Expr& first) const {
    return (of_group * shape_.panels + panel) * panel_elements() +
           first * (conv_.r * conv_.s * step_elements());
  }
  // Here channels are counted one by one, including those that fill the last group.
  Block pack_filters() {
    const VarId work_item = b_.var("u_part"), c = b_.var("u_c"), r = b_.var("u_r"), s = b_.var("u_s"),
                column = b_.var("u_column"), k = b_.var("u_k");
    const std::int64_t channels = conv_.c / conv_.groups;
    const Expr of_group = var(work_item) / shape_.panels, panel = var(work_item) % shape_.panels;
    const Expr source = of_group * shape_.filters + var(k);
    const Expr from = view_.filter_element(source, var(c), view_.stored_tap(var(r), var(s)));
    const Expr channel = var(c) / form_.group, first = channel / shape_.cc * shape_.cc;
    const Expr to = filters_at(of_group, panel, first) +
                    step(channels_from(first), var(r), var(s), channel - first) * step_elements() +
                    var(column) * form_.group + var(c) % integer(form_.group);
    Block body = block(Store{u_, to, form_.in_second_panel(load(f_, from)), 1, std::nullopt});
    Expr exists = integer(1);
    if (shape_.filters % shape_.nr != 0) exists = lt(var(k), integer(shape_.filters));
    if (channels % form_.group != 0) exists = logical_and(exists, lt(var(c), integer(channels)));
    if (!as_constant(exists))
      body = block(If{exists, body, block(Store{u_, to, zero(form_.second_panel), 1, std::nullopt})});
    body.push_front(Let{k, panel * shape_.nr + var(column)});
    body = block(loop(column, shape_.nr, LoopKind::kSerial, body));
    body = block(loop(s, conv_.s, LoopKind::kSerial, body));
    body = block(loop(r, conv_.r, LoopKind::kSerial, body));
    body = block(loop(c, shape_.channels * form_.group, LoopKind::kSerial, body));
    const std::int64_t steps = shape_.channels * conv_.r * conv_.s;
    if (correction_.needed())
      body.push_back(cpu::sum_columns(b_, form_,
                                      {u_, u_sums_, var(work_item) * panel_elements(),
                                       var(work_item) * shape_.nr, shape_.nr, integer(steps), steps}));
    return block(loop(work_item, conv_.groups * shape_.panels, LoopKind::kParallel, body));
  }

  // ---- products ----

  Stmt tiles() {
    const std::int64_t full = conv_.out_w() / s_.mr, tail = conv_.out_w() % s_.mr;
    Block inner, edge;
    if (full > 0) inner = by_filters(s_.mr);
    if (tail > 0) edge = by_filters(tail);
    Stmt line =
        loop(it_, tiles_of_line(), LoopKind::kSerial, cpu::by_tile(var(it_), full, tail, inner, edge));
    return loop_to(y_in_block_, rows_of_block(), shape_.rows, block(Let{first_r_, first_row()}, line));
  }
  /// Sums in memory of their own have room for whole panels.
  Block by_filters(std::int64_t rows) {
    const std::int64_t full = keeps_sums() ? shape_.panels : shape_.filters / shape_.nr;
    const std::int64_t tail = keeps_sums() ? 0 : shape_.filters % shape_.nr;
    Block inner, edge;
    if (full > 0) inner = micro_kernel(rows, shape_.nr);
    if (tail > 0) edge = micro_kernel(rows, tail);
    return cpu::by_tile(var(panel_), full, tail, inner, edge);
  }

  /// Returns the number of lines of a filter that lie above line `lines` of the image, for the current output
  /// line.
  Expr rows_before(std::int64_t lines) const {
    const Expr down = (var(line_) + var(y_in_block_)) * conv_.stride_h;
    return min(
        integer(conv_.r),
        (max(integer(conv_.pad_top + lines) - down, integer(0)) + (conv_.dilation_h - 1)) / conv_.dilation_h);
  }
  // Lines that are filled with padding are multiplied, too.
  Expr first_row() const { return conv_.pad_top == 0 || correction_.needed() ? integer(0) : rows_before(0); }
  Expr rows_now() const {
    const bool whole =
        (conv_.out_h() - 1) * conv_.stride_h + (conv_.r - 1) * conv_.dilation_h < conv_.h + conv_.pad_top;
    if ((whole && conv_.pad_top == 0) || correction_.needed()) return integer(conv_.r);
    return max((whole ? integer(conv_.r) : rows_before(conv_.h)) - var(first_r_), integer(0));
  }

  /// Computes `rows` pixels x `columns` output channels, for the current block of input channels.
  Block micro_kernel(std::int64_t rows, std::int64_t columns) {
    cpu::RegisterTile tile(b_, rows, columns, s_.lanes, form_);
    const Expr channel = group() * shape_.filters + var(panel_) * shape_.nr;
    const BufferId out = keeps_sums() ? sums_ : y_;
    const auto out_at = [&](Expr column) {
      const Expr pixel = var(it_) * s_.mr + tile.row();
      if (keeps_sums()) return (var(y_in_block_) * conv_.out_w() + pixel) * shape_.nr + column;
      const Expr line = image() * conv_.out_h() + var(line_) + var(y_in_block_);
      return (line * conv_.out_w() + pixel) * conv_.k + channel + column;
    };
    Block result = block(tile.allocate());
    cpu::RegisterTile::At first;
    if (correction_.needed())
      first = [this](const Expr& column) {
        return correction_.corrected(zero(form_.sums, lanes()), sums_of_filters(column), lanes());
      };
    if (channel_blocks() == 1)
      result.push_back(tile.clear(first));
    else
      result.push_back(
          If{lt(var(cb_), integer(1)), block(tile.clear(first)), block(tile.load_c(out, out_at))});
    result.push_back(products(tile));
    const auto finish = [&](Expr sums, Expr column, std::optional<Expr> active) {
      const Expr at = out_at(column);
      if (keeps_sums()) return sums;
      return epilogue_.stored(epilogue_.of(sums, {channel + column, true, at, lanes(), active}));
    };
    const bool finishes = !keeps_sums() && !epilogue_.empty();
    if (channel_blocks() == 1 || !finishes)
      result.push_back(tile.store_c(out, out_at, finish));
    else
      result.push_back(If{lt(var(cb_), integer(channel_blocks() - 1)), block(tile.store_c(out, out_at)),
                          block(tile.store_c(out, out_at, finish))});
    return result;
  }
  /// Returns a vector of the current panel's sums, from `column` on.
  Expr sums_of_filters(const Expr& column) const {
    return load(u_sums_, (group() * shape_.panels + var(panel_)) * shape_.nr + column, lanes());
  }
  Stmt products(cpu::RegisterTile& tile) {
    const VarId r = b_.var("r"), c = b_.var("c"), s = b_.var("s");
    const Input in = input();
    const Expr row = var(first_r_) + var(r);
    const Expr pixel = (var(it_) * s_.mr + tile.row()) * (conv_.stride_w / shape_.step_w) +
                       var(s) * (conv_.dilation_w / shape_.step_w);
    const Expr value = load(in.buffer,
                            in.line + row * (conv_.dilation_h / shape_.step_h) * in.line_stride +
                                (first_channel() + var(c)) * in.channel_stride + pixel * in.pixel_stride,
                            static_cast<int>(form_.group));
    const Expr channels = channels_from(first_channel()), now = step(channels, row, var(s), var(c));
    const Expr first = filters_at(group(), var(panel_), first_channel());
    Block tap = tile.step(
        b_, u_, [&](Expr column) { return first + now * step_elements() + column * form_.group; }, false,
        value);
    if (s_.prefetch == 1) tap.push_back(prefetch(tile, first, channels * (conv_.r * conv_.s), now));
    Stmt line = s_.taps == 1
                    ? loop_to(c, channels, shape_.cc, block(loop(s, conv_.s, LoopKind::kUnrolled, tap)))
                    : loop(s, conv_.s, LoopKind::kSerial, block(loop_to(c, channels, shape_.cc, tap)));
    return loop_to(r, rows_now(), conv_.r, block(line));
  }
  /// Prefetches the next block. Each step of all micro-kernels of a block (`steps` each) prefetches an equal
  /// part.
  Stmt prefetch(cpu::RegisterTile& tile, const Expr& first, const Expr& steps, const Expr& now) {
    const std::int64_t share = ceil_div(shape_.nr, shape_.rows * tiles_of_line());
    const Expr kernel = var(y_in_block_) * tiles_of_line() + var(it_);
    return tile.prefetch_b(u_, ceil_div(share, cpu::kLineFloats), [&](Expr column) {
      return first + steps * step_elements() + (kernel * steps + now) * (share * form_.group) +
             column * form_.group;
    });
  }

  // ---- kept sums ----

  /// Returns the number of output channels of the panel.
  Expr channels_now() const {
    if (shape_.filters % shape_.nr == 0) return integer(shape_.nr);
    return min(integer(shape_.nr), integer(shape_.filters) - var(panel_) * shape_.nr);
  }
  /// Returns the type of the values that are transposed on the way to an nchw image.
  DType behind_pool_type() const { return pools() ? DType::kF32 : form_.sums; }
  /// Returns the buffer of the pooled values. With nchw they replace the sums, unless windows overlap or the
  /// sums are integers.
  BufferId behind_pool() const { return shape_.pooled_elements > 0 ? pooled_ : sums_; }
  Stmt pool() {
    cpu::PooledSums pooled;
    pooled.sums = sums_;
    pooled.to = nhwc() ? y_ : behind_pool();
    pooled.masked = nhwc();
    pooled.channels = shape_.nr;
    pooled.active = channels_now();
    pooled.lanes = s_.lanes;
    pooled.lines = lines_out();
    pooled.most_lines = shape_.lines / windows_.stride;
    pooled.width = out_.width;
    pooled.line_stride = conv_.out_w();
    pooled.image = {conv_.out_h(), conv_.out_w()};
    pooled.first_window = first_line_out();
    pooled.first_line = var(line_);
    pooled.first_channel = group() * shape_.filters + var(panel_) * shape_.nr;
    pooled.target = [&](const Expr& line, const Expr& pixel) {
      if (!nhwc()) return (line * out_.width + pixel) * shape_.nr;
      const Expr out_line = image() * out_.height + first_line_out() + line;
      return (out_line * out_.width + pixel) * conv_.k + pooled.first_channel;
    };
    return cpu::pool_sums(b_, pooled, epilogue_);
  }
  Block write_lines() {
    cpu::ChannelSums sums;
    sums.sums = behind_pool();
    sums.lines = y_lines_;
    sums.to = y_;
    sums.lanes = s_.lanes;
    sums.stride = shape_.nr;
    sums.type = behind_pool_type();
    sums.finish = [&](Expr of_channel, const EpiloguePlace& place) {
      return epilogue_.stored(pools() ? of_channel : epilogue_.of(of_channel, place));
    };
    sums.pixels = lines_out() * out_.width;
    sums.most_pixels = most_pixels();
    sums.channels = channels_now();
    sums.most_channels = shape_.nr;
    sums.first_channel = group() * shape_.filters + var(panel_) * shape_.nr;
    sums.target = [&](const Expr& channel) {
      return ((image() * conv_.k + channel) * out_.height + first_line_out()) * out_.width;
    };
    return cpu::store_by_channel(b_, sums);
  }

  ConvView view_;
  const Conv2d& conv_;
  Conv2dOcSchedule s_;
  const cpu::DotForm& form_;
  cpu::Correction correction_;
  PoolWindows windows_;
  Conv2dOcShape shape_;
  ImageSize out_;
  KernelBuilder b_;
  FusedEpilogue epilogue_;
  BufferId x_{}, f_{}, y_{}, u_{}, u_sums_{}, lines_{}, sums_{}, pooled_{}, y_lines_{};
  VarId part_{}, image_{}, group_{}, block_{}, first_window_{}, line_{}, jt_{}, panel_{}, cb_{},
      y_in_block_{}, first_r_{}, it_{};
};

Kernel lower_conv2d_oc_cpu(const Workload& workload, const Conv2dOcSchedule& schedule, const Limits& limits) {
  return Lowering(workload, schedule, *cpu::dot_form(workload, limits)).kernel();
}

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  if (auto reason = cpu::why_no_form(workload, limits)) return reason;
  if (is_gated(workload.epilogue)) return kNoGate;
  const Conv2d& conv = workload.conv2d();
  if (conv.groups > 1 && conv.groups == conv.c && conv.groups == conv.k)
    return "its vectors run across output channels of one group, and here a group has one";
  // conv2d_im2col_cpu has no gaps between a line's taps, and is faster: 162 us instead of 217 for 3 x 3 on
  // 224 x 224 x 3 in u8.
  if (conv.layout == ImageLayout::kNhwc && conv.groups == 1 && conv.c < 4 &&
      conv.c % cpu::dot_form(workload, limits)->group != 0 && window_of(workload.epilogue) == 1)
    return "would fill up the few channels of each pixel";
  return std::nullopt;
}

}  // namespace

Template conv2d_oc_cpu_template() {
  return family<"conv2d_oc_cpu", conv2d_oc_knobs, conv2d_oc_wanted, lower_conv2d_oc_cpu>(
      {.version = 4,
       .target = Target::kCpu,
       .why_not = why_not,
       .op = Operator::kConv2d,
       .pools = ServedPools::kAny,
       .reads = {"math", "zero"}});
}

}  // namespace lehr
