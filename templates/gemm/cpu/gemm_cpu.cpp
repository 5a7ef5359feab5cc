// The matrices of a GEMM as the operands of the shared nest: where they lie, and how their blocks are packed.
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

// Everything that the parts of the lowering share.
struct Lowering {
  GemmNest n;
  Operands operands{};
  BufferId a_panel{}, b_panel{};
  BufferId u{};  ///< B, laid out beforehand

  Expr batch_offset(std::int64_t elements) const {
    return n.p.batch == 1 ? integer(0) : var(n.batch) * elements;
  }
  Expr a_element(const Expr& i, const Expr& k) const {
    return matrix_element(n.p.a, n.p.m, n.p.k, batch_offset(n.p.m * n.p.k), var(n.row) + i, var(n.k0) + k);
  }
  std::int64_t a_panel_size() const {
    return n.p.a == Layout::kRow ? n.s.mr * n.a_row_stride() : n.s.mr * n.kc();
  }
  Expr a_panel_element(const Expr& tile, const Expr& i, const Expr& k) const {
    const Expr base = tile * a_panel_size();
    return n.p.a == Layout::kRow ? base + i * n.a_row_stride() + k : base + k * n.s.mr + i;
  }
  Expr b_element(const Expr& k, const Expr& j) const {
    return matrix_element(n.p.b, n.p.k, n.p.n, batch_offset(n.p.k * n.p.n), var(n.k0) + k, var(n.column) + j);
  }

  // B beforehand: panels of a cache line of columns, u[panel][k][line], so that each is one stream, whatever
  // tile reads it: kernels of one B share it, of any number of rows. An odd number of lines from panel to
  // panel lets those of a tile fall into different sets of a cache; nobody reads the one behind k.
  std::int64_t u_panels() const { return ceil_div(n.p.n, cpu::kLineFloats); }
  std::int64_t u_panel_size() const { return (n.p.k | 1) * cpu::kLineFloats; }
  Expr u_element(const Expr& k, const Expr& j) const {
    constexpr std::int64_t kLine = cpu::kLineFloats;
    const Expr first = n.matrix() * u_panels();
    if (n.nr() % kLine == 0)
      return (first + var(n.column) / kLine + j / kLine) * u_panel_size() + (var(n.k0) + k) * kLine +
             j % integer(kLine);
    const Expr column = var(n.column) + j;
    return (first + column / kLine) * u_panel_size() + (var(n.k0) + k) * kLine + column % integer(kLine);
  }
};

// Columns that do not exist are zero, so that the micro-kernel needs no mask on B. Element by element,
// whatever vectors the schedule and the machine have: the text of this function tells who shares what it
// fills.
Block prepack_b(Lowering& l) {
  GemmNest& n = l.n;
  constexpr std::int64_t kLine = cpu::kLineFloats;
  const VarId part = n.builder.var("u_part"), column = n.builder.var("u_column"), k = n.builder.var("u_k"),
              j = n.builder.var("u_j");
  const Expr matrix = n.p.batch == 1 ? integer(0) : var(part) / l.u_panels();
  const Expr first = n.p.batch == 1 ? var(part) : var(part) % integer(l.u_panels());
  const Expr from = matrix_element(n.p.b, n.p.k, n.p.n, matrix * (n.p.k * n.p.n), var(k), var(column));
  const Expr to = var(part) * l.u_panel_size() + var(k) * kLine + var(j);
  Block element = block(Store{l.u, to, load(l.operands.b, from), 1, std::nullopt});
  if (n.p.n % kLine != 0)
    element = block(If{lt(var(column), integer(n.p.n)), element,
                       block(Store{l.u, to, Float{0, DType::kF32}, 1, std::nullopt})});
  element.push_front(Let{column, first * kLine + var(j)});
  const auto over_k = [&](const Block& body) { return block(loop(k, n.p.k, LoopKind::kSerial, body)); };
  const auto over_line = [&](const Block& body) { return block(loop(j, kLine, LoopKind::kSerial, body)); };
  return block(loop(part, n.p.batch * l.u_panels(), LoopKind::kParallel,
                    n.p.b == Layout::kRow ? over_k(over_line(element)) : over_line(over_k(element))));
}

