#include "templates/conv2d/cuda/conv2d_winograd_copy.h"

#include <functional>
#include <utility>

#include "templates/shared/image_view.h"
#include "templates/shared/winograd_transform.h"

namespace lehr {

using namespace ir;

namespace {

void require(std::optional<Expr>& all, std::optional<Expr> condition) {
  if (!condition) return;
  all = all ? logical_and(*all, *condition) : condition;
}

Expr guarded(const std::optional<Expr>& condition, Expr value) {
  return condition ? select(*condition, value, zero(DType::kF32)) : value;
}

}  // namespace

WinogradTile winograd_tile(const WinogradBlock& block, const Expr& number) {
  const std::int64_t rows = block.shape.rows, columns = block.shape.columns, tile = block.schedule.tile;
  return {block.conv.n == 1 ? integer(0) : number / (rows * columns),
          (block.conv.n == 1 ? number / columns : number / columns % rows) * tile, number % columns * tile};
}

WinogradItem winograd_item(const Expr& thread, const Expr& i, std::int64_t threads, std::int64_t inner) {
  if (threads % inner == 0) return {thread % inner, thread / inner + i * (threads / inner)};
  const Expr item = thread + i * threads;
  return {item % inner, item / inner};
}

Block winograd_existing(const Expr& thread, const Expr& i, std::int64_t threads, std::int64_t all,
                        Block body) {
  if (all % threads == 0) return body;
  return block(If{lt(thread + i * threads, integer(all)), body, {}});
}

WinogradCopy::WinogradCopy(KernelBuilder& builder, const WinogradBlock& block) : b_(builder), w_(block) {
  const WinogradCudaSchedule& s = w_.schedule;
  one_tile_ = !w_.nhwc() && s.threads() % s.bn == 0;
  patches_ = b_.buffer("patch", DType::kF32, Scope::kRegister, s.inputs() * patch_row() * w_.shape.patches);
  filters_ = b_.buffer("filter", DType::kF32, Scope::kRegister, 9 * w_.shape.filters);
  filter_thread_ = b_.var("filter_thread");
  tile_ = b_.var("tile");
  image_ = b_.var("image");
  y0_ = b_.var("y0");
  x0_ = b_.var("x0");
}

/// Threads that have one patch less than other threads take the first filters.
Block WinogradCopy::positions() const {
  const WinogradCudaSchedule& s = w_.schedule;
  const std::int64_t threads = s.threads(), busy = s.bk * s.bn % threads;
  Block result = block(Alloc{patches_}, Alloc{filters_});
  result.push_back(
      Let{filter_thread_, busy == 0 ? var(w_.thread) : (var(w_.thread) + (threads - busy)) % threads});
  if (one_tile_) append(result, place_tile(integer(0)));
  return result;
}

WinogradItem WinogradCopy::patch(const Expr& i) const {
  const WinogradCudaSchedule& s = w_.schedule;
  // Neighbouring threads read neighbours in memory: tiles with nchw, channels with nhwc.
  WinogradItem item = winograd_item(var(w_.thread), i, s.threads(), w_.nhwc() ? s.bk : s.bn);
  if (w_.nhwc()) std::swap(item.inner, item.outer);
  return item;  // the tile, the channel
}

/// Defines the tile of the thread's patch `i`, and the input pixel of the patch's first corner.
Block WinogradCopy::place_tile(const Expr& i) const {
  const WinogradTile at = winograd_tile(w_, var(tile_));
  return block(Let{tile_, var(w_.n0) + patch(i).inner}, Let{image_, at.image},
               Let{y0_, at.row - w_.conv.pad_top}, Let{x0_, at.column - w_.conv.pad_left});
}

Block WinogradCopy::each(bool inputs, const std::function<Block(const Expr& i)>& body) const {
  const WinogradCudaSchedule& s = w_.schedule;
  const std::int64_t all = s.bk * (inputs ? s.bn : s.bm);
  const VarId i = b_.var(inputs ? StaticText("patch_number") : "filter_number");
  return block(loop(
      i, inputs ? w_.shape.patches : w_.shape.filters, LoopKind::kUnrolled,
      winograd_existing(var(inputs ? w_.thread : filter_thread_), var(i), s.threads(), all, body(var(i)))));
}

/// For nchw: returns the number of columns after a patch's first one that are contiguous, aligned, and either
/// all inside or all outside of the image. If the padding is 1, these are the columns of the tile's outputs.
std::int64_t WinogradCopy::vector() const {
  std::int64_t width = w_.nhwc() ? 1 : w_.schedule.tile;
  while (w_.conv.w % width != 0 || (w_.conv.pad_left + width - 1) % width != 0) width /= 2;
  return width;
}

/// In registers a row begins with its second element and ends with its first one, so that vectors are
/// aligned.
Expr WinogradCopy::in_patch(const Expr& i, const Expr& row, const Expr& column) const {
  const std::int64_t inputs = w_.schedule.inputs();
  return i * (inputs * patch_row()) + row * patch_row() + (column + (inputs - 1)) % inputs;
}

Block WinogradCopy::fetch_patch(const Expr& i, const Expr& group) const {
  const Conv2d& conv = w_.conv;
  const std::int64_t inputs = w_.schedule.inputs(), tile = w_.schedule.tile, width = vector();
  const std::int64_t pixel = w_.nhwc() ? conv.c : 1;
  const VarId from = b_.var("patch_from"), u = b_.var("u_row"), v = b_.var("u_column");
  const Expr channel = group * w_.schedule.bk + patch(i).outer;
  const Expr first = w_.nhwc() ? ((var(image_) * conv.h + var(y0_)) * conv.w + var(x0_)) * conv.c + channel
                               : ((var(image_) * conv.c + channel) * conv.h + var(y0_)) * conv.w + var(x0_);
  const auto fetch = [&](const Expr& column, std::int64_t lanes) {
    std::optional<Expr> exists;
    if (conv.c % w_.schedule.bk != 0) require(exists, lt(channel, integer(conv.c)));
    if (w_.shape.tiles % w_.schedule.bn != 0) require(exists, lt(var(tile_), integer(w_.shape.tiles)));
    require(exists, pixel_inside(conv, var(y0_) + var(u), var(x0_) + column, w_.shape.rows * tile,
                                 w_.shape.columns * tile));
    const int count = static_cast<int>(lanes);
    Expr value = load(w_.x, var(from) + var(u) * (conv.w * pixel) + column * pixel, count);
    if (exists) value = select(*exists, value, zero(DType::kF32, count));
    return block(Store{patches_, in_patch(i, var(u), column), value, count, std::nullopt});
  };
  Block row = block(loop(v, tile / width, LoopKind::kUnrolled, fetch(var(v) * width + 1, width)),
                    loop(v, 2, LoopKind::kUnrolled, fetch(var(v) * (inputs - 1), 1)));
  Block result;
  if (!one_tile_) append(result, place_tile(i));
  result.push_back(Let{from, first});
  result.push_back(loop(u, inputs, LoopKind::kUnrolled, row));
  return result;
}

Block WinogradCopy::fetch_filter(const Expr& i, const Expr& group) const {
  const Conv2d& conv = w_.conv;
  const WinogradItem item = winograd_item(var(filter_thread_), i, w_.schedule.threads(), w_.schedule.bk);
  const VarId from = b_.var("filter_from"), tap = b_.var("tap");
  const Expr channel = group * w_.schedule.bk + item.inner;
  const Expr k = var(w_.m0) + item.outer;
  std::optional<Expr> exists;
  if (conv.c % w_.schedule.bk != 0) require(exists, lt(channel, integer(conv.c)));
  if (conv.k % w_.schedule.bm != 0) require(exists, lt(k, integer(conv.k)));
  const Expr first = w_.nhwc() ? k * (9 * conv.c) + channel : (k * conv.c + channel) * 9;
  Expr value = load(w_.f, var(from) + var(tap) * (w_.nhwc() ? conv.c : 1));
  const Expr to = i * 9 + var(tap);
  return block(Let{from, first}, loop(tap, 9, LoopKind::kUnrolled,
                                      block(Store{filters_, to, guarded(exists, value), 1, std::nullopt})));
}

Block WinogradCopy::transform_patch(const Expr& i, const Expr& stage) const {
  const WinogradItem item = patch(i);
  const std::int64_t inputs = w_.schedule.inputs(), product = w_.schedule.bk * w_.shape.v_stride;
  const VarId to = b_.var("v_to");
  Block result = block(Let{to, stage + item.outer * w_.shape.v_stride + item.inner + w_.inputs_at()});
  append(result,
         both_sides(
             b_, w_.algorithm.input,
             [&](const Expr& row, const Expr& column) { return load(patches_, in_patch(i, row, column)); },
             [&](const Expr& row, std::int64_t column, Expr value) {
               const Expr at = var(to) + row * (inputs * product) + column * product;
               return Stmt(Store{w_.shared, at, value, 1, std::nullopt});
             }));
  return result;
}

Block WinogradCopy::transform_filter(const Expr& i, const Expr& stage) const {
  const WinogradItem item = winograd_item(var(filter_thread_), i, w_.schedule.threads(), w_.schedule.bk);
  const std::int64_t inputs = w_.schedule.inputs(), product = w_.schedule.bk * w_.shape.u_stride;
  const Expr first = i * 9;
  const VarId to = b_.var("u_to");
  Block result = block(Let{to, stage + item.inner * w_.shape.u_stride + item.outer});
  append(result,
         both_sides(
             b_, w_.algorithm.filter,
             [&](const Expr& row, const Expr& column) { return load(filters_, first + row * 3 + column); },
             [&](const Expr& row, std::int64_t column, Expr value) {
               const Expr at = var(to) + row * (inputs * product) + column * product;
               return Stmt(Store{w_.shared, at, value, 1, std::nullopt});
             }));
  return result;
}

Block WinogradCopy::fetch(const Expr& group) const {
  Block result = each(true, [&](const Expr& i) { return fetch_patch(i, group); });
  append(result, each(false, [&](const Expr& i) { return fetch_filter(i, group); }));
  return result;
}

Block WinogradCopy::store(const Expr& stage) const {
  Block result = each(true, [&](const Expr& i) { return transform_patch(i, stage); });
  append(result, each(false, [&](const Expr& i) { return transform_filter(i, stage); }));
  return result;
}

Block WinogradCopy::move(const Expr& group, const Expr& stage) const {
  Block result = each(true, [&](const Expr& i) { return fetch_patch(i, group); });
  append(result, each(true, [&](const Expr& i) { return transform_patch(i, stage); }));
  append(result, each(false, [&](const Expr& i) { return fetch_filter(i, group); }));
  append(result, each(false, [&](const Expr& i) { return transform_filter(i, stage); }));
  return result;
}

}  // namespace lehr
