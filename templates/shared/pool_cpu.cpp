// Vectors run across channels.
#include "templates/shared/pool_cpu.h"

#include <optional>
#include <utility>
#include <vector>

namespace lehr::cpu {

using namespace ir;

Expr pixel_of_window(const PoolWindows& windows, const Expr& number, std::int64_t of_window,
                     std::int64_t pixels) {
  const std::int64_t shift = of_window - windows.before;
  Expr at = number * windows.stride + shift;
  if (shift < 0) at = max(at, integer(0));
  const std::int64_t last = (windows.over(pixels) - 1) * windows.stride + shift;
  return last >= pixels ? min(at, integer(pixels - 1)) : at;
}

namespace {

/// Returns the index among the sums of a pixel of a window.
Expr pixel_of_sums(const PooledSums& s, const PoolWindows& windows, const Expr& line, const Expr& pixel,
                   std::int64_t row, std::int64_t column) {
  if (windows.are_apart())
    return (line * windows.window + row) * s.line_stride + pixel * windows.window + column;
  const Expr of_image = pixel_of_window(windows, s.first_window + line, row, s.image.height);
  return (of_image - s.first_line) * s.line_stride + pixel_of_window(windows, pixel, column, s.image.width);
}

}  // namespace

Stmt pool_sums(KernelBuilder& builder, const PooledSums& s, const FusedEpilogue& epilogue) {
  const VarId line = builder.var("pool_line"), pixel = builder.var("pool_x"), v = builder.var("pool_v");
  const int lanes = static_cast<int>(s.lanes);
  const PoolWindows windows = epilogue.windows();
  const Expr channel = var(v) * s.lanes;
  const std::optional<std::int64_t> active = as_constant(s.active);
  std::optional<Expr> left;
  if (!active || *active % s.lanes != 0) left = s.active - channel;
  std::vector<Expr> pixels;
  for (std::int64_t row = 0; row < windows.window; ++row) {
    for (std::int64_t column = 0; column < windows.window; ++column) {
      const Expr at = pixel_of_sums(s, windows, var(line), var(pixel), row, column);
      pixels.push_back(epilogue.of(
          load(s.sums, at * s.channels + channel, lanes),
          {.channel = s.first_channel + channel, .along_channels = true, .lanes = lanes, .active = left}));
    }
  }
  Expr pooled = epilogue.pool(std::move(pixels), lanes);
  if (s.masked) pooled = epilogue.stored(pooled);
  Stmt store =
      Store{s.to, s.target(var(line), var(pixel)) + channel, pooled, lanes, s.masked ? left : std::nullopt};
  Stmt of_pixel = loop(v, s.channels / s.lanes, LoopKind::kSerial, block(store));
  return loop_to(line, s.lines, s.most_lines,
                 block(loop(pixel, s.width, LoopKind::kSerial, block(of_pixel))));
}

}  // namespace lehr::cpu
