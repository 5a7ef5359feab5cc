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

/// Return the kept pixels of a line that lie in the image: position of the first one, and their number.
std::int64_t first_inside(const OcCopy& c) {
  return std::min(ceil_div(c.conv.pad_left, c.shape.step_w), c.shape.width_in);
}
std::int64_t covered(const OcCopy& c) {
  const std::int64_t end = std::min(ceil_div(c.conv.pad_left + c.conv.w, c.shape.step_w), c.shape.width_in);
  return std::max<std::int64_t>(end - first_inside(c), 0);
}

/// Return the distance between neighbouring pixels, and between neighbouring lines, of the copy in elements.
std::int64_t pixel_elements(const OcCopy& c) {
  return is_nhwc(c) ? c.shape.channels * c.shape.group : c.shape.group;
}
std::int64_t line_elements(const OcCopy& c) {
  return c.shape.width_in * c.shape.channels * c.shape.group;
}

/// Copies the groups of channels of a line of the image, one group after the other.
Block copy_groups(KernelBuilder& builder, const OcCopy& c, const Expr& slot, const Expr& row) {
  const Conv2d& conv = c.conv;
  const VarId work_item = builder.var("in_group");
  const std::int64_t channels = conv.c / conv.groups, group = c.shape.group;
  const Expr channel = var(work_item) * group,
             column = integer(first_inside(c) * c.shape.step_w - conv.pad_left);
  const Expr of_image = c.group * channels + channel;
  cpu::GroupCopy copy;
  copy.from = c.from;
  copy.to = c.to;
  copy.count = integer(covered(c));
  copy.most_count = covered(c);
  copy.lines = channels % group == 0 ? integer(group) : integer(channels) - channel;
  if (is_nhwc(c)) {
    copy.source = ((c.image * conv.h + row) * conv.w + column) * conv.c + of_image;
    copy.target = slot * line_elements(c) + first_inside(c) * pixel_elements(c) + var(work_item) * group;
    copy.from_step = c.shape.step_w * conv.c;
    copy.line_step = 1;
  } else {
    copy.source = ((c.image * conv.c + of_image) * conv.h + row) * conv.w + column;
    copy.target =
        (slot * c.shape.channels + var(work_item)) * (c.shape.width_in * group) + first_inside(c) * group;
    copy.from_step = c.shape.step_w;
    copy.line_step = conv.h * conv.w;
  }
  copy.to_step = pixel_elements(c);
  return block(loop(work_item, c.shape.channels, LoopKind::kSerial, block(copy_first_groups(c.form, copy))));
}

/// Copies a line of an nhwc image: as a whole if no gap separates its pixels, else pixel by pixel.
Block copy_pixels(KernelBuilder& builder, const OcCopy& c, const Expr& slot, const Expr& row, bool gapless) {
  const Conv2d& conv = c.conv;
  const VarId pixel = builder.var("in_x");
  const std::int64_t channels = conv.c / conv.groups;
  const Expr kept = (gapless ? integer(0) : var(pixel)) + first_inside(c);
  const Expr column = kept * c.shape.step_w - conv.pad_left;
  cpu::Line line;
  line.from = c.from;
  line.to = c.to;
  line.lanes = c.lanes;
  line.form = &c.form;
  line.source = ((c.image * conv.h + row) * conv.w + column) * conv.c + c.group * channels;
  line.width = gapless ? covered(c) * conv.c : channels;
  line.target = [&](const Expr&) { return (slot * c.shape.width_in + kept) * channels; };
  Block copy = cpu::copy_line(builder, line);
  return gapless ? copy : block(loop(pixel, covered(c), LoopKind::kSerial, copy));
}

}  // namespace

Block clear_margins(KernelBuilder& builder, const OcCopy& c) {
  const Conv2dOcShape& shape = c.shape;
  const std::int64_t runs = is_nhwc(c) ? shape.lines_in : shape.lines_in * shape.channels;
  const std::int64_t pixel = pixel_elements(c), run = shape.width_in * pixel;
  const std::int64_t left = first_inside(c) * pixel;
  const std::int64_t right = run - left - covered(c) * pixel;
  if (left == 0 && right == 0) return {};
  const VarId i = builder.var("margin");
  Block body;
  const auto clear = [&](const Expr& target, std::int64_t elements) {
    if (elements > 0) body.push_back(cpu::clear_line(builder, c.to, target, elements, c.lanes, c.padding));
  };
  clear(var(i) * run, left);
  clear(var(i) * run + (run - right), right);
  return block(loop(i, runs, LoopKind::kSerial, body));
}

Stmt copy_input(KernelBuilder& builder, const OcCopy& c) {
  const Conv2d& conv = c.conv;
  const Conv2dOcShape& shape = c.shape;
  const VarId slot = builder.var("in_line"), row = builder.var("in_row");
  const Expr is_inside = logical_and(le(integer(0), var(row)), lt(var(row), integer(conv.h)));
  const auto lines = [&](Block copy) {
    Block otherwise;
    if (c.fills_lines)
      otherwise = block(
          cpu::clear_line(builder, c.to, var(slot) * line_elements(c), line_elements(c), c.lanes, c.padding));
    return loop(slot, shape.lines_in, LoopKind::kSerial,
                block(Let{row, c.line * conv.stride_h + var(slot) * shape.step_h - conv.pad_top},
                      If{is_inside, copy, otherwise}));
  };
  // If all taps miss the pixels of the image, every kept pixel of a line is padding.
  if (covered(c) == 0)
    return loop(slot, shape.lines_in, LoopKind::kSerial,
                block(cpu::clear_line(builder, c.to, var(slot) * line_elements(c), line_elements(c), c.lanes,
                                      c.padding)));
  const bool whole_groups = conv.c / conv.groups % shape.group == 0;
  if (is_nhwc(c) && whole_groups) {
    // Gaps between neighbouring pixels are channels of other groups, or pixels that are not kept.
    const bool gapless = conv.groups == 1 && shape.step_w == 1;
    return lines(copy_pixels(builder, c, var(slot), var(row), gapless));
  }
  if (!c.form.is_plain()) return lines(copy_groups(builder, c, var(slot), var(row)));
  const VarId channel = builder.var("in_c");
  const Expr plane = c.image * conv.c + c.group * shape.channels + var(channel);
  cpu::Line line;
  line.from = c.from;
  line.to = c.to;
  line.lanes = c.lanes;
  line.source = (plane * conv.h + var(row)) * conv.w;
  line.width = std::min(conv.w, shape.width_in * shape.step_w - conv.pad_left);
  line.pad = conv.pad_left;
  line.stride = shape.step_w;
  line.phases = 1;
  line.unused = integer(shape.copy_elements);
  line.target = [&](const Expr&) { return (var(slot) * shape.channels + var(channel)) * shape.width_in; };
  return loop(channel, shape.channels, LoopKind::kSerial, block(lines(cpu::copy_line(builder, line))));
}

}  // namespace lehr
