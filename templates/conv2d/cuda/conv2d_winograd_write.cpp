#include "templates/conv2d/cuda/conv2d_winograd_write.h"

#include <optional>
#include <utility>

#include "templates/shared/winograd_transform.h"

namespace lehr {
namespace {

using namespace ir;

class Writing {
 public:
  Writing(KernelBuilder& builder, const WinogradBlock& block, const FusedEpilogue& epilogue, bool keeps)
      : b_(builder), w_(block), s_(block.schedule), epilogue_(epilogue), keeps_(keeps) {
    outputs_ =
        b_.buffer("outputs", DType::kF32, Scope::kRegister, keeps ? winograd_kept(w_) : s_.tile * s_.tile);
    round_ = b_.var("round");
    item_ = b_.var("output");
  }

  BufferId outputs() const { return outputs_; }

  /// In each round all threads store their sums, and then each thread transforms the sums of its tiles and
  /// channels.
  Block rounds() {
    Block body = leave();
    body.push_back(Barrier{});
    Block item = transform();
    if (!keeps_) append(item, write_tile());
    append(body, each_item(item));
    body.push_back(Barrier{});
    return block(loop(round_, s_.rounds, LoopKind::kUnrolled, body));
  }

  Block write_kept() { return block(loop(round_, s_.rounds, LoopKind::kUnrolled, each_item(write_tile()))); }
  /// Clears the outputs, so that threads without outputs in the last round exchange zeros.
  Block clear() {
    const VarId i = b_.var("i");
    return block(loop(i, winograd_kept(w_), LoopKind::kUnrolled,
                      block(Store{outputs_, var(i), zero(DType::kF32), 1, std::nullopt})));
  }

 private:
  std::int64_t channels() const { return s_.round_channels(); }
  Block each_item(Block body) {
    return block(loop(item_, w_.shape.outputs, LoopKind::kUnrolled,
                      winograd_existing(var(w_.thread), var(item_), s_.threads(), channels() * s_.bn, body)));
  }
  /// Returns the tile and the channel of the round. Neighbouring threads write neighbours in memory.
  WinogradItem item() const {
    WinogradItem item =
        winograd_item(var(w_.thread), var(item_), s_.threads(), w_.nhwc() ? channels() : s_.bn);
    if (w_.nhwc()) std::swap(item.inner, item.outer);
    return item;
  }
  Expr first_output() const {
    const Expr number = keeps_ ? var(round_) * w_.shape.outputs + var(item_) : integer(0);
    return number * (s_.tile * s_.tile);
  }
  std::int64_t sums_of_product() const { return channels() * w_.shape.sums_stride; }

  Block leave() {
    const std::int64_t wide = s_.vector_n(), high = s_.vector_m(), rows = s_.tm / s_.rounds;
    const VarId p = b_.var("p"), i = b_.var("i"), part = b_.var("part"), to = b_.var("sums_to");
    const std::int64_t stride = w_.shape.sums_stride;
    const Expr sum = (var(p) * s_.tm + var(round_) * rows + var(i)) * s_.tn + var(part) * wide;
    const Expr channel = var(i) / high * (s_.thread_rows() * high) + var(i) % high;
    const Expr at =
        var(to) + var(p) * sums_of_product() + channel * stride + var(part) * (s_.thread_columns() * wide);
    const int lanes = static_cast<int>(wide);
    Block move = block(Store{w_.shared, at, load(w_.sums, sum, lanes), lanes, std::nullopt});
    move = block(loop(part, s_.tn / wide, LoopKind::kUnrolled, move));
    move = block(loop(i, rows, LoopKind::kUnrolled, move));
    return block(Let{to, var(w_.product) * sums_of_product() + var(w_.row) * stride + var(w_.column)},
                 loop(p, s_.products, LoopKind::kUnrolled, move));
  }

  Block transform() {
    const WinogradItem at = item();
    const VarId from = b_.var("sums_from");
    const Expr first = first_output();
    Block result = block(Let{from, at.outer * w_.shape.sums_stride + at.inner});
    append(result, both_sides(
                       b_, w_.algorithm.output,
                       [&](const Expr& row, const Expr& column) {
                         return load(w_.shared, var(from) + (row * s_.inputs() + column) * sums_of_product());
                       },
                       [&](const Expr& row, std::int64_t column, Expr value) {
                         return Stmt(Store{outputs_, first + row * s_.tile + column, value, 1, std::nullopt});
                       }));
    return result;
  }

