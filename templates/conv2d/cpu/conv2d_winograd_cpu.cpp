// The loop nest of one work item:
//
//   for image / for blocks of rows of tiles
//     for vectors of input channels
//       gather the block's lines as [line][pixel][lane], with zeros around
//       transform the tiles into `v`, [tile][product][channel]: a matrix for each of the (m + 2)^2 products
//     for kb: blocks of panels of output channels
//       for each of these matrices: tiles x output channels += `v` times filters, into `sums`
//       for vectors of output channels, rows of tiles
//         transform the sums back into lines as [line][pixel][lane], and store them in y
//
// A vector holds neighbouring channels, both in the transforms and in the products. The filters are packed as
// [product][panel][input channel][output channel of the panel].
#include "templates/conv2d/cpu/conv2d_winograd_cpu.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "templates/conv2d/cpu/conv2d_winograd_cpu_filters.h"
#include "templates/conv2d/cpu/conv2d_winograd_cpu_space.h"
#include "templates/family.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/lines_cpu.h"
#include "templates/shared/pool_cpu.h"
#include "templates/shared/register_tile.h"
#include "templates/shared/winograd.h"

namespace lehr {
namespace {

using namespace ir;

constexpr const char* kFamily = "conv2d_winograd_cpu";
constexpr std::int64_t kLargestTile = 4;

class Lowering {
 public:
  Lowering(const Workload& workload, const WinogradCpuSchedule& schedule)
      : conv_(pooled_part(workload.conv2d(), workload.epilogue)),
        window_(window_of(workload.epilogue)),
        size_(output_size(workload.conv2d(), workload.epilogue)),
        s_(schedule),
        shape_(winograd_cpu_shape(conv_, s_)),
        algorithm_(winograd(s_.tile)) {
    const Conv2d& conv = conv_;
    b_.kernel.name = kFamily;
    b_.kernel.target = Target::kCpu;
    x_ = b_.param("x", DType::kF32, conv.n * conv.c * conv.h * conv.w, Direction::kIn);
    f_ = b_.param("f", DType::kF32, conv.k * conv.products(), Direction::kIn);
    y_ = b_.param("y", DType::kF32, conv.n * conv.k * size_.height * size_.width, Direction::kOut);
    epilogue_ = FusedEpilogue(b_, workload);
    u_ = b_.param("u", DType::kF32, products() * shape_.panels * conv.c * shape_.nr, Direction::kPrepacked);
    const auto scratch = [&](std::string_view name, std::int64_t elements) {
      return b_.buffer(name, DType::kF32, Scope::kScratch, elements);
    };
    pixels_ = scratch("pixels", shape_.lines_in * shape_.width_in * s_.lanes);
    v_ = scratch("v", shape_.tiles() * tile_stride(shape_.channels));
    sums_ = scratch("sums", shape_.tiles() * tile_stride(block_channels()));
    out_ = scratch("out", s_.tile * out_width() * s_.lanes);
    if (!nhwc()) y_lines_ = scratch("y_lines", s_.lanes * cpu::ChannelSums::line_room(size_.width, s_.lanes));
    b_.make_vars({{part_, "task_index"},
                  {image_, "image"},
                  {block_, "block"},
                  {first_row_, "first_row"},
                  {kb_, "kb"},
                  {first_panel_, "first_panel"},
                  {row_, "row"},
                  {column_, "column"}});
  }

  Kernel kernel() {
    const VarId vector = b_.var("in_vector");
    Block of_channels =
        block(Let{first_panel_, begin_of(s_.split == 1, shape_.panels) + var(kb_) * shape_.block_panels},
              multiply(), transform_outputs());
    Block body =
        block(Let{first_row_, begin_of(s_.split == 0, shape_.rows) + var(block_) * shape_.block_rows},
              loop(vector, shape_.channels / s_.lanes, LoopKind::kSerial,
                   block(gather(var(vector) * s_.lanes), transform_inputs(var(vector) * s_.lanes))),
              loop(kb_, ceil_div(shape_.owned_panels, shape_.block_panels), LoopKind::kSerial, of_channels));
    body = block(loop(block_, ceil_div(shape_.owned_rows, shape_.block_rows), LoopKind::kSerial, body));
    body = cpu::over_items(conv_.n, s_.split == 2, image_, part_, body);
    // The padding to the left and right of the image stays zero: nothing else is written there.
    body.push_front(
        cpu::clear_line(b_, pixels_, integer(0), shape_.lines_in * shape_.width_in * s_.lanes, s_.lanes));
    if (!nhwc()) body.push_front(Alloc{y_lines_});
    for (const BufferId buffer : {out_, sums_, v_, pixels_}) body.push_front(Alloc{buffer});
    const std::int64_t work_items = s_.split == 2 ? conv_.n : s_.threads;
    b_.kernel.body = block(loop(part_, work_items, LoopKind::kParallel, body));
    b_.kernel.prepack = winograd_filters(b_, conv_, shape_, algorithm_, f_, u_);
    return std::move(b_.kernel);
  }

