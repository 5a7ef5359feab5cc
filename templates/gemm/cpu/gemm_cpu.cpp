// The matrices of a GEMM as operands of the shared loop nest: where their elements lie, and how their blocks
// are packed.
#include "templates/gemm/cpu/gemm_cpu.h"

#include "templates/family.h"
#include "templates/gemm/cpu/gemm_cpu_nest.h"
#include "templates/gemm/cpu/gemm_cpu_space.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/register_tile.h"

namespace lehr {
namespace {

using namespace ir;
using cpu::GemmNest;

// The state that the functions of the lowering share. k counts elements here, unless a comment says that it
// counts groups of the form.
struct Lowering {
  GemmNest n;
  std::int64_t k = 0;  ///< k of the product
  Operands operands{};
  BufferId a_panel{}, b_panel{};
  BufferId u{};  ///< B, packed beforehand
  /// Sums of the columns of B: `u_sums` of all columns, computed beforehand; `sums` of the current block's
  /// panels.
  BufferId u_sums{}, sums{};

  std::int64_t group() const { return n.form->group; }
  /// Returns the first element of k of the current block.
  Expr first_k() const { return var(n.k0) * group(); }
  /// Returns the number of elements of k in the current block, in whole groups of the form. The last block
  /// may be shorter.
  Expr k_extent() const { return n.k_extent() * group(); }
  std::int64_t kc() const { return n.kc() * group(); }

  /// Returns how many elements of a group exist in the current block. The result may exceed the group's size.
  Expr group_left(const Expr& of_block) const {
    if (k % group() == 0) return integer(group());
    return integer(k) - (var(n.k0) + of_block) * group();
  }

  Expr batch_offset(std::int64_t elements) const {
    return n.p.batch == 1 ? integer(0) : var(n.batch) * elements;
  }
  Expr a_element(const Expr& i, const Expr& of_block) const {
    return matrix_element(n.p.a, n.p.m, k, batch_offset(n.p.m * k), var(n.row) + i, first_k() + of_block);
  }
  /// Returns whether rows of A, not columns, are contiguous in its panels.
  bool a_by_rows() const { return n.p.a == Layout::kRow || !n.form->is_plain(); }
  std::int64_t a_panel_size() const { return a_by_rows() ? n.s.mr * n.a_row_stride() : n.s.mr * n.kc(); }
  Expr a_panel_element(const Expr& tile, const Expr& i, const Expr& of_block) const {
    const Expr base = tile * a_panel_size();
    return a_by_rows() ? base + i * n.a_row_stride() + of_block : base + of_block * n.s.mr + i;
  }
  Expr b_element(const Expr& of_block, const Expr& j) const {
    return matrix_element(n.p.b, k, n.p.n, batch_offset(k * n.p.n), first_k() + of_block, var(n.column) + j);
  }