// Panels of the block that jc and pc name: b_panel[jt][k][0..nr).
Stmt pack_b(Lowering& l, const Expr& tiles) {
  GemmNest& n = l.n;
  const VarId tile = n.builder.var("pb_tile");
  const VarId k = n.builder.var("pb_k");
  const VarId j = n.builder.var("pb_j");
  const std::int64_t nr = n.nr();
  const Expr panel = var(tile) * (nr * n.kc());
  Block copy;
  copy.push_back(Let{n.column, n.column_of(var(tile))});
  if (n.p.b == Layout::kRow) {
    const int lanes = static_cast<int>(n.s.lanes);
    const Expr target = panel + var(k) * nr + var(j) * n.s.lanes;
    // Past the last column the panel is filled with zeros, so that the micro-kernel needs no mask on B.
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

// Panels of the block that ic and pc name. A row-major A is copied row by row with whole vectors,
// a_panel[it][i][k]: it gets a row distance that spreads over the cache's sets, without a scalar
// transposition. A column-major A is contiguous in i already, a_panel[it][k][i].
Stmt pack_a(Lowering& l, const Expr& tiles) {
  GemmNest& n = l.n;
  const VarId tile = n.builder.var("pa_tile");
  const VarId k = n.builder.var("pa_k");
  const VarId i = n.builder.var("pa_i");
  Block copy;
  copy.push_back(Let{n.row, n.row_of(var(tile))});
  Expr rows = n.p.m % n.s.mr == 0 ? integer(n.s.mr) : min(integer(n.s.mr), integer(n.p.m) - var(n.row));
  if (n.p.a == Layout::kRow) {
    const int lanes = static_cast<int>(n.s.lanes);
    const Expr at = var(k) * n.s.lanes;
    const bool whole = n.kc() % n.s.lanes == 0 && n.p.k % n.s.lanes == 0;
    Expr value =
        whole ? load(l.operands.a, l.a_element(var(i), at), lanes)
              : load_active(l.operands.a, l.a_element(var(i), at), lanes, integer(n.p.k) - var(n.k0) - at);
    Stmt move = Store{l.a_panel, l.a_panel_element(var(tile), var(i), at), value, lanes, std::nullopt};
    // Whole vectors end with the block: behind the last one of k there may be no memory.
    Stmt row = whole ? loop_to(k, n.k_extent() / n.s.lanes, n.kc() / n.s.lanes, block(move))
                     : loop(k, ceil_div(n.kc(), n.s.lanes), LoopKind::kSerial, block(move));
    copy.push_back(loop_to(i, rows, n.s.mr, block(row)));
  } else {
    Stmt move = Store{l.a_panel, l.a_panel_element(var(tile), var(i), var(k)),
                      load(l.operands.a, l.a_element(var(i), var(k))), 1, std::nullopt};
    copy.push_back(loop_to(k, n.k_extent(), n.kc(), block(loop_to(i, rows, n.s.mr, block(move)))));
  }
  return loop_to(tile, tiles, n.mc(), copy);
}

// Beside what all CPU families say: it takes gated pairs.
std::optional<std::string> why_not(const Workload& workload, const Limits&) {
  return cpu::why_not_cpu({workload.problem, {}});
}

}  // namespace

Kernel lower_gemm_cpu(const Workload& workload, const GemmCpuSchedule& schedule, const Limits& limits) {
  Lowering l;
  GemmNest& n = l.n;
  n.p = product_view(workload);
  n.s = schedule;
  n.masks_are_free = cpu::masks_are_free(limits);
  cpu::init(n, "gemm_cpu");
  l.operands = add_params(n.builder, n.p);
  n.epilogue = FusedEpilogue(n.builder, workload);
  if (n.s.pack_a) {
    l.a_panel = n.builder.buffer("a_panel", DType::kF32, Scope::kScratch, n.mc() * l.a_panel_size());
    n.scratch.push_back(l.a_panel);
    n.pack_a = [&](const Expr& tiles) { return pack_a(l, tiles); };
    n.a_at = [&](const Expr& i, const Expr& k) {
      return load(l.a_panel, l.a_panel_element(var(n.it), i, k));
    };
  } else {
    n.a_at = [&](const Expr& i, const Expr& k) { return load(l.operands.a, l.a_element(i, k)); };
  }
  if (n.s.pack_b == GemmCpuSchedule::kPrepacked) {
    l.u =
        n.builder.param("u", DType::kF32, n.p.batch * l.u_panels() * l.u_panel_size(), Direction::kPrepacked);
    n.builder.kernel.prepack = prepack_b(l);
    n.b = l.u, n.b_is_whole = true, n.next_tile = n.nr();
    n.b_at = [&](const Expr& k, const Expr& j) { return l.u_element(k, j); };
  } else if (n.s.pack_b) {
    l.b_panel = n.builder.buffer("b_panel", DType::kF32, Scope::kScratch, n.nc() * n.nr() * n.kc());
    n.scratch.push_back(l.b_panel);
    n.pack_b = [&](const Expr& tiles) { return pack_b(l, tiles); };
    n.b = l.b_panel, n.b_in_panels = true;
    n.b_at = [&](const Expr& k, const Expr& j) { return var(n.jt) * (n.nr() * n.kc()) + k * n.nr() + j; };
  } else {
    n.b = l.operands.b, n.next_tile = n.nr();
    n.b_at = [&](const Expr& k, const Expr& j) { return l.b_element(k, j); };
  }
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
      {.version = 3, .target = Target::kCpu, .why_not = why_not, .reads = {"math", "alpha"}});
}

}  // namespace lehr