 private:
  bool nhwc() const { return conv_.layout == ImageLayout::kNhwc; }
  int lanes() const { return static_cast<int>(s_.lanes); }
  std::int64_t inputs() const { return algorithm_.inputs(); }
  std::int64_t products() const { return algorithm_.products(); }
  std::int64_t block_channels() const { return shape_.block_panels * shape_.nr; }
  /// Returns the elements from one tile to the next, with `channels` channels per product. It adds a cache
  /// line, because tiles that are a power of two apart would share few of the cache's sets.
  std::int64_t tile_stride(std::int64_t channels) const { return products() * channels + cpu::kLineFloats; }
  Expr tile_now() const { return var(row_) * shape_.columns + var(column_); }
  /// Returns the number of pixels in a line of whole tiles.
  std::int64_t out_width() const { return shape_.columns * s_.tile; }
  Expr image() const { return conv_.n == 1 ? integer(0) : var(image_); }

  /// Returns where the work item's part of `all` begins; 0 if the work items do not divide it.
  Expr begin_of(bool shared, std::int64_t all) const {
    return shared ? cpu::first_tile(var(part_), all, s_.threads) : integer(0);
  }
  Expr end_of(bool shared, std::int64_t all) const {
    return shared ? cpu::first_tile(var(part_) + 1, all, s_.threads) : integer(all);
  }
  /// Returns how many of the `most` elements of a block, from `first` on, belong to the work item.
  Expr now(bool shared, std::int64_t all, std::int64_t most, VarId first) const {
    const bool even = shared ? all % (s_.threads * most) == 0 : all % most == 0;
    if (even) return integer(most);
    return max(min(integer(most), end_of(shared, all) - var(first)), integer(0));
  }
  Expr rows_now() const { return now(s_.split == 0, shape_.rows, shape_.block_rows, first_row_); }
  Expr panels_now() const { return now(s_.split == 1, shape_.panels, shape_.block_panels, first_panel_); }

  Stmt store_vector(BufferId to, Expr index, Expr value, std::optional<Expr> active = std::nullopt) const {
    return Store{to, index, value, lanes(), active};
  }
  BufferId vectors(std::string_view name, std::int64_t count) {
    return b_.buffer(name, DType::kF32, Scope::kRegister, count * s_.lanes, lanes());
  }
  Stmt over_tiles(Block body) const {
    return loop_to(row_, rows_now(), shape_.block_rows,
                   block(loop(column_, shape_.columns, LoopKind::kSerial, body)));
  }

  /// Computes matrix T matrix^T for the inputs x inputs vectors of T at `at`. `put` stores element (i, j) of
  /// the result.
  Block both_sides(const Winograd::Matrix& matrix, BufferId from,
                   const std::function<Expr(std::int64_t i, std::int64_t j)>& at,
                   const std::function<Stmt(std::int64_t i, std::int64_t j, Expr value)>& put) {
    const auto outputs = static_cast<std::int64_t>(matrix.size());
    const BufferId half = vectors("half", outputs * inputs());
    Block result = block(Alloc{half});
    for (std::int64_t j = 0; j < inputs(); ++j) {
      const BufferId column = vectors("of_column", inputs());
      result.push_back(Alloc{column});
      for (std::int64_t i = 0; i < inputs(); ++i)
        result.push_back(store_vector(column, integer(i * s_.lanes), load(from, at(i, j), lanes())));
      for (std::int64_t i = 0; i < outputs; ++i)
        result.push_back(
            store_vector(half, integer((i * inputs() + j) * s_.lanes),
                         combine(
                             matrix[static_cast<std::size_t>(i)],
                             [&](std::size_t q) {
                               return load(column, integer(static_cast<std::int64_t>(q) * s_.lanes), lanes());
                             },
                             lanes())));
    }
    for (std::int64_t i = 0; i < outputs; ++i)
      for (std::int64_t j = 0; j < outputs; ++j)
        result.push_back(put(i, j,
                             combine(
                                 matrix[static_cast<std::size_t>(j)],
                                 [&](std::size_t q) {
                                   const std::int64_t of = i * inputs() + static_cast<std::int64_t>(q);
                                   return load(half, integer(of * s_.lanes), lanes());
                                 },
                                 lanes())));
    return result;
  }