  // B packed beforehand consists of panels whose width is a cache line of columns: u[panel][group of
  // k][line][group]. Each panel is contiguous whatever the tiles of the schedule are, so that kernels with
  // any number of rows share one packed B. The distance of panels is an odd number of lines, so that the
  // panels of a tile fall into different sets of a cache. The line after the last k is never read.
  std::int64_t u_panels() const { return ceil_div(n.p.n, cpu::kLineFloats); }
  std::int64_t u_line() const { return cpu::kLineFloats * group(); }
  std::int64_t u_panel_size() const { return (n.p.k | 1) * u_line(); }
  /// Returns the index of the element of a group of k and a column.
  Expr u_element(const Expr& of_block, const Expr& j) const {
    constexpr std::int64_t kLine = cpu::kLineFloats;
    const Expr first = n.matrix() * u_panels();
    if (n.nr() % kLine == 0)
      return (first + var(n.column) / kLine + j / kLine) * u_panel_size() +
             (var(n.k0) + of_block) * u_line() + j % integer(kLine) * group();
    const Expr column = var(n.column) + j;
    return (first + column / kLine) * u_panel_size() + (var(n.k0) + of_block) * u_line() +
           column % integer(kLine) * group();
  }
  /// Returns the index of the sum of a column.
  Expr u_sum(const Expr& j) const { return n.matrix() * (u_panels() * cpu::kLineFloats) + var(n.column) + j; }
};

// Missing elements become zero, so that the micro-kernel needs no mask on B. The elements are copied one by
// one, independently of the vectors of schedule and machine: kernels in which the text of this function is
// the same share the prepacked data.
Block prepack_b(Lowering& l) {
  GemmNest& n = l.n;
  constexpr std::int64_t kLine = cpu::kLineFloats;
  const VarId work_item = n.builder.var("u_part"), column = n.builder.var("u_column"),
              k = n.builder.var("u_k"), j = n.builder.var("u_j");
  const Expr matrix = n.p.batch == 1 ? integer(0) : var(work_item) / l.u_panels();
  const Expr first = n.p.batch == 1 ? var(work_item) : var(work_item) % integer(l.u_panels());
  const Expr from = matrix_element(n.p.b, l.k, n.p.n, matrix * (l.k * n.p.n), var(k), var(column));
  const Expr panel = var(work_item) * l.u_panel_size();
  const Expr to = panel + var(k) / l.group() * l.u_line() + var(j) * l.group() + var(k) % integer(l.group());
  const auto store = [&](const Expr& value) { return block(Store{l.u, to, value, 1, std::nullopt}); };
  Block element = store(n.form->in_second_panel(load(l.operands.b, from)));
  Expr exists = integer(1);
  if (n.p.n % kLine != 0) exists = lt(var(column), integer(n.p.n));
  if (l.k % l.group() != 0) exists = logical_and(exists, lt(var(k), integer(l.k)));
  if (!as_constant(exists)) element = block(If{exists, element, store(zero(n.form->second_panel))});
  element.push_front(Let{column, first * kLine + var(j)});
  const std::int64_t padded = n.p.k * l.group();
  const auto over_k = [&](const Block& body) { return block(loop(k, padded, LoopKind::kSerial, body)); };
  const auto over_line = [&](const Block& body) { return block(loop(j, kLine, LoopKind::kSerial, body)); };
  Block body = n.p.b == Layout::kRow ? over_k(over_line(element)) : over_line(over_k(element));
  if (n.correction.needed())
    body.push_back(cpu::sum_columns(
        n.builder, *n.form, {l.u, l.u_sums, panel, var(work_item) * kLine, kLine, integer(n.p.k), n.p.k}));
  return block(loop(work_item, n.p.batch * l.u_panels(), LoopKind::kParallel, body));
}

/// Packs a panel of groups. Columns that do not exist are left undefined, because their sums are never
/// stored.
Stmt pack_groups_of_b(Lowering& l, const Expr& panel) {
  GemmNest& n = l.n;
  const VarId k = n.builder.var("pb_k");
  const bool by_rows = n.p.b == Layout::kRow;
  cpu::GroupCopy copy;
  copy.from = l.operands.b;
  copy.to = l.b_panel;
  copy.source = l.b_element(var(k) * l.group(), integer(0));
  copy.target = panel + var(k) * (n.nr() * l.group());
  copy.count = n.p.n % n.nr() == 0 ? integer(n.nr()) : min(integer(n.nr()), integer(n.p.n) - var(n.column));
  copy.most_count = n.nr();
  copy.from_step = by_rows ? 1 : l.k;
  copy.line_step = by_rows ? n.p.n : 1;
  copy.lines = l.group_left(var(k));
  copy.to_step = l.group();
  return loop_to(k, n.k_extent(), n.kc(), block(cpu::copy_second_groups(*n.form, copy)));
}

// Packs the panels of the block that jc and pc select: b_panel[jt][k][0..nr).
Stmt pack_b(Lowering& l, const Expr& tiles) {
  GemmNest& n = l.n;
  const VarId tile = n.builder.var("pb_tile");
  const VarId k = n.builder.var("pb_k");
  const VarId j = n.builder.var("pb_j");
  const std::int64_t nr = n.nr();
  const Expr panel = var(tile) * (nr * l.kc());
  Block copy;
  copy.push_back(Let{n.column, n.column_of(var(tile))});
  if (!n.form->is_plain()) {
    copy.push_back(pack_groups_of_b(l, panel));
    if (n.correction.needed())
      copy.push_back(cpu::sum_columns(n.builder, *n.form,
                                      {l.b_panel, l.sums, panel, var(tile) * nr, nr, n.k_extent(), n.kc()}));
  } else if (n.p.b == Layout::kRow) {
    const int lanes = static_cast<int>(n.s.lanes);
    const Expr target = panel + var(k) * nr + var(j) * n.s.lanes;
    // After the last column, the panel is filled with zeros, so that the micro-kernel needs no mask on B.
    Expr value = n.p.n % nr == 0 ? load(l.operands.b, l.b_element(var(k), var(j) * n.s.lanes), lanes)
                                 : load_active(l.operands.b, l.b_element(var(k), var(j) * n.s.lanes), lanes,
                                               integer(n.p.n) - var(n.column) - var(j) * n.s.lanes);
    copy.push_back(loop_to(k, n.k_extent(), n.kc(),
                           block(loop(j, n.s.nv, LoopKind::kUnrolled,
                                      block(Store{l.b_panel, target, value, lanes, std::nullopt})))));
  } else {
    Expr columns = n.p.n % nr == 0 ? integer(nr) : min(integer(nr), integer(n.p.n) - var(n.column));
    copy.push_back(loop_to(
        j, columns, nr,
        block(loop_to(k, n.k_extent(), n.kc(),
                      block(Store{l.b_panel, panel + var(k) * nr + var(j),
                                  load(l.operands.b, l.b_element(var(k), var(j))), 1, std::nullopt})))));
  }
  return loop_to(tile, tiles, n.nc(), copy);
}

// Packs the panels of the block that ic and pc select. A row-major A is copied row by row in whole vectors,
// a_panel[it][i][k]. Its rows get a distance that spreads them over the sets of the cache, and need no scalar
// transposition. A column-major A is contiguous in i already, so it becomes a_panel[it][k][i]; but if the
// form has groups, it is packed by rows.
Stmt pack_a(Lowering& l, const Expr& tiles) {
  GemmNest& n = l.n;
  const VarId tile = n.builder.var("pa_tile");
  const VarId k = n.builder.var("pa_k");
  const VarId i = n.builder.var("pa_i");
  Block copy;
  copy.push_back(Let{n.row, n.row_of(var(tile))});
  const Expr rows = n.rows_of_tile();
  if (n.p.a == Layout::kRow) {
    const int lanes = static_cast<int>(n.s.lanes);
    const Expr at = var(k) * n.s.lanes;
    const bool whole = l.kc() % n.s.lanes == 0 && l.k % n.s.lanes == 0;
    Expr value =
        whole ? load(l.operands.a, l.a_element(var(i), at), lanes)
              : load_active(l.operands.a, l.a_element(var(i), at), lanes, integer(l.k) - l.first_k() - at);
    value = n.form->in_first_panel(value, lanes);
    Stmt move = Store{l.a_panel, l.a_panel_element(var(tile), var(i), at), value, lanes, std::nullopt};
    // Vectors must not extend beyond the block: after the last k there may be no memory.
    Stmt row = whole ? loop_to(k, l.k_extent() / n.s.lanes, l.kc() / n.s.lanes, block(move))
                     : loop(k, ceil_div(l.kc(), n.s.lanes), LoopKind::kSerial, block(move));
    copy.push_back(loop_to(i, rows, n.s.mr, block(row)));
  } else if (n.form->is_plain()) {
    Stmt move = Store{l.a_panel, l.a_panel_element(var(tile), var(i), var(k)),
                      load(l.operands.a, l.a_element(var(i), var(k))), 1, std::nullopt};
    copy.push_back(loop_to(k, n.k_extent(), n.kc(), block(loop_to(i, rows, n.s.mr, block(move)))));
  } else {
    cpu::GroupCopy groups;
    groups.from = l.operands.a;
    groups.to = l.a_panel;
    groups.source = l.a_element(integer(0), var(k) * l.group());
    groups.target = l.a_panel_element(var(tile), integer(0), var(k) * l.group());
    groups.count = rows;
    groups.most_count = n.s.mr;
    groups.line_step = n.p.m;
    groups.to_step = n.a_row_stride();
    groups.lines = l.group_left(var(k));
    copy.push_back(loop_to(k, n.k_extent(), n.kc(), block(cpu::copy_first_groups(*n.form, groups))));
  }
  return loop_to(tile, tiles, n.usual_mc(), copy);
}

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  if (auto reason = cpu::why_no_form(workload, limits)) return reason;
  const bool plain = cpu::dot_form(workload, limits)->is_plain();
  if (!plain && workload.gemm().c.layout == Layout::kColumn)
    return "writes rows of C, where the operands are not f32";
  return std::nullopt;
}

/// Sets where the micro-kernel reads A.
void read_a(Lowering& l) {
  GemmNest& n = l.n;
  const int group = static_cast<int>(l.group());
  ProductView in_elements = n.p;
  in_elements.k = l.k;
  if (n.s.pack_a != 0 || gemm_cpu_packs_a(in_elements, *n.form)) {
    l.a_panel = n.builder.buffer("a_panel", n.form->first_panel, Scope::kScratch, n.mc() * l.a_panel_size());
    n.scratch.push_back(l.a_panel);
    n.pack_a = [&](const Expr& tiles) { return pack_a(l, tiles); };
    n.a_at = [&l, group](const Expr& i, const Expr& k) {
      return load(l.a_panel, l.a_panel_element(var(l.n.it), i, k * group), group);
    };
  } else {
    n.a_at = [&l, group](const Expr& i, const Expr& k) {
      return load(l.operands.a, l.a_element(i, k * group), group);
    };
  }
}

/// Sets where the micro-kernel reads B and the sums of B's columns.
void read_b(Lowering& l) {
  GemmNest& n = l.n;
  const std::int64_t group = l.group();
  const bool needs_sums = n.correction.needed();
  if (n.s.pack_b == GemmCpuSchedule::kPrepacked || (!n.form->is_plain() && n.p.constant_b)) {
    l.u = n.builder.param("u", n.form->second_panel, n.p.batch * l.u_panels() * l.u_panel_size(),
                          Direction::kPrepacked);
    if (needs_sums)
      l.u_sums = n.builder.param("u_sums", DType::kS32, n.p.batch * l.u_panels() * cpu::kLineFloats,
                                 Direction::kPrepacked);
    n.builder.kernel.prepack = prepack_b(l);
    n.b = l.u;
    n.b_is_whole = true;
    n.next_tile = n.nr();
    n.b_at = [&](const Expr& k, const Expr& j) { return l.u_element(k, j); };
    n.sums_of_b = [&](const Expr& j) { return load(l.u_sums, l.u_sum(j), static_cast<int>(n.s.lanes)); };
  } else if (n.s.pack_b != 0 || !n.form->is_plain()) {
    const std::int64_t nr = n.nr();
    l.b_panel =
        n.builder.buffer("b_panel", n.form->second_panel, Scope::kScratch, n.nc() * nr * n.kc() * group);
    n.scratch.push_back(l.b_panel);
    if (needs_sums) {
      l.sums = n.builder.buffer("b_sums", DType::kS32, Scope::kScratch, n.nc() * nr);
      n.scratch.push_back(l.sums);
    }
    n.pack_b = [&](const Expr& tiles) { return pack_b(l, tiles); };
    n.b = l.b_panel;
    n.b_in_panels = true;
    n.b_at = [&n, nr, group](const Expr& k, const Expr& j) {
      return var(n.jt) * (nr * n.kc() * group) + k * (nr * group) + j * group;
    };
    n.sums_of_b = [&l, nr](const Expr& j) {
      return load(l.sums, var(l.n.jt) * nr + j, static_cast<int>(l.n.s.lanes));
    };
  } else {
    n.b = l.operands.b;
    n.next_tile = n.nr();
    n.b_at = [&](const Expr& k, const Expr& j) { return l.b_element(k, j); };
  }
}

}  // namespace

