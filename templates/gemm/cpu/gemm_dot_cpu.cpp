// The loop nest of one work item, which has a range of column tiles (nr columns each):
//
//   for batch / for jc: blocks of nc column tiles
//     for it: tiles of mr rows / for jt: column tiles of the block      (order exchanges the two)
//       mr x nr vector accumulators over all of k, then each summed over its lanes
//
// If A has only a few rows and is not contiguous along k, every work item first copies it into that order.
#include "templates/gemm/cpu/gemm_dot_cpu.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "templates/family.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/lines_cpu.h"
#include "templates/shared/register_tile.h"

namespace lehr {
namespace {

using namespace ir;

struct Schedule {
  std::int64_t threads = 1, lanes = 16;
  std::int64_t mr = 1, nr = 1;  ///< rows and columns of a tile
  std::int64_t nc = 1;          ///< number of tiles of columns in a block
  std::int64_t order = 0, ku = 1, prefetch = 0;
};

// Number of rows up to which copying A takes little time compared with the products.
constexpr std::int64_t kFewRows = 16;
constexpr std::int64_t kMaxCopyBytes = 4LL << 20;  // a larger copy would leave the L2 cache

/// Returns the view of the product. If C has few columns, they become the rows, because threads divide the
/// columns.
ProductView view_of(const Workload& workload) {
  const Gemm& g = workload.gemm();
  return std::min(g.m, g.n) <= kFewRows ? few_rows_view(workload) : product_view(workload);
}

std::optional<std::string> why_not(const Workload& workload, const Limits&) {
  if (auto reason = cpu::why_not_cpu(workload)) return reason;
  const ProductView p = view_of(workload);
  const bool may_copy = p.m <= kFewRows && 4 * p.m * p.k <= kMaxCopyBytes;
  if (p.b != Layout::kColumn || (p.a != Layout::kRow && !may_copy))
    return "runs along k, so both operands must be contiguous in k (or one have few rows or columns)";
  return std::nullopt;
}

/// Returns the possible numbers of rows or columns of a tile.
std::vector<std::int64_t> counts_up_to(std::int64_t extent) {
  std::vector<std::int64_t> counts;
  for (const std::int64_t count : {1, 2, 3, 4, 5, 6, 8})
    if (count <= extent) counts.push_back(count);
  return counts;
}

bool fits_registers(std::int64_t mr, std::int64_t nr, const Limits& limits) {
  return mr * nr + mr + 1 <= std::max(limits.vector_registers, 16);
}

void knobs(Knobs<Schedule>& k, const Workload& workload, const Limits& limits) {
  using S = Schedule;
  const ProductView p = view_of(workload);
  k.knob(&S::threads, "threads", "CPU threads, each with a range of columns", cpu::thread_counts(limits));
  k.knob(&S::lanes, "lanes", "f32 lanes of a vector", cpu::lane_counts(limits));
  k.knob(&S::mr, "mr", "rows of C in registers", counts_up_to(p.m));
  k.knob(&S::nr, "nr", "columns of C in registers", counts_up_to(p.n));
  k.forbid("more threads than tiles of columns", [=](const S& s) { return ceil_div(p.n, s.nr) < s.threads; });
  k.forbid("needs more vector registers than there are",
           [=](const S& s) { return !fits_registers(s.mr, s.nr, limits); });
  k.knob(&S::nc, "nc", "tiles of columns of one block; the last value covers all", cpu::powers_up_to(p.n));
  k.only([=](const S& s) { return cpu::is_power_up_to(s.nc, ceil_div(ceil_div(p.n, s.nr), s.threads)); });
  k.knob(&S::order, "order", "outer loop inside a block: 0 columns, 1 rows", {0, 1});
  k.forbid("the order of one loop has no meaning",
           [=](const S& s) { return s.order == 1 && (s.mr >= p.m || s.nc == 1); });
  k.knob(&S::ku, "ku", "vectors of k unrolled", {1, 2, 4});
  k.forbid("k is shorter than the unrolled step",
           [=](const S& s) { return s.ku > 1 && s.ku * s.lanes > p.k; });
  k.forbid("too much code", [](const S& s) { return s.ku > 1 && s.mr * s.nr * s.ku > 64; });
  k.knob(&S::prefetch, "prefetch", "cache lines ahead on each column of B, 0: none", {0, 4, 8, 16, 32});
}

// Returns the tile with which C takes the least time. A step of a tile takes the time of its multiply-adds or
// that of its loads (two per cycle), but not less than the latency of a multiply-add. After the loop over k,
// every accumulator is summed over its lanes.
Schedule wanted(const Workload& workload, const Limits& limits) {
  constexpr std::int64_t kSumOfLanes = 10;  // half cycles
  const ProductView p = view_of(workload);
  Schedule s = {
      .threads = cpu::default_threads(workload, limits), .lanes = cpu::lane_counts(limits).back(), .nc = 16};
  const std::int64_t steps = ceil_div(p.k, s.lanes);
  const auto cost_of = [&](std::int64_t mr, std::int64_t nr) {
    const std::int64_t step = std::max<std::int64_t>({mr * nr, mr + nr, 8}) + 1;
    return ceil_div(p.rows(), mr) * ceil_div(p.n, nr) * (steps * step + mr * nr * kSumOfLanes);
  };
  for (const std::int64_t mr : counts_up_to(p.rows()))
    for (const std::int64_t nr : counts_up_to(p.n))
      if (fits_registers(mr, nr, limits) && cost_of(mr, nr) < cost_of(s.mr, s.nr)) {
        s.mr = mr;
        s.nr = nr;
      }
  return s;
}

struct Lowering {
  ProductView p;
  Schedule s;
  KernelBuilder builder;
  Operands operands{};
  FusedEpilogue epilogue;
  BufferId a_rows{};  ///< copied rows of A
  BufferId sums{};    ///< sums of a tile for the epilogue; each row has whole vectors
  bool by_element{};  ///< whether the epilogue reads elements that are not neighbours
  VarId work_item{}, batch{}, jc{}, jt{}, it{}, row{}, column{};
  VarId rows{};  ///< number of rows, if the call passes it (p.usual_rows)