  // ---- inputs ----

  /// Gathers vectors of channels, from `channel` on, for all lines that the block's tiles read.
  Stmt gather(const Expr& channel) {
    const VarId line = b_.var("in_line"), y = b_.var("in_y"), x = b_.var("in_x");
    const std::int64_t covered = std::clamp<std::int64_t>(shape_.width_in - conv_.pad_left, 0, conv_.w);
    const Expr left = integer(conv_.c) - channel;
    const Expr target = var(line) * (shape_.width_in * s_.lanes) + conv_.pad_left * s_.lanes;
    Block copy;
    if (nhwc()) {
      const Expr from = ((image() * conv_.h + var(y)) * conv_.w + var(x)) * conv_.c + channel;
      Expr value = conv_.c % s_.lanes == 0 ? load(x_, from, lanes()) : load_active(x_, from, lanes(), left);
      copy = block(loop(x, covered, LoopKind::kSerial,
                        block(store_vector(pixels_, target + var(x) * s_.lanes, value))));
    } else if (covered > 0) {
      cpu::Transposition t;
      t.from = x_;
      t.to = pixels_;
      t.lanes = s_.lanes;
      t.from_stride = conv_.h * conv_.w;
      t.to_stride = s_.lanes;
      t.source = ((image() * conv_.c + channel) * conv_.h + var(y)) * conv_.w;
      t.target = target;
      t.rows = left;
      t.most_rows = s_.lanes;
      t.columns = integer(covered);
      t.most_columns = covered;
      copy = block(cpu::transpose(b_, t));
    }
    Block clear = block(cpu::clear_line(b_, pixels_, var(line) * (shape_.width_in * s_.lanes),
                                        shape_.width_in * s_.lanes, s_.lanes));
    const Expr is_inside = logical_and(le(integer(0), var(y)), lt(var(y), integer(conv_.h)));
    return loop(
        line, shape_.lines_in, LoopKind::kSerial,
        block(Let{y, var(first_row_) * s_.tile + var(line) - conv_.pad_top}, If{is_inside, copy, clear}));
  }
  /// Computes B^T d B of each tile.
  Stmt transform_inputs(const Expr& channel) {
    const auto at = [&](std::int64_t i, std::int64_t j) {
      return ((var(row_) * s_.tile + i) * shape_.width_in + var(column_) * s_.tile + j) * s_.lanes;
    };
    return over_tiles(
        both_sides(algorithm_.input, pixels_, at, [&](std::int64_t i, std::int64_t j, Expr value) {
          const Expr first = tile_now() * tile_stride(shape_.channels) + channel;
          return store_vector(v_, first + (i * inputs() + j) * shape_.channels, value);
        }));
  }

  // ---- products ----

