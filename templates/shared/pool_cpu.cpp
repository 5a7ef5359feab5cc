// Vectors run across channels.
#include "templates/shared/pool_cpu.h"

#include <optional>
#include <utility>
#include <vector>

namespace lehr::cpu {

using namespace ir;

Stmt pool_sums(KernelBuilder& builder, const PooledSums& s, const FusedEpilogue& epilogue) {
  const VarId line = builder.var("pool_line"), pixel = builder.var("pool_x"), v = builder.var("pool_v");
  const int lanes = static_cast<int>(s.lanes);
  const std::int64_t window = epilogue.window();
  const Expr channel = var(v) * s.lanes;
  const std::optional<std::int64_t> active = as_constant(s.active);
  std::optional<Expr> left;
  if (!active || *active % s.lanes != 0) left = s.active - channel;
  std::vector<Expr> pixels;
  for (std::int64_t row = 0; row < window; ++row) {
    for (std::int64_t column = 0; column < window; ++column) {
      const Expr at = (var(line) * window + row) * s.line_stride + var(pixel) * window + column;
      pixels.push_back(epilogue.of(
          load(s.sums, at * s.channels + channel, lanes),
          {.channel = s.first_channel + channel, .along_channels = true, .lanes = lanes, .active = left}));
    }
  }
  Stmt store = Store{s.to, s.target(var(line), var(pixel)) + channel, epilogue.pool(std::move(pixels), lanes),
                     lanes, s.masked ? left : std::nullopt};
  Stmt of_pixel = loop(v, s.channels / s.lanes, LoopKind::kSerial, block(store));
  return loop_to(line, s.lines, s.most_lines,
                 block(loop(pixel, s.width, LoopKind::kSerial, block(of_pixel))));
}

}  // namespace lehr::cpu