Kernel lower_gemm_cpu(const Workload& workload, const GemmCpuSchedule& schedule, const Limits& limits) {
  Lowering l;
  GemmNest& n = l.n;
  n.p = product_view(workload);
  n.form = cpu::dot_form(workload, limits);
  n.s = schedule;
  n.masks_are_free = cpu::masks_are_free(limits);
  cpu::init(n, "gemm_cpu");
  l.operands = add_params(n.builder, n.p);
  l.k = n.p.k;
  n.p.k = n.form->groups(l.k);
  n.correction = cpu::correction_of(n.builder, workload, *n.form);
  n.epilogue = FusedEpilogue(n.builder, workload);
  read_a(l);
  read_b(l);
  n.c = l.operands.c;
  n.c_at = [&](const Expr& row, const Expr& column) {
    return l.batch_offset(n.p.m * n.p.output_columns()) + row * n.p.output_columns() + column;
  };
  n.place = [&](const Expr& row, const Expr& column, const Expr& element, std::optional<Expr> active) {
    return place_of(n.p, row, column, element, static_cast<int>(n.s.lanes), active);
  };
  return cpu::kernel_of(n);
}

Template gemm_cpu_template() {
  return family<"gemm_cpu", gemm_cpu_knobs, gemm_cpu_wanted, lower_gemm_cpu>(
      {.version = 4,
       .target = Target::kCpu,
       .why_not = why_not,
       .op = Operator::kGemm,
       .reads = {"math", "alpha", "zero", "rows"}});
}

}  // namespace lehr