  bool any_rows() const { return p.usual_rows > 0; }

  std::int64_t tiles() const { return ceil_div(p.n, s.nr); }
  std::int64_t part_tiles() const { return ceil_div(tiles(), s.threads); }
  std::int64_t nc() const { return std::min(s.nc, part_tiles()); }
  bool is_scattered() const { return p.c == Layout::kColumn; }
  std::int64_t row_vectors(std::int64_t columns) const { return ceil_div(columns, s.lanes); }
  bool copies_a() const { return p.a == Layout::kColumn; }
  /// Returns the distance of two copied rows in elements.
  std::int64_t a_pitch() const { return ceil_div(p.k, s.lanes) * s.lanes; }
  Expr batch_offset(std::int64_t elements) const { return p.batch == 1 ? integer(0) : var(batch) * elements; }
  Expr c_element(const Expr& of_row, const Expr& of_column) const {
    return matrix_element(p.c, p.m, p.n, batch_offset(p.m * p.n), of_row, of_column);
  }
};

// Applies the epilogue to a tile's sums, a vector of a row at a time. Element by element, functions such as
// GELU would take longer than the products. `last` is the last row of the tile that exists, if that may not
// be the tile's last row.
Block finish(Lowering& l, std::int64_t rows, std::int64_t columns, const std::optional<Expr>& last) {
  const int width = static_cast<int>(l.s.lanes);
  const std::int64_t pitch = l.row_vectors(columns) * l.s.lanes;
  const VarId i = l.builder.var("row_of_tile"), j = l.builder.var("column_of_tile");
  const Expr row = var(l.row) + var(i);
  Block vectors;
  for (std::int64_t at = 0; at < columns; at += l.s.lanes) {
    std::optional<Expr> active;
    if (columns - at < l.s.lanes) active = integer(columns - at);
    const Expr first = var(l.column) + at, held = var(i) * pitch + at, element = l.c_element(row, first);
    Expr value = l.epilogue.of(load(l.sums, held, width), place_of(l.p, row, first, element, width, active));
    vectors.push_back(l.is_scattered() ? Store{l.sums, held, value, width, std::nullopt}
                                       : Store{l.operands.c, element, value, width, active});
  }
  if (l.is_scattered())
    vectors.push_back(loop(j, columns, LoopKind::kSerial,
                           block(Store{l.operands.c, l.c_element(row, var(l.column) + var(j)),
                                       load(l.sums, var(i) * pitch + var(j)), 1, std::nullopt})));
  return block(last ? loop_to(i, *last + 1, rows, vectors) : loop(i, rows, LoopKind::kSerial, vectors));
}

/// A tile of C in registers, a vector of sums over k for each of its elements.
class DotTile {
 public:
  /// `last_rows`: the tile may extend beyond the last row. The rows after it are computed from the last row's
  /// values, and are not stored.
  DotTile(Lowering& l, std::int64_t rows, std::int64_t columns, bool last_rows)
      : l_(l),
        rows_(rows),
        columns_(columns),
        lanes_(l.s.lanes),
        width_(static_cast<int>(lanes_)),
        acc_(l.builder.buffer("acc", DType::kF32, Scope::kRegister, rows * columns * lanes_, width_)),
        i_(l.builder.var("i")),
        j_(l.builder.var("j")) {
    if (last_rows) last_var_ = l.builder.var("last_row");
  }

