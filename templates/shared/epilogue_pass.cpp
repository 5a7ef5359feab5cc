#include "templates/shared/epilogue_pass.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/error.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/epilogue_expr.h"
#include "templates/shared/pool_cpu.h"
#include "templates/shared/register_tile.h"
#include "workload/operator.h"

namespace lehr {
namespace {

using namespace ir;

/// With fewer elements, starting threads does not pay. The number is that of PyTorch
/// (at::internal::GRAIN_SIZE).
constexpr std::int64_t kLeastOfThreads = 32768;
constexpr std::int64_t kUnrolled = 4;

/// The output in memory as `rows` contiguous sequences of `width` elements. If a gate combines pairs of
/// columns, the shape of the product instead. For a pooled output, its lines.
struct Shape {
  std::int64_t rows = 1, width = 1;
  /// Whether a row holds all channels; otherwise row r is of channel r % channels.
  bool along_channels = false;
  std::int64_t channels = 1;
};

Shape shape_of(const Workload& workload) {
  const std::vector<Dimension> output = output_shape(workload);
  std::int64_t elements = 1;
  for (const Dimension& each : output) elements *= each.size;
  const std::int64_t channels = channels_of(workload);
  const std::optional<ImageSums> images = images_of(workload);
  const bool planes = images && images->layout == ImageLayout::kNchw;
  if (const PoolWindows windows = windows_of(workload.epilogue); windows.window > 1) {
    const std::int64_t line = windows.over(images->width) * (planes ? 1 : channels);
    return {elements / line, line, false, channels};
  }
  // The channels are contiguous columns, or rows of contiguous elements.
  const Dimension &before = output[output.size() - 2], &last = output.back();
  const bool along = images ? !planes : last.stride == 1 && before.stride == last.size;
  if (along) return {elements / last.size, channels, true, channels};
  const std::int64_t width = planes ? output[1].stride : last.stride;
  return {elements / width, width, false, channels};
}

}  // namespace

Kernel with_epilogue_operands(Kernel kernel, const Workload& workload) {
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  const auto found = std::ranges::find(tensors, TensorRole::kOutput, &TensorSpec::role);
  const auto output = static_cast<std::size_t>(found - tensors.begin());
  // Prepacked parameters may come after the tensors.
  for (std::size_t i = output + 1; i < tensors.size(); ++i) {
    const auto id = static_cast<BufferId>(kernel.buffers.size());
    kernel.buffers.push_back({.name = "unused_" + tensors[i].name,
                              .type = tensors[i].type,
                              .scope = Scope::kGlobal,
                              .elements = tensors[i].elements});
    kernel.params.insert(kernel.params.begin() + static_cast<std::ptrdiff_t>(i), {id, Direction::kIn});
  }
  if (!is_gated(workload.epilogue) && window_of(workload.epilogue) == 1) return kernel;
  const Param product = {kernel.params[output].buffer, Direction::kWorkspace};
  const auto id = static_cast<BufferId>(kernel.buffers.size());
  kernel.buffers.push_back({.name = "unused_c",
                            .type = tensors[output].type,
                            .scope = Scope::kGlobal,
                            .elements = tensors[output].elements});
  kernel.params[output] = {id, Direction::kOut};
  kernel.params.push_back(product);
  return kernel;
}

namespace {

// Computes one row in memory, in place.
Block plain_row(KernelBuilder& builder, const Shape& shape, const FusedEpilogue& epilogue, BufferId y,
                VarId row, std::int64_t lanes) {
  const int vector = static_cast<int>(lanes);
  const VarId v = builder.var("v"), u = builder.var("u");
  const auto step = [&](const Expr& column, std::optional<Expr> active) {
    const Expr at = var(row) * shape.width + column;
    Expr sums = active ? load_active(y, at, vector, *active) : load(y, at, vector);
    const Expr channel = shape.along_channels ? column : var(row) % integer(shape.channels);
    Expr value = epilogue.of(sums, {channel, shape.along_channels, at, vector, active});
    return Stmt(Store{y, at, value, vector, active});
  };
  Block body;
  const std::int64_t whole = shape.width / (kUnrolled * lanes), rest = whole * kUnrolled * lanes;
  if (whole > 0)
    body.push_back(loop(v, whole, LoopKind::kSerial,
                        block(loop(u, kUnrolled, LoopKind::kUnrolled,
                                   block(step((var(v) * kUnrolled + var(u)) * lanes, std::nullopt))))));
  for (std::int64_t column = rest; column < shape.width; column += lanes) {
    const std::int64_t left = shape.width - column;
    body.push_back(step(integer(column), left < lanes ? std::optional<Expr>(integer(left)) : std::nullopt));
  }
  return body;
}

// Computes one line of the output from the lines of sums in its window.
Block pooled_row(KernelBuilder& builder, const Workload& workload, const FusedEpilogue& epilogue, BufferId y,
                 VarId row, std::int64_t lanes) {
  const ImageSums sums = images_of(workload).value();
  const PoolWindows windows = epilogue.windows();
  const std::int64_t lines = windows.over(sums.height), width = windows.over(sums.width);
  const BufferId product = builder.param(
      "product", DType::kF32, sums.count * sums.channels * sums.height * sums.width, Direction::kWorkspace);
  const VarId pixel = builder.var("pixel"), v = builder.var("v");
  const bool nhwc = sums.layout == ImageLayout::kNhwc;
  // With nhwc, vectors run across channels. With nchw, the pixels of a line are pooled one after the other.
  const int vector = nhwc ? static_cast<int>(lanes) : 1;
  const Expr at = var(v) * vector, image = var(row) / lines;  // for nchw `image` counts images x channels
  const Expr channel = nhwc ? at : image % sums.channels;
  std::optional<Expr> active;
  if (nhwc && sums.channels % lanes != 0) active = integer(sums.channels) - at;
  // Kept in a register, because the text for the larger of two scalars repeats both of them.
  const BufferId held = builder.buffer("pooled", DType::kF32, Scope::kRegister, vector);
  const Expr so_far = load(held, integer(0), vector);
  Block store = block(Alloc{held});
  for (std::int64_t i = 0; i < windows.window; ++i) {
    for (std::int64_t j = 0; j < windows.window; ++j) {
      const Expr line = image * sums.height + cpu::pixel_of_window(windows, var(row) % lines, i, sums.height);
      const Expr sum = line * sums.width + cpu::pixel_of_window(windows, var(pixel), j, sums.width);
      const Expr element = nhwc ? sum * sums.channels + at : sum;
      Expr value = active ? load_active(product, element, vector, *active) : load(product, element, vector);
      value =
          epilogue.of(value, {.channel = channel, .along_channels = nhwc, .lanes = vector, .active = active});
      if (i + j > 0) value = epilogue.joined(so_far, value);
      store.push_back(Store{held, integer(0), value, vector, std::nullopt});
    }
  }
  const Expr to = var(row) * width + var(pixel);
  store.push_back(Store{y, nhwc ? to * sums.channels + at : to,
                        epilogue.of_joined(so_far, windows.window * windows.window, vector), vector, active});
  if (nhwc) store = block(loop(v, ceil_div(sums.channels, lanes), LoopKind::kSerial, store));
  return block(loop(pixel, width, LoopKind::kSerial, store));
}

// Computes a row of C, which has half as many columns, from a row of the product in memory. kUnrolled vectors
// at a time.
Block gated_row(KernelBuilder& builder, const Shape& shape, const FusedEpilogue& epilogue, BufferId c,
                VarId row, std::int64_t lanes) {
  const std::int64_t columns = kUnrolled * lanes;
  const BufferId product =
      builder.param("product", DType::kF32, shape.rows * shape.width, Direction::kWorkspace);
  const VarId block_of = builder.var("v"), column = builder.var("column");
  cpu::RegisterTile tile(builder, 1, columns, lanes);
  if (shape.width % columns != 0) tile.mask_everywhere(integer(shape.width) - var(column));
  const auto product_at = [&](Expr at) { return var(row) * shape.width + var(column) + at; };
  const auto c_at = [&](Expr at) { return var(row) * (shape.width / 2) + var(column) / 2 + at; };
  const auto finish = [&](Expr sums, Expr at, std::optional<Expr> active) {
    return epilogue.of(sums, {.channel = var(column) + at,
                              .along_channels = true,
                              .lanes = static_cast<int>(lanes),
                              .active = active});
  };
  const auto gate = [&](Expr even, Expr odd) { return epilogue.gate(even, odd); };
  return block(
      loop(block_of, ceil_div(shape.width, columns), LoopKind::kSerial,
           block(Let{column, var(block_of) * columns}, tile.allocate(), tile.load_c(product, product_at),
                 tile.store_pairs(builder, c, c_at, finish, gate))));
}

}  // namespace

Kernel lower_epilogue_pass(const Workload& workload, const Limits& limits, const Kernel& product) {
  CHECK(!workload.epilogue.empty());
  const Shape shape = shape_of(workload);
  KernelBuilder builder;
  builder.kernel.name = "epilogue_pass";
  builder.kernel.target = limits.target;
  BufferId y{};
  for (const TensorSpec& tensor : tensors_of(workload)) {
    if (tensor.role == TensorRole::kOperand) continue;
    const Direction direction = tensor.is_output() ? Direction::kOut : Direction::kIn;
    const BufferId buffer = builder.param(tensor.name, tensor.type, tensor.elements, direction);
    if (tensor.is_output()) y = buffer;
  }
  ProductSums sums = sums_of(workload);
  sums.scale = 1;  // the product is scaled already
  const FusedEpilogue epilogue(builder, workload, sums);
  // Workspaces come after prepacked parameters.
  for (const Param& param : product.params)
    if (param.direction == Direction::kPrepacked)
      builder.param("unused", DType::kF32, product.buffer(param.buffer).elements, Direction::kWorkspace);
  const VarId work_item = builder.var("task_index"), own = builder.var("own"), row = builder.var("row");
  const std::int64_t lanes = cpu::lane_counts(limits).back();
  const bool threaded = shape.rows * shape.width >= kLeastOfThreads;
  const std::int64_t work_items = threaded ? std::min<std::int64_t>(limits.cores, shape.rows) : 1;
  Block body = epilogue.gated()        ? gated_row(builder, shape, epilogue, y, row, lanes)
               : epilogue.window() > 1 ? pooled_row(builder, workload, epilogue, y, row, lanes)
                                       : plain_row(builder, shape, epilogue, y, row, lanes);
  body.push_front(Let{row, cpu::first_tile(var(work_item), shape.rows, work_items) + var(own)});
  const std::int64_t most = ceil_div(shape.rows, work_items);
  Expr rows = shape.rows % work_items == 0 ? integer(most)
                                           : cpu::first_tile(var(work_item) + 1, shape.rows, work_items) -
                                                 cpu::first_tile(var(work_item), shape.rows, work_items);
  builder.kernel.body =
      block(loop(work_item, work_items, LoopKind::kParallel, block(loop_to(own, rows, most, body))));
  return std::move(builder.kernel);
}

}  // namespace lehr
