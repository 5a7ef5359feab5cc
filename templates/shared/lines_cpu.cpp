#include "templates/shared/lines_cpu.h"

#include <fmt/core.h>

#include <algorithm>

#include "templates/shared/cpu_common.h"

namespace lehr::cpu {

using namespace ir;

namespace {

Expr moved(const Line& line, Expr elements, int lanes) {
  Expr value = line.form->in_first_panel(std::move(elements), lanes);
  return line.zero ? std::move(value) - line.zero(lanes) : value;
}

Block copy_whole(KernelBuilder& builder, const Line& line) {
  const int lanes = static_cast<int>(line.lanes);
  const VarId v = builder.var("in_v");
  const Expr at = var(v) * line.lanes, to = line.target(integer(0)) + line.pad + at;
  if (line.width % line.lanes == 0)
    return block(loop(v, line.width / line.lanes, LoopKind::kSerial,
                      block(Store{line.to, to, moved(line, load(line.from, line.source + at, lanes), lanes),
                                  lanes, std::nullopt})));
  const Expr left = integer(line.width) - at;
  return block(
      loop(v, ceil_div(line.width, line.lanes), LoopKind::kSerial,
           block(Store{line.to, to, moved(line, load_active(line.from, line.source + at, lanes, left), lanes),
                       lanes, left})));
}

// Copies the pixels for a stride of 2. Pixels with even indices are the columns pad, pad + 2, ... of the
// padded line, those with odd indices pad + 1, pad + 3, ...
Block copy_pairs(KernelBuilder& builder, const Line& line) {
  const VarId v = builder.var("in_v");
  const std::int64_t pairs = std::min(line.lanes, ceil_div(line.width, 2));
  const auto place = [&](std::int64_t first) {
    if (first % 2 >= line.phases) return Touch{line.to, line.unused, pairs, true};
    return Touch{line.to, line.target(integer(first % 2)) + first / 2 + var(v) * line.lanes, pairs, true};
  };
  const Expr at = var(v) * (2 * line.lanes);
  Stmt split = Intrinsic{intrinsic_name(fmt::format("split_pairs_{}", line.lanes)),
                         {place(line.pad), place(line.pad + 1),
                          Touch{line.from, line.source + at, std::min(2 * line.lanes, line.width), false}},
                         {integer(line.width) - at},
                         0};
  return block(loop(v, ceil_div(line.width, 2 * line.lanes), LoopKind::kSerial, block(split)));
}

/// Maximum number of phases for which each has its own loop in the text. With more, as for the stride of an
/// STFT, compiling would take seconds.
constexpr std::int64_t kMostWrittenOut = 8;

Stmt copy_phases(KernelBuilder& builder, const Line& line) {
  const VarId column = builder.var("in_x"), phase = builder.var("in_phase"), first = builder.var("in_first");
  const Expr first_pixel = (var(phase) + (line.stride - line.pad % line.stride)) % integer(line.stride);
  const Expr pixels = (integer(line.width + line.stride - 1) - var(first)) / line.stride;
  Stmt move = Store{line.to, line.target(var(phase)) + (var(first) + line.pad) / line.stride + var(column),
                    moved(line, load(line.from, line.source + var(first) + var(column) * line.stride), 1), 1,
                    std::nullopt};
  return loop(phase, line.phases, LoopKind::kSerial,
              block(Let{first, first_pixel},
                    loop_to(column, pixels, ceil_div(line.width, line.stride), block(move))));
}

Block copy_pixels(KernelBuilder& builder, const Line& line) {
  if (line.phases > kMostWrittenOut) return block(copy_phases(builder, line));
  const VarId column = builder.var("in_x");
  Block result;
  for (std::int64_t phase = 0; phase < line.phases; ++phase) {
    // The first pixel x >= 0 with (x + pad) % stride == phase.
    const std::int64_t first = ((phase - line.pad) % line.stride + line.stride) % line.stride;
    if (first >= line.width) continue;
    result.push_back(loop(
        column, ceil_div(line.width - first, line.stride), LoopKind::kSerial,
        block(Store{line.to, line.target(integer(phase)) + (first + line.pad) / line.stride + var(column),
                    moved(line, load(line.from, line.source + first + var(column) * line.stride), 1), 1,
                    std::nullopt})));
  }
  return result;
}

}  // namespace

Block copy_line(KernelBuilder& builder, const Line& line) {
  if (line.width <= 0) return {};
  return line.stride == 1                            ? copy_whole(builder, line)
         : line.stride == 2 && line.form->is_plain() ? copy_pairs(builder, line)
                                                     : copy_pixels(builder, line);
}

Stmt clear_line(KernelBuilder& builder, BufferId to, const Expr& target, std::int64_t elements,
                std::int64_t lanes, const Expr& value) {
  const int width = static_cast<int>(lanes);
  const VarId v = builder.var("zero_v");
  const Expr at = var(v) * lanes;
  std::optional<Expr> left;
  if (elements % lanes != 0) left = integer(elements) - at;
  return loop(v, ceil_div(elements, lanes), LoopKind::kSerial,
              block(Store{to, target + at, splat(value, width), width, left}));
}

Stmt transpose(KernelBuilder& builder, const Transposition& t) {
  const VarId i = builder.var("row_block"), j = builder.var("column_block");
  const std::int64_t columns = std::min(t.lanes, t.most_columns);
  const Expr row = var(i) * t.lanes, column = var(j) * t.lanes;
  Touch to = {t.to, t.target + column * t.to_stride + row, columns * t.lanes, true, columns, t.to_stride};
  const std::int64_t rows = std::min(t.lanes, t.most_rows);
  Touch from = {t.from, t.source + row * t.from_stride + column, rows * columns, false, rows, t.from_stride};
  const std::string_view type = t.type == DType::kF32 ? "" : "s32_";
  Stmt tile = Intrinsic{intrinsic_name(fmt::format("transpose_{}{}", type, t.lanes)),
                        {to, from},
                        {integer(t.to_stride), integer(t.from_stride), t.rows - row, t.columns - column},
                        0};
  return loop(i, ceil_div(t.most_rows, t.lanes), LoopKind::kSerial,
              block(loop(j, ceil_div(t.most_columns, t.lanes), LoopKind::kSerial, block(tile))));
}

std::int64_t ChannelSums::line_room(std::int64_t most_pixels, std::int64_t lanes) {
  return ceil_div(most_pixels, lanes) * lanes;
}

Block store_by_channel(KernelBuilder& builder, const ChannelSums& s) {
  const std::int64_t room = ChannelSums::line_room(s.most_pixels, s.lanes);
  Transposition t;
  t.from = s.sums;
  t.to = s.lines;
  t.lanes = s.lanes;
  t.type = s.type;
  t.source = s.source;
  t.from_stride = s.stride;
  t.to_stride = room;
  t.rows = s.pixels;
  t.most_rows = s.most_pixels;
  t.columns = integer(s.most_channels);
  t.most_columns = s.most_channels;

  const VarId k = builder.var("out_k"), v = builder.var("out_v");
  const int lanes = static_cast<int>(s.lanes);
  const Expr channel = s.first_channel + var(k), at = var(v) * s.lanes;
  const Expr target = s.target(channel) + at;
  const std::optional<std::int64_t> pixels = as_constant(s.pixels);
  std::optional<Expr> left;
  if (!pixels || *pixels % s.lanes != 0) left = s.pixels - at;
  Expr value = s.finish(load(s.lines, var(k) * room + at, lanes), {channel, false, target, lanes, left});
  Stmt line = loop(v, room / s.lanes, LoopKind::kSerial, block(Store{s.to, target, value, lanes, left}));
  return block(transpose(builder, t), loop_to(k, s.channels, s.most_channels, block(line)));
}

}  // namespace lehr::cpu
