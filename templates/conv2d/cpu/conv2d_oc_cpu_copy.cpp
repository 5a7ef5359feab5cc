#include "templates/conv2d/cpu/conv2d_oc_cpu_copy.h"

#include <algorithm>
#include <utility>

#include "templates/shared/cpu_common.h"
#include "templates/shared/lines_cpu.h"

namespace lehr {

using namespace ir;

namespace {

bool is_nhwc(const OcCopy& c) {
  return c.conv.layout == ImageLayout::kNhwc;
}

/// The kept pixels of a line that lie in the image: the first one's place and how many there are.
std::int64_t first_inside(const OcCopy& c) {
  return std::min(ceil_div(c.conv.pad_left, c.shape.step_w), c.shape.width_in);
}
std::int64_t covered(const OcCopy& c) {
  const std::int64_t end = std::min(ceil_div(c.conv.pad_left + c.conv.w, c.shape.step_w), c.shape.width_in);
  return std::max<std::int64_t>(end - first_inside(c), 0);
}

}  // namespace

Block clear_margins(KernelBuilder& builder, const OcCopy& c) {
  const Conv2dOcShape& shape = c.shape;
  const std::int64_t runs = is_nhwc(c) ? shape.lines_in : shape.lines_in * shape.channels;
  const std::int64_t pixel = is_nhwc(c) ? shape.channels : 1, run = shape.width_in * pixel;
  const std::int64_t left = first_inside(c) * pixel;
  const std::int64_t right = run - left - covered(c) * pixel;
  if (left == 0 && right == 0) return {};
  const VarId i = builder.var("margin");
  Block body;
  if (left > 0) body.push_back(cpu::clear_line(builder, c.to, var(i) * run, left, c.lanes));
  if (right > 0) body.push_back(cpu::clear_line(builder, c.to, var(i) * run + (run - right), right, c.lanes));
  return block(loop(i, runs, LoopKind::kSerial, body));
}

Stmt copy_input(KernelBuilder& builder, const OcCopy& c) {
  const Conv2d& conv = c.conv;
  const Conv2dOcShape& shape = c.shape;
  const VarId slot = builder.var("in_line"), row = builder.var("in_row");
  const Expr is_inside = logical_and(le(integer(0), var(row)), lt(var(row), integer(conv.h)));
  const auto lines = [&](Block copy) {
    return loop(slot, shape.lines_in, LoopKind::kSerial,
                block(Let{row, c.line * conv.stride_h + var(slot) * shape.step_h - conv.pad_top},
                      If{is_inside, copy, {}}));
  };
  cpu::Line line;
  line.from = c.from, line.to = c.to, line.lanes = c.lanes;
  if (!is_nhwc(c)) {
    const VarId channel = builder.var("in_c");
    const Expr plane = c.image * conv.c + c.group * shape.channels + var(channel);
    line.source = (plane * conv.h + var(row)) * conv.w;
    line.width = std::min(conv.w, shape.width_in * shape.step_w - conv.pad_left);
    line.pad = conv.pad_left, line.stride = shape.step_w, line.phases = 1;
    line.unused = integer(shape.copy_elements);
    line.target = [&](std::int64_t) { return (var(slot) * shape.channels + var(channel)) * shape.width_in; };
    return loop(channel, shape.channels, LoopKind::kSerial, block(lines(cpu::copy_line(builder, line))));
  }
  // Pixels side by side have no gaps between them, unless other groups' channels or dropped ones lie there.
  const bool gapless = conv.groups == 1 && shape.step_w == 1;
  const VarId pixel = builder.var("in_x");
  const Expr kept = (gapless ? integer(0) : var(pixel)) + first_inside(c);
  const Expr column = kept * shape.step_w - conv.pad_left;
  line.source = ((c.image * conv.h + var(row)) * conv.w + column) * conv.c + c.group * shape.channels;
  line.width = gapless ? covered(c) * conv.c : shape.channels;
  line.target = [&](std::int64_t) { return (var(slot) * shape.width_in + kept) * shape.channels; };
  Block copy = cpu::copy_line(builder, line);
  if (!gapless) copy = block(loop(pixel, covered(c), LoopKind::kSerial, copy));
  return lines(copy);
}

}  // namespace lehr
