// The operands of gemm_cpu's nest. The filters are packed beforehand in panels, in the order of k. The pixels
// are packed in every block (conv2d_im2col_cpu_pack.h). If the pixels are columns (nchw), all taps of a
// channel follow each other in k. If they are rows (nhwc), k runs over the taps, and for each tap over the
// channels of a block, as they lie in the image.
#include "templates/conv2d/cpu/conv2d_im2col_cpu.h"

#include <utility>

#include "templates/conv2d/cpu/conv2d_im2col_cpu_pack.h"
#include "templates/conv2d/cpu/conv2d_im2col_cpu_space.h"
#include "templates/family.h"
#include "templates/gemm/cpu/gemm_cpu_nest.h"
#include "templates/shared/conv_view.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/lines_cpu.h"

namespace lehr {
namespace {

using namespace ir;
using cpu::GemmNest;

struct Lowering {
  ConvView view;
  Conv2d conv;
  GemmNest n;
  BufferId x{}, f{}, u{}, u_sums{}, panel{}, planes{};

  std::int64_t channels() const { return conv.c / conv.groups; }
  Expr group() const { return n.matrix() % integer(conv.groups); }
  /// Returns the number of filters in a panel.
  std::int64_t side() const { return nchw() ? n.s.mr : n.nr(); }
  std::int64_t panels() const { return nchw() ? n.row_tiles() : n.column_tiles(); }
  /// Returns the number of neighbours in k that are multiplied at once.
  std::int64_t together() const { return n.form->group; }
  /// Returns the index of the first filter of a panel at step k of the nest. The panel begins at filter
  /// `first` of its group.
  Expr packed(const Expr& of_group, const Expr& first, const Expr& k) const {
    return ((of_group * (panels() * side()) + first) * n.p.k + k * side()) * together();
  }
  /// Returns the index of a filter of a panel at element k.
  Expr packed_element(const Expr& of_group, const Expr& first, const Expr& k, const Expr& filter) const {
    return packed(of_group, first, k / together()) + filter * together() + k % integer(together());
  }
  bool nchw() const { return conv.layout == ImageLayout::kNchw; }
};

/// Fills the last groups of a panel, and computes the sums of its filters.
Block finish_panel(Lowering& l, const Expr& of_group, const Expr& first, const Expr& work_item) {
  GemmNest& n = l.n;
  Block body;
  const std::int64_t products = l.conv.products(), rest = n.p.k * l.together() - products;
  if (rest > 0) {
    const VarId k = n.builder.var("u_rest"), row = n.builder.var("u_row");
    const Expr to = l.packed_element(of_group, first, var(k) + products, var(row));
    const Stmt fill = Store{l.u, to, zero(n.form->second_panel), 1, std::nullopt};
    body.push_back(
        loop(k, rest, LoopKind::kSerial, block(loop(row, l.side(), LoopKind::kSerial, block(fill)))));
  }
  if (n.correction.needed())
    body.push_back(cpu::sum_columns(n.builder, *n.form,
                                    {l.u, l.u_sums, l.packed(of_group, first, integer(0)),
                                     work_item * l.side(), l.side(), integer(n.p.k), n.p.k}));
  return body;
}

// If whole vectors of filters are read, filters that do not exist are set to zero.
Block pack_filters(Lowering& l) {
  const Conv2d& conv = l.conv;
  KernelBuilder& builder = l.n.builder;
  const std::int64_t filters = conv.k / conv.groups, channels = l.channels(), taps = conv.r * conv.s;
  const VarId work_item = builder.var("u_part"), c = builder.var("u_c"), tap = builder.var("u_tap"),
              row = builder.var("u_row"), k = builder.var("u_k");
  const Expr of_group = var(work_item) / l.panels(), first = var(work_item) % integer(l.panels()) * l.side();
  const Expr filter = of_group * filters + var(k);
  const Expr from = l.view.filter_element(filter, var(c), l.view.stored_tap(var(tap)));
  Expr step = var(c) * taps + var(tap);
  if (!l.nchw()) {
    const std::int64_t of_block = l.n.form->is_plain() ? l.n.kc() / taps : channels;
    const Expr begin = var(c) / of_block * of_block;
    const Expr now =
        channels % of_block == 0 ? integer(of_block) : min(integer(of_block), integer(channels) - begin);
    step = begin * taps + var(tap) * now + var(c) % integer(of_block);
  }
  const Expr to = l.packed_element(of_group, first, step, var(row));
  Block body = block(Store{l.u, to, l.n.form->in_second_panel(load(l.f, from)), 1, std::nullopt});
  if (filters % l.side() != 0) {
    Block otherwise;
    if (!l.nchw()) otherwise = block(Store{l.u, to, zero(l.n.form->second_panel), 1, std::nullopt});
    body = block(If{lt(var(k), integer(filters)), body, otherwise});
  }
  body.push_front(Let{k, first + var(row)});
  body = block(loop(row, l.side(), LoopKind::kSerial, body));
  body = block(loop(tap, taps, LoopKind::kSerial, body));
  body = block(loop(c, channels, LoopKind::kSerial, body));
  append(body, finish_panel(l, of_group, first, var(work_item)));
  return block(loop(work_item, conv.groups * l.panels(), LoopKind::kParallel, body));
}

void read_nchw(Lowering& l, PixelSource& source) {
  GemmNest& n = l.n;
  const std::int64_t nr = n.nr();
  if (l.n.s.copy == 1) {
    source.copied = true;
    source.planes = cpu::image_planes(l.conv, im2col_lines(l.conv, n.nc() * nr));
    // The last vector of a line reads elements after the last plane, and dividing lines into phases writes
    // there.
    source.buffer = l.planes = n.builder.buffer("x_planes", DType::kF32, Scope::kScratch,
                                                l.channels() * source.planes.channel() + n.s.lanes);
    source.line = n.builder.var("line");
    n.scratch.push_back(l.planes);
    const auto copy = [&] {
      return cpu::PlaneCopy{.conv = l.conv,
                            .planes = source.planes,
                            .from = l.x,
                            .to = l.planes,
                            .behind = n.s.lanes,
                            .lanes = n.s.lanes,
                            .image = n.matrix() / l.conv.groups,
                            .group = l.group(),
                            .line = var(source.line)};
    };
    n.at_start = block(cpu::clear_planes(n.builder, copy()));
    n.before_columns = [&n, &l, &source, copy] {
      return block(Let{source.line, n.column_of(integer(0)) / l.conv.out_w()},
                   cpu::copy_planes(n.builder, copy()));
    };
  }
  l.panel = n.builder.buffer("x_panel", DType::kF32, Scope::kScratch, n.nc() * nr * n.kc());
  n.a_at = [&](const Expr& i, const Expr& k) {
    return load(l.u, l.packed(l.group(), var(n.row), var(n.k0) + k) + i);
  };
  n.pack_b = [&](const Expr& tiles) { return pack_pixels_as_columns(n, source, l.panel, tiles); };
  n.b = l.panel;
  n.b_at = [&n, nr](const Expr& k, const Expr& j) { return var(n.jt) * (nr * n.kc()) + k * nr + j; };
  n.c_at = [&](const Expr& row, const Expr& column) { return (n.matrix() * n.p.m + row) * n.p.n + column; };
  n.place = [&](const Expr& row, const Expr&, const Expr& element, std::optional<Expr> active) {
    return EpiloguePlace{l.group() * n.p.m + row, false, element, static_cast<int>(n.s.lanes), active};
  };
}

void read_nhwc(Lowering& l, PixelSource& source) {
  GemmNest& n = l.n;
  l.panel =
      n.builder.buffer("x_panel", n.form->first_panel, Scope::kScratch, n.mc() * n.s.mr * n.a_row_stride());
  n.pack_a = [&](const Expr& tiles) { return pack_pixels_as_rows(n, source, l.panel, tiles); };
  n.a_at = [&](const Expr& i, const Expr& k) {
    return load(l.panel, (var(n.it) * n.s.mr + i) * n.a_row_stride() + k * l.together(),
                static_cast<int>(l.together()));
  };
  n.b = l.u;
  n.next_tile = n.nr() * n.p.k;
  n.b_at = [&](const Expr& k, const Expr& j) {
    return l.packed(l.group(), var(n.column), var(n.k0) + k) + j * l.together();
  };
  n.sums_of_b = [&](const Expr& j) {
    return load(l.u_sums, l.group() * (l.panels() * l.side()) + var(n.column) + j,
                static_cast<int>(n.s.lanes));
  };
  n.c_at = [&](const Expr& row, const Expr& column) {
    const Expr image = l.conv.n == 1 ? integer(0) : n.matrix() / l.conv.groups;
    return (image * n.p.m + row) * l.conv.k + l.group() * n.p.n + column;
  };
  n.place = [&](const Expr&, const Expr& column, const Expr& element, std::optional<Expr> active) {
    return EpiloguePlace{l.group() * n.p.n + column, true, element, static_cast<int>(n.s.lanes), active};
  };
}

Kernel lower_conv2d_im2col_cpu(const Workload& workload, const GemmCpuSchedule& schedule,
                               const Limits& limits) {
  Lowering l;
  l.view = cpu::conv_view(workload);
  l.conv = l.view.conv;
  const Conv2d& conv = l.conv;
  GemmNest& n = l.n;
  n.p = im2col_problem(conv);
  n.form = cpu::dot_form(workload, limits);
  n.p.k = n.form->groups(n.p.k);
  n.p.c_type = conv.output;
  n.s = schedule;
  n.masks_are_free = cpu::masks_are_free(limits);
  cpu::init(n, "conv2d_im2col_cpu");
  l.x = n.builder.param("x", conv.input, conv.n * conv.c * conv.h * conv.w, Direction::kIn);
  l.f = n.builder.param("f", conv.filter, l.view.filter_elements(), Direction::kIn);
  n.c = n.builder.param("y", conv.output, n.p.batch * n.p.m * n.p.n, Direction::kOut);
  n.correction = cpu::correction_of(n.builder, workload, *n.form);
  n.epilogue = FusedEpilogue(n.builder, workload);
  l.u = n.builder.param("u", n.form->second_panel, conv.groups * l.panels() * l.side() * n.p.k * l.together(),
                        Direction::kPrepacked);
  if (n.correction.needed())
    l.u_sums =
        n.builder.param("u_sums", DType::kS32, conv.groups * l.panels() * l.side(), Direction::kPrepacked);
  n.b_in_panels = true;
  PixelSource source{.conv = conv, .buffer = l.x};
  l.nchw() ? read_nchw(l, source) : read_nhwc(l, source);
  n.scratch.push_back(l.panel);
  n.builder.kernel.prepack = pack_filters(l);
  return cpu::kernel_of(n);
}

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  if (auto reason = cpu::why_no_form(workload, limits)) return reason;
  if (is_gated(workload.epilogue)) return kNoGate;
  const Conv2d& conv = workload.conv2d();
  if (!cpu::dot_form(workload, limits)->is_plain() && conv.layout == ImageLayout::kNchw)
    return "multiplies pixels that are rows (nhwc), where the operands are not f32";
  if (conv.groups > 1 && conv.groups == conv.c && conv.groups == conv.k)
    return "one filter per channel is no product of matrices";
  return std::nullopt;
}

}  // namespace

Template conv2d_im2col_cpu_template() {
  return family<"conv2d_im2col_cpu", im2col_knobs, im2col_wanted, lower_conv2d_im2col_cpu>(
      {.version = 5,
       .target = Target::kCpu,
       .why_not = why_not,
       .op = Operator::kConv2d,
       .reads = {"math", "zero"}});
}

}  // namespace lehr