  /// Returns the loop over all of k, and the store of the tile to C.
  Block kernel() {
    Block result = block(Alloc{acc_}, over_tile(block(store_acc(zero(DType::kF32, width_)))));
    if (last_var_) result.push_front(Let{*last_var_, var(l_.rows) - 1 - var(l_.row)});
    append(result, products());
    append(result, write());
    return result;
  }

 private:
  Expr acc_at() const { return var(i_) * (columns_ * lanes_) + var(j_) * lanes_; }
  Stmt store_acc(Expr value) const { return Store{acc_, acc_at(), std::move(value), width_, std::nullopt}; }
  BufferId a() const { return l_.copies_a() ? l_.a_rows : l_.operands.a; }
  Expr a_at(const Expr& at) const {
    if (l_.copies_a()) return (var(l_.row) + var(i_)) * l_.a_pitch() + at;
    const Expr row = last_var_ ? min(var(i_), var(*last_var_)) : var(i_);
    return l_.batch_offset(l_.p.m * l_.p.k) + (var(l_.row) + row) * l_.p.k + at;
  }
  Expr b_at(const Expr& at) const {
    return l_.batch_offset(l_.p.k * l_.p.n) + (var(l_.column) + var(j_)) * l_.p.k + at;
  }
  Stmt over_tile(Block body) const {
    return loop(i_, rows_, LoopKind::kUnrolled,
                block(loop(j_, columns_, LoopKind::kUnrolled, std::move(body))));
  }
  /// Returns `body` for each stored element of the tile.
  Block stored(Block body) const {
    if (last_var_) body = block(If{le(var(i_), var(*last_var_)), std::move(body), {}});
    return block(over_tile(std::move(body)));
  }
  Block products();
  Block step(const Expr& at, const std::optional<Expr>& active);
  Block write();