  Stmt multiply() {
    const std::int64_t full = shape_.tiles() / s_.mr, tail = shape_.tiles() % s_.mr;
    const std::int64_t most = ceil_div(shape_.tiles(), s_.mr);
    const VarId product = b_.var("product"), panel = b_.var("panel"), it = b_.var("it");
    Block inner, edge;
    if (full > 0) inner = micro_kernel(s_.mr, product, panel, it);
    if (tail > 0) edge = micro_kernel(tail, product, panel, it);
    Block body = cpu::by_tile(var(it), full, tail, inner, edge);
    const Expr used = (rows_now() * shape_.columns + (s_.mr - 1)) / s_.mr;
    const auto over_panels = [&](Block b) { return loop_to(panel, panels_now(), shape_.block_panels, b); };
    Stmt all = s_.order == 0 ? loop_to(it, used, most, block(over_panels(body)))
                             : over_panels(block(loop_to(it, used, most, body)));
    return loop(product, products(), LoopKind::kSerial, block(all));
  }
  /// Multiplies `rows` tiles by a panel, over all input channels. In a short block, tiles after the last one
  /// have undefined contents.
  Block micro_kernel(std::int64_t rows, VarId product, VarId panel, VarId it) {
    cpu::RegisterTile tile(b_, rows, shape_.nr, s_.lanes);
    const VarId c = b_.var("c");
    const auto at = [&](std::int64_t channels) {
      return (var(it) * s_.mr + tile.row()) * tile_stride(channels) + var(product) * channels;
    };
    const Expr filters = (var(product) * shape_.panels + var(first_panel_) + var(panel)) * conv_.c + var(c);
    Block step = tile.step(
        b_, u_, [&](Expr column) { return filters * shape_.nr + column; }, false,
        load(v_, at(shape_.channels) + var(c)));
    if (s_.prefetch == 1) {
      // All consecutive micro-kernels with the same panel prefetch an equal part of the next panel.
      const std::int64_t sharers = s_.order == 0 ? 1 : ceil_div(shape_.tiles(), s_.mr);
      const std::int64_t share = ceil_div(shape_.nr, sharers);
      const Expr number = s_.order == 0 ? integer(0) : var(it);
      const Expr next = (filters - var(c) + conv_.c) * shape_.nr;
      step.push_back(tile.prefetch_b(u_, ceil_div(share, cpu::kLineFloats), [&](Expr column) {
        return next + (number * conv_.c + var(c)) * share + column;
      }));
    }
    return block(tile.allocate(), tile.clear(), loop(c, conv_.c, LoopKind::kSerial, step),
                 tile.store_c(sums_, [&](Expr column) {
                   return at(block_channels()) + var(panel) * shape_.nr + column;
                 }));
  }

  // ---- outputs ----

