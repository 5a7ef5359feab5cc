#include "templates/shared/planes_cpu.h"

#include <algorithm>
#include <utility>

#include "templates/shared/lines_cpu.h"

namespace lehr::cpu {

using namespace ir;

ImagePlanes image_planes(const Conv2d& conv, std::int64_t lines) {
  ImagePlanes p;
  for (std::int64_t r = 0; r < conv.r; ++r)
    p.phases_h = std::max(p.phases_h, r * conv.dilation_h % conv.stride_h + 1);
  for (std::int64_t tap = 0; tap < conv.s; ++tap)
    p.phases_w = std::max(p.phases_w, tap * conv.dilation_w % conv.stride_w + 1);
  p.lines_in = lines + (conv.r - 1) * conv.dilation_h / conv.stride_h;
  p.width = conv.out_w() + (conv.s - 1) * conv.dilation_w / conv.stride_w;
  return p;
}

Expr tap_in(const ImagePlanes& p, const Conv2d& conv, const Expr& channel, const Expr& row,
            const Expr& column) {
  const Expr h = row * conv.dilation_h, w = column * conv.dilation_w;
  return channel + (h % integer(conv.stride_h) * p.phases_w + w % integer(conv.stride_w)) * p.plane() +
         h / integer(conv.stride_h) * p.width + w / integer(conv.stride_w);
}

Stmt clear_planes(KernelBuilder& builder, const PlaneCopy& copy) {
  const bool padded = copy.conv.stride_w > 1 || copy.conv.pad_left > 0 || copy.planes.width > copy.conv.w;
  if (!padded) return clear_line(builder, copy.to, copy.unused(), copy.behind, copy.lanes);
  const std::int64_t all = copy.conv.c / copy.conv.groups * copy.planes.channel();
  return clear_line(builder, copy.to, integer(0), all + copy.behind, copy.lanes);
}

Stmt copy_planes(KernelBuilder& builder, const PlaneCopy& copy) {
  const Conv2d& conv = copy.conv;
  const ImagePlanes& p = copy.planes;
  const std::int64_t channels = conv.c / conv.groups;
  const VarId channel = builder.var("in_c"), phase_h = builder.var("in_ph"), y = builder.var("in_y"),
              phase_w = builder.var("in_pw"), row = builder.var("in_row");
  const auto target = [&](const Expr& phase) {
    return var(channel) * p.channel() + (var(phase_h) * p.phases_w + phase) * p.plane() + var(y) * p.width;
  };
  Line line;
  line.from = copy.from;
  line.to = copy.to;
  line.source = ((copy.image * conv.c + copy.group * channels + var(channel)) * conv.h + var(row)) * conv.w;
  // Pixels after the last one that is read have no room in the plane.
  line.width = std::min(conv.w, p.width * conv.stride_w - conv.pad_left);
  line.pad = conv.pad_left;
  line.stride = conv.stride_w;
  line.phases = p.phases_w;
  line.lanes = copy.lanes;
  line.target = target;
  line.unused = copy.unused();
  Stmt clear = loop(phase_w, p.phases_w, LoopKind::kSerial,
                    block(clear_line(builder, copy.to, target(var(phase_w)), p.width, copy.lanes)));
  const Expr is_inside = logical_and(le(integer(0), var(row)), lt(var(row), integer(conv.h)));
  Block lines = block(Let{row, (copy.line + var(y)) * conv.stride_h + var(phase_h) - conv.pad_top});
  lines.push_back(If{is_inside, copy_line(builder, line), block(clear)});
  return loop(channel, channels, LoopKind::kSerial,
              block(loop(phase_h, p.phases_h, LoopKind::kSerial,
                         block(loop(y, p.lines_in, LoopKind::kSerial, lines)))));
}

}  // namespace lehr::cpu