  Lowering& l_;
  std::int64_t rows_, columns_, lanes_;
  int width_;
  BufferId acc_;
  VarId i_, j_;
  std::optional<VarId> last_var_;
};

Block DotTile::products() {
  const VarId k = l_.builder.var("k"), u = l_.builder.var("u");
  Block result;
  const std::int64_t stride = l_.s.ku * lanes_;
  const std::int64_t whole = l_.p.k / stride;
  if (whole > 0) {
    const Expr at = l_.s.ku == 1 ? var(k) * stride : var(k) * stride + var(u) * lanes_;
    Block body = step(at, std::nullopt);
    if (l_.s.ku > 1) body = block(loop(u, l_.s.ku, LoopKind::kUnrolled, body));
    result.push_back(loop(k, whole, LoopKind::kSerial, body));
  }
  for (std::int64_t at = whole * stride; at < l_.p.k;
       at += lanes_) {  // fewer than ku vectors, the last one masked
    const std::int64_t left = l_.p.k - at;
    append(result, step(integer(at), left < lanes_ ? std::optional<Expr>(integer(left)) : std::nullopt));
  }
  return result;
}

/// Computes one vector of k at `at`. The vectors of A stay in registers while those of B pass.
Block DotTile::step(const Expr& at, const std::optional<Expr>& active) {
  const BufferId a_reg = l_.builder.buffer("a_reg", DType::kF32, Scope::kRegister, rows_ * lanes_, width_);
  const BufferId b_reg = l_.builder.buffer("b_reg", DType::kF32, Scope::kRegister, lanes_, width_);
  const auto vector_at = [&](BufferId buffer, const Expr& index) {
    return active ? load_active(buffer, index, width_, *active) : load(buffer, index, width_);
  };
  Block body =
      block(Alloc{a_reg},
            loop(i_, rows_, LoopKind::kUnrolled,
                 block(Store{a_reg, var(i_) * lanes_, vector_at(a(), a_at(at)), width_, std::nullopt})));
  Block column_body = block(Alloc{b_reg});
  if (l_.s.prefetch > 0 && !active) {
    column_body.push_back(Intrinsic{
        "prefetch",
        {Touch{l_.operands.b, b_at(at + l_.s.prefetch * cpu::kLineFloats), cpu::kLineFloats, false}},
        {},
        0});
  }
  column_body.push_back(Store{b_reg, integer(0), vector_at(l_.operands.b, b_at(at)), width_, std::nullopt});
  column_body.push_back(
      loop(i_, rows_, LoopKind::kUnrolled,
           block(store_acc(fma(load(a_reg, var(i_) * lanes_, width_), load(b_reg, integer(0), width_),
                               load(acc_, acc_at(), width_))))));
  body.push_back(loop(j_, columns_, LoopKind::kUnrolled, column_body));
  return body;
}

Block DotTile::write() {
  const Expr row = var(l_.row) + var(i_), column = var(l_.column) + var(j_);
  const Expr element = l_.c_element(row, column), sum = reduce_add(load(acc_, acc_at(), width_));
  if (l_.epilogue.empty()) return stored(block(Store{l_.operands.c, element, sum, 1, std::nullopt}));
  if (l_.by_element) {
    const BufferId held = l_.builder.buffer("sum", DType::kF32, Scope::kRegister, 1);
    Expr value =
        l_.epilogue.of(load(held, integer(0)), place_of(l_.p, row, column, element, 1, std::nullopt));
    return block(over_tile(block(Alloc{held}, Store{held, integer(0), sum, 1, std::nullopt},
                                 Store{l_.operands.c, element, value, 1, std::nullopt})));
  }
  const std::int64_t pitch = l_.row_vectors(columns_) * lanes_;
  Block result = block(over_tile(block(Store{l_.sums, var(i_) * pitch + var(j_), sum, 1, std::nullopt})));
  std::optional<Expr> last;
  if (last_var_) last = var(*last_var_);
  append(result, finish(l_, rows_, columns_, last));
  return result;
}

/// If there are fewer rows than lanes in a vector, copies A element by element, because most of a transposed
/// block would be empty.
Stmt copy_a(Lowering& l) {
  if (l.p.m < l.s.lanes) {
    const VarId k = l.builder.var("copy_k"), row = l.builder.var("copy_row");
    const Expr from = l.batch_offset(l.p.m * l.p.k) + var(k) * l.p.m + var(row);
    const Stmt move =
        Store{l.a_rows, var(row) * l.a_pitch() + var(k), load(l.operands.a, from), 1, std::nullopt};
    return loop(k, l.p.k, LoopKind::kSerial, block(loop(row, l.p.m, LoopKind::kUnrolled, block(move))));
  }
  return cpu::transpose(l.builder, {.from = l.operands.a,
                                    .to = l.a_rows,
                                    .source = l.batch_offset(l.p.m * l.p.k),
                                    .from_stride = l.p.m,
                                    .to_stride = l.a_pitch(),
                                    .rows = integer(l.p.k),
                                    .columns = integer(l.p.m),
                                    .most_rows = l.p.k,
                                    .most_columns = l.p.m,
                                    .lanes = l.s.lanes});
}

/// Returns the loops over the tiles of a block of columns.
Block tiles_of_block(Lowering& l) {
  const Expr first = cpu::first_tile(var(l.work_item), l.tiles(), l.s.threads);
  const Expr end = cpu::first_tile(var(l.work_item) + 1, l.tiles(), l.s.threads);
  const bool even = l.tiles() % l.s.threads == 0;
  const Expr tiles_now = cpu::tiles_in_block(first, end, l.part_tiles(), even, var(l.jc), l.nc());
  const Expr tile_index = first + var(l.jc) * l.nc() + var(l.jt);

  const std::int64_t full_rows = l.p.m / l.s.mr, tail_rows = l.p.m % l.s.mr;
  const std::int64_t full_columns = l.p.n / l.s.nr, tail_columns = l.p.n % l.s.nr;
  const auto over_columns = [&](std::int64_t rows, bool last_rows) {
    Block inner, edge;
    if (full_columns > 0) inner = DotTile(l, rows, l.s.nr, last_rows).kernel();
    if (tail_columns > 0) edge = DotTile(l, rows, tail_columns, last_rows).kernel();
    return cpu::by_tile(tile_index, full_columns, tail_columns, inner, edge);
  };
  Block inner, edge;
  if (full_rows > 0) inner = over_columns(l.s.mr, false);
  Block tile = inner;
  if (l.any_rows() && l.s.mr > 1) {
    tile = block(If{le(var(l.row) + l.s.mr, var(l.rows)), inner, over_columns(l.s.mr, true)});
  } else if (!l.any_rows()) {
    if (tail_rows > 0) edge = over_columns(tail_rows, false);
    tile = cpu::by_tile(var(l.it), full_rows, tail_rows, inner, edge);
  }

  const Stmt let_column = Let{l.column, tile_index * l.s.nr};
  const Stmt let_row = Let{l.row, var(l.it) * l.s.mr};
  const auto over_rows = [&](Block body) {
    const std::int64_t row_tiles = ceil_div(l.p.rows(), l.s.mr);
    if (!l.any_rows()) return loop(l.it, row_tiles, LoopKind::kSerial, std::move(body));
    return loop_to(l.it, (var(l.rows) + (l.s.mr - 1)) / l.s.mr, row_tiles, std::move(body));
  };
  tile.push_front(l.s.order == 0 ? let_row : let_column);
  if (l.s.order == 0) return block(loop_to(l.jt, tiles_now, l.nc(), block(let_column, over_rows(tile))));
  return block(over_rows(block(let_row, loop_to(l.jt, tiles_now, l.nc(), tile))));
}

Kernel lower_gemm_dot_cpu(const Workload& workload, const Schedule& schedule, const Limits&) {
  Lowering l;
  l.p = view_of(workload);
  l.s = schedule;
  KernelBuilder& builder = l.builder;
  builder.kernel.name = "gemm_dot_cpu";
  builder.kernel.target = Target::kCpu;
  l.operands = add_params(builder, l.p);
  l.epilogue = FusedEpilogue(builder, workload);
  l.by_element = l.is_scattered() && has_residual(workload.epilogue);
  l.work_item = builder.var("task_index");
  l.batch = builder.var("batch");
  l.jc = builder.var("jc");
  l.jt = builder.var("jt");
  l.it = builder.var("it");
  l.row = builder.var("row");
  l.column = builder.var("column");
  if (l.any_rows()) {
    l.rows = builder.var("rows");
    builder.kernel.rows = Rows{l.rows, l.p.m, l.p.usual_rows};
  }

  const bool keeps_sums = !l.epilogue.empty() && !l.by_element;
  if (keeps_sums)
    l.sums = builder.buffer("sums", DType::kF32, Scope::kScratch, l.s.mr * l.row_vectors(l.s.nr) * l.s.lanes);
  if (l.copies_a()) l.a_rows = builder.buffer("a_rows", DType::kF32, Scope::kScratch, l.p.m * l.a_pitch());
  Block body = block(loop(l.jc, ceil_div(l.part_tiles(), l.nc()), LoopKind::kSerial, tiles_of_block(l)));
  if (l.copies_a()) body.push_front(copy_a(l));
  if (l.p.batch > 1) body = block(loop(l.batch, l.p.batch, LoopKind::kSerial, body));
  if (l.copies_a()) body.push_front(Alloc{l.a_rows});
  if (keeps_sums) body.push_front(Alloc{l.sums});
  builder.kernel.body = block(loop(l.work_item, l.s.threads, LoopKind::kParallel, body));
  return std::move(builder.kernel);
}

}  // namespace

Template gemm_dot_cpu_template() {
  return family<"gemm_dot_cpu", knobs, wanted, lower_gemm_dot_cpu>({.version = 3,
                                                                    .target = Target::kCpu,
                                                                    .why_not = why_not,
                                                                    .op = Operator::kGemm,
                                                                    .reads = {"math", "alpha", "rows"}});
}

}  // namespace lehr