  /// Computes A^T m A of each tile, in vectors of output channels.
  Stmt transform_outputs() {
    const VarId vector = b_.var("out_vector"), channel = b_.var("channel");
    const auto at = [&](std::int64_t i, std::int64_t j) {
      return tile_now() * tile_stride(block_channels()) + var(vector) * s_.lanes +
             (i * inputs() + j) * block_channels();
    };
    Block tiles = both_sides(algorithm_.output, sums_, at, [&](std::int64_t i, std::int64_t j, Expr value) {
      return store_vector(out_, (var(column_) * s_.tile + (i * out_width() + j)) * s_.lanes, value);
    });
    Block of_row = block(loop(column_, shape_.columns, LoopKind::kSerial, tiles));
    if (window_ > 1) of_row.push_back(pool(channel));
    if (window_ == 1 || !nhwc()) of_row.push_back(write(channel));
    Expr used = panels_now() * s_.nv;
    if (conv_.k % shape_.nr != 0)
      used = min(used, (integer(conv_.k + s_.lanes - 1) - var(first_panel_) * shape_.nr) / s_.lanes);
    return loop_to(vector, used, shape_.block_panels * s_.nv,
                   block(Let{channel, var(first_panel_) * shape_.nr + var(vector) * s_.lanes},
                         loop_to(row_, rows_now(), shape_.block_rows, of_row)));
  }
  /// Returns the number of output lines that a row of tiles makes.
  std::int64_t lines_out() const { return s_.tile / window_; }
  Expr first_line() const { return (var(first_row_) + var(row_)) * lines_out(); }
  std::optional<Expr> left_from(VarId channel) const {
    if (conv_.k % s_.lanes == 0) return std::nullopt;
    return integer(conv_.k) - var(channel);
  }
  /// Pools the outputs: with nhwc into y, otherwise in place of the sums.
  Stmt pool(VarId channel) {
    cpu::PooledSums pooled;
    pooled.sums = out_;
    pooled.to = nhwc() ? y_ : out_;
    pooled.masked = nhwc();
    pooled.channels = s_.lanes;
    pooled.lanes = s_.lanes;
    pooled.first_channel = var(channel);
    pooled.active = left_from(channel).value_or(integer(s_.lanes));
    const std::int64_t most = lines_out();
    pooled.lines =
        size_.height % most == 0 ? integer(most) : min(integer(most), integer(size_.height) - first_line());
    pooled.most_lines = most;
    pooled.width = size_.width;
    pooled.line_stride = out_width();
    pooled.target = [&](const Expr& line, const Expr& pixel) {
      if (!nhwc()) return (line * size_.width + pixel) * s_.lanes;
      return ((image() * size_.height + first_line() + line) * size_.width + pixel) * conv_.k + var(channel);
    };
    return cpu::pool_sums(b_, pooled, epilogue_);
  }
  /// Writes the lines of a row of tiles, for a vector of output channels from `channel` on.
  Stmt write(VarId channel) {
    const VarId line = b_.var("out_line"), y = b_.var("out_y");
    const Expr from = var(line) * ((window_ > 1 ? size_.width : out_width()) * s_.lanes);
    const std::optional<Expr> left = left_from(channel);
    Block move = nhwc() ? block(write_pixels(channel, y, from, left)) : write_lines(channel, y, from, left);
    if (size_.height % lines_out() != 0) move = block(If{lt(var(y), integer(size_.height)), move, {}});
    move.push_front(Let{y, first_line() + var(line)});
    return loop(line, lines_out(), LoopKind::kSerial, move);
  }
  Stmt write_pixels(VarId channel, VarId y, const Expr& from, const std::optional<Expr>& left) {
    const VarId x = b_.var("out_x");
    const Expr to = ((image() * conv_.out_h() + var(y)) * conv_.out_w() + var(x)) * conv_.k + var(channel);
    Expr value =
        epilogue_.of(load(out_, from + var(x) * s_.lanes, lanes()), {var(channel), true, to, lanes(), left});
    return loop(x, conv_.out_w(), LoopKind::kSerial, block(store_vector(y_, to, value, left)));
  }
  Block write_lines(VarId channel, VarId y, const Expr& from, const std::optional<Expr>& left) {
    cpu::ChannelSums sums;
    sums.sums = out_;
    sums.lines = y_lines_;
    sums.to = y_;
    sums.lanes = s_.lanes;
    sums.source = from;
    sums.stride = s_.lanes;
    sums.pixels = integer(size_.width);
    sums.most_pixels = size_.width;
    sums.channels = left ? min(integer(s_.lanes), *left) : integer(s_.lanes);
    sums.most_channels = s_.lanes;
    sums.first_channel = var(channel);
    sums.target = [&](const Expr& k) {
      return ((image() * conv_.k + k) * size_.height + var(y)) * size_.width;
    };
    sums.finish = [&](Expr of_channel, const EpiloguePlace& place) {
      return window_ > 1 ? of_channel : epilogue_.of(of_channel, place);
    };
    return cpu::store_by_channel(b_, sums);
  }

  Conv2d conv_;  ///< without the outputs that a pool drops
  std::int64_t window_ = 1;
  ImageSize size_;
  WinogradCpuSchedule s_;
  WinogradCpuShape shape_;
  const Winograd& algorithm_;
  KernelBuilder b_;
  FusedEpilogue epilogue_;
  BufferId x_{}, f_{}, y_{}, u_{}, pixels_{}, v_{}, sums_{}, out_{}, y_lines_{};
  VarId part_{}, image_{}, block_{}, first_row_{}, kb_{}, first_panel_{}, row_{}, column_{};
};

Kernel lower_winograd(const Workload& workload, const WinogradCpuSchedule& schedule, const Limits&) {
  return Lowering(workload, schedule).kernel();
}

std::optional<std::string> why_not(const Workload& workload, const Limits&) {
  if (auto reason = cpu::why_not_cpu(workload)) return reason;
  if (!winograd_applies(workload.conv2d())) return "made for 3x3 filters without stride, dilation and groups";
  if (kLargestTile % window_of(workload.epilogue) != 0)
    return "its tiles of 2 x 2 and 4 x 4 hold no such windows";
  return std::nullopt;
}

}  // namespace

Template conv2d_winograd_cpu_template() {
  return family<"conv2d_winograd_cpu", winograd_cpu_knobs, winograd_cpu_wanted, lower_winograd>(
      {.version = 3,
       .target = Target::kCpu,
       .why_not = why_not,
       .op = Operator::kConv2d,
       .pools = ServedPools::kApart,
       .is_winograd = true});
}

}  // namespace lehr