  /// Returns the number of outputs of a tile's row that are stored together.
  std::int64_t vector() const {
    std::int64_t most = w_.nhwc() ? 1 : s_.tile;
    while (w_.conv.out_w() % most != 0) most /= 2;
    return most;
  }

  Block write_tile() {
    const Conv2d& conv = w_.conv;
    const std::int64_t width = vector(), pixel = w_.nhwc() ? conv.k : 1;
    const int lanes = static_cast<int>(width);
    const VarId number = b_.var("tile_out"), channel = b_.var("channel_out"), corner = b_.var("to_y"),
                p = b_.var("y_row"), part = b_.var("y_part"), y0 = b_.var("out_y"), x0 = b_.var("out_x");
    const WinogradItem at = item();
    const WinogradTile tile = winograd_tile(w_, var(number));
    const Expr line = var(y0) + var(p), pixel_of_line = var(x0) + var(part) * width;
    const Expr element = var(corner) + var(p) * (conv.out_w() * pixel) + var(part) * (width * pixel);
    const Expr first = first_output() + var(p) * s_.tile + var(part) * width;
    Block body =
        epilogue_.in_place(b_, outputs_, first, {var(channel), w_.nhwc(), element, lanes, std::nullopt});
    body.push_back(Store{w_.y, element, load(outputs_, first, lanes), lanes, std::nullopt});
    body = inside(conv.out_w() % s_.tile != 0, pixel_of_line, conv.out_w(), body);
    body = block(loop(part, s_.tile / width, LoopKind::kUnrolled, body));
    body = inside(conv.out_h() % s_.tile != 0, line, conv.out_h(), body);
    body = block(loop(p, s_.tile, LoopKind::kUnrolled, body));
    const Expr first_element =
        w_.nhwc() ? ((tile.image * conv.out_h() + var(y0)) * conv.out_w() + var(x0)) * conv.k + var(channel)
                  : ((tile.image * conv.k + var(channel)) * conv.out_h() + var(y0)) * conv.out_w() + var(x0);
    Block placed = block(Let{y0, tile.row}, Let{x0, tile.column}, Let{corner, first_element});
    append(placed, body);
    placed = inside(w_.shape.tiles % s_.bn != 0, var(number), w_.shape.tiles, placed);
    placed = inside(conv.k % s_.bm != 0, var(channel), conv.k, placed);
    Block result = block(Let{number, var(w_.n0) + at.inner},
                         Let{channel, var(w_.m0) + var(round_) * channels() + at.outer});
    append(result, placed);
    return result;
  }
  static Block inside(bool open, const Expr& place, std::int64_t extent, Block body) {
    if (!open) return body;
    return block(If{lt(place, integer(extent)), body, {}});
  }

  KernelBuilder& b_;
  const WinogradBlock& w_;
  const WinogradCudaSchedule& s_;
  const FusedEpilogue& epilogue_;
  bool keeps_;  // whether it keeps all outputs of the thread, or those of one tile
  BufferId outputs_{};
  VarId round_{}, item_{};
};

}  // namespace

std::int64_t winograd_kept(const WinogradBlock& block) {
  const WinogradCudaSchedule& s = block.schedule;
  return s.rounds * block.shape.outputs * s.tile * s.tile;
}

Block winograd_write(KernelBuilder& builder, const WinogradBlock& block, const FusedEpilogue& epilogue,
                     const SplitKSums* split, const SplitKPlace& place) {
  Writing writing(builder, block, epilogue, split != nullptr);
  Block result = ir::block(Alloc{writing.outputs()});
  const WinogradCudaSchedule& s = block.schedule;
  if (split != nullptr && s.round_channels() * s.bn % s.threads() != 0) append(result, writing.clear());
  append(result, writing.rounds());
  if (split != nullptr)
    append(result, split_k_sum(builder, *split, place, writing.outputs(), writing.write_kept()));
  return result;
}

}  // namespace lehr
