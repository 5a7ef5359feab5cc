// The loop nest of one work item, which has a range of column chunks (a chunk: nv vectors):
//
//   for batch / for jb: blocks of nb chunks
//     for kb: ku rows of B at a time            -> ku x m scalars of A in registers
//       for jc: chunks of the block             -> C's chunk in registers, ku rows of B added to it
//
// A product with few columns is computed as its transpose, which has few rows. If C's rows are not
// contiguous, the sums of a block of columns are kept in scratch memory and stored after the block.
#include "templates/gemm/cpu/gemv_cpu.h"

#include <algorithm>

#include "base/error.h"
#include "templates/family.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/register_tile.h"

namespace lehr {
namespace {

using namespace ir;

constexpr std::int64_t kMaxRows = 4;  // with more rows, the outer-product family reuses B from registers

struct Schedule {
  std::int64_t threads = 1, lanes = 16;
  std::int64_t nv = 1;  ///< vectors of a chunk
  std::int64_t ku = 1;  ///< rows of B
  std::int64_t nb = 1;  ///< chunks of a block
  std::int64_t prefetch = 0;
};

std::optional<std::string> why_not(const Workload& workload, const Limits&) {
  if (auto reason = cpu::why_not_cpu(workload)) return reason;
  const ProductView p = few_rows_view(workload);
  if (p.m > kMaxRows) return "made for at most 4 rows or columns of C";
  if (p.b != Layout::kRow) return "streams the large operand across k, so it must be contiguous there";
  return std::nullopt;
}

void knobs(Knobs<Schedule>& k, const Workload& workload, const Limits& limits) {
  using S = Schedule;
  const ProductView p = few_rows_view(workload);
  const auto chunks = [=](const S& s) { return ceil_div(p.n, s.nv * s.lanes); };
  k.knob(&S::threads, "threads", "CPU threads, each with a range of columns", cpu::thread_counts(limits));
  k.knob(&S::lanes, "lanes", "f32 lanes of a vector", cpu::lane_counts(limits));
  k.knob(&S::nv, "nv", "vectors of C in registers", {1, 2, 3, 4, 6, 8});
  k.forbid("more threads than chunks of columns", [=](const S& s) { return chunks(s) < s.threads; });
  k.forbid("needs more vector registers than there are",
           [=](const S& s) { return !cpu::fits_registers(p.m, s.nv, limits); });
  std::vector<std::int64_t> rows_at_once;
  for (const std::int64_t rows : {1, 2, 4, 8, 12, 16, 24, 32})
    if (rows <= p.k) rows_at_once.push_back(rows);
  k.knob(&S::ku, "ku", "rows of B streamed side by side", rows_at_once);
  k.forbid("too much code", [=](const S& s) { return p.m * s.nv * s.ku > 128; });
  k.knob(&S::nb, "nb", "chunks of nv vectors of one block of columns; the last value covers all",
         cpu::powers_up_to(ceil_div(p.n, cpu::lane_counts(limits).front())));
  k.only([=](const S& s) { return cpu::is_power_up_to(s.nb, ceil_div(chunks(s), s.threads)); });
  k.knob(&S::prefetch, "prefetch", "cache lines ahead on each row, 0: none", {0, 4, 8, 16, 32, 64});
}

// Chooses enough sums to hide the latency of a multiply-add, if the registers can hold them.
Schedule wanted(const Workload& workload, const Limits& limits) {
  const ProductView p = few_rows_view(workload);
  Schedule s = {.threads = cpu::default_threads(workload, limits),
                .lanes = cpu::lane_counts(limits).back(),
                .nv = 4,
                .ku = 8};
  while (s.nv > 1 && !cpu::fits_registers(p.m, s.nv, limits)) --s.nv;
  s.nb = ceil_div(p.n, s.nv * s.lanes);
  return s;
}

struct Lowering {
  ProductView p;
  Schedule s;
  KernelBuilder builder;
  Operands operands{};
  FusedEpilogue epilogue;
  BufferId sums{};         ///< [row][column of the block], if C's rows are not contiguous
  bool finishes_behind{};  ///< whether, in that case, the epilogue depends on single elements of C
  VarId work_item{}, batch{}, jb{}, jc{}, column{}, k0{};

  std::int64_t chunk() const { return s.nv * s.lanes; }
  std::int64_t chunks() const { return ceil_div(p.n, chunk()); }
  std::int64_t part_chunks() const { return ceil_div(chunks(), s.threads); }
  std::int64_t nb() const { return std::min(s.nb, part_chunks()); }
  std::int64_t block_columns() const { return nb() * chunk(); }
  bool stores_behind() const { return p.c == Layout::kColumn; }
  Expr batch_offset(std::int64_t elements) const { return p.batch == 1 ? integer(0) : var(batch) * elements; }
  Expr c_element(const Expr& row, const Expr& of_column) const {
    return matrix_element(p.c, p.m, p.n, batch_offset(p.m * p.n), row, of_column);
  }
};

/// Conditions that tell which pass over a chunk the current one is.
struct Pass {
  Expr first;  ///< C has no value yet
  Expr last;   ///< no pass follows
};

// Computes one chunk of `columns` columns for `rows` rows of B, from k0 on.
Block chunk_kernel(Lowering& l, std::int64_t columns, std::int64_t rows, const Pass& pass) {
  cpu::RegisterTile tile(l.builder, l.p.m, columns, l.s.lanes);
  const VarId u = l.builder.var("u");
  const BufferId c = l.stores_behind() ? l.sums : l.operands.c;
  const auto c_at = [&](Expr column) {
    if (l.stores_behind()) return tile.row() * l.block_columns() + var(l.jc) * l.chunk() + column;
    return l.c_element(tile.row(), var(l.column) + column);
  };
  const auto b_at = [&](Expr column) {
    return l.batch_offset(l.p.k * l.p.n) + (var(l.k0) + var(u)) * l.p.n + var(l.column) + column;
  };
  Block ahead;
  if (l.s.prefetch > 0) {
    ahead.push_back(tile.prefetch_b(l.operands.b, tile.lines(), [&](Expr column) {
      return b_at(column + l.s.prefetch * cpu::kLineFloats);
    }));
  }
  const Expr batch = l.batch_offset(l.p.m * l.p.k);
  const Expr a =
      load(l.operands.a, matrix_element(l.p.a, l.p.m, l.p.k, batch, tile.row(), var(l.k0) + var(u)));
  const Block step = tile.step(l.builder, l.operands.b, b_at, true, a, ahead);
  Block result = block(tile.allocate(), If{pass.first, block(tile.clear()), block(tile.load_c(c, c_at))},
                       loop(u, rows, LoopKind::kUnrolled, step));
  const auto finish = [&](Expr sums, Expr column, std::optional<Expr> active) {
    return l.epilogue.of(sums, place_of(l.p, tile.row(), var(l.column) + column, c_at(column),
                                        static_cast<int>(l.s.lanes), active));
  };
  if (l.epilogue.empty() || l.finishes_behind)
    result.push_back(tile.store_c(c, c_at));
  else
    result.push_back(If{pass.last, block(tile.store_c(c, c_at, finish)), block(tile.store_c(c, c_at))});
  return result;
}

// Computes all chunks of the current block for `rows` rows of B.
Stmt chunks_over(Lowering& l, std::int64_t rows, const Pass& pass, const Expr& first_chunk,
                 const Expr& chunks_now) {
  const std::int64_t full = l.p.n / l.chunk(), tail = l.p.n % l.chunk();
  Block inner, edge;
  if (full > 0) inner = chunk_kernel(l, l.chunk(), rows, pass);
  if (tail > 0) edge = chunk_kernel(l, tail, rows, pass);
  const Expr chunk_index = first_chunk + var(l.jb) * l.nb() + var(l.jc);
  Block body = cpu::by_tile(chunk_index, full, tail, inner, edge);
  body.push_front(Let{l.column, chunk_index * l.chunk()});
  return loop_to(l.jc, chunks_now, l.nb(), body);
}

// Stores the sums of the current block of columns to C: a few elements for each long column of B.
Stmt store_block(Lowering& l, const Expr& first_chunk, const Expr& chunks_now) {
  const VarId j = l.builder.var("j"), row = l.builder.var("row");
  const Expr first = (first_chunk + var(l.jb) * l.nb()) * l.chunk();
  const Expr column = first + var(j), element = l.c_element(var(row), column);
  Expr value = load(l.sums, var(row) * l.block_columns() + var(j));
  if (l.finishes_behind)
    value = l.epilogue.of(value, place_of(l.p, var(row), column, element, 1, std::nullopt));
  return loop_to(j, min(chunks_now * l.chunk(), integer(l.p.n) - first), l.block_columns(),
                 block(loop(row, l.p.m, LoopKind::kSerial,
                            block(Store{l.operands.c, element, value, 1, std::nullopt}))));
}

Kernel lower_gemv_cpu(const Workload& workload, const Schedule& schedule, const Limits&) {
  Lowering l;
  l.p = few_rows_view(workload);
  l.s = schedule;
  KernelBuilder& builder = l.builder;
  builder.kernel.name = "gemv_cpu";
  builder.kernel.target = Target::kCpu;
  l.operands = add_params(builder, l.p);
  l.epilogue = FusedEpilogue(builder, workload);
  l.finishes_behind = l.stores_behind() && has_residual(workload.epilogue);
  l.work_item = builder.var("task_index");
  l.batch = builder.var("batch");
  l.jb = builder.var("jb");
  const VarId kb = builder.var("kb");
  l.jc = builder.var("jc");
  l.column = builder.var("column");
  l.k0 = builder.var("k0");

  if (l.stores_behind())
    l.sums = builder.buffer("sums", DType::kF32, Scope::kScratch, l.p.m * l.block_columns());

  const Expr first_chunk = cpu::first_tile(var(l.work_item), l.chunks(), l.s.threads);
  const Expr end_chunk = cpu::first_tile(var(l.work_item) + 1, l.chunks(), l.s.threads);
  const bool even = l.chunks() % l.s.threads == 0;
  const Expr chunks_now =
      cpu::tiles_in_block(first_chunk, end_chunk, l.part_chunks(), even, var(l.jb), l.nb());

  const std::int64_t whole = l.p.k / l.s.ku, rest = l.p.k % l.s.ku;
  Block k_loops;
  k_loops.push_back(loop(
      kb, whole, LoopKind::kSerial,
      block(Let{l.k0, var(kb) * l.s.ku},
            chunks_over(l, l.s.ku,
                        {lt(var(kb), integer(1)), rest > 0 ? integer(0) : eq(var(kb), integer(whole - 1))},
                        first_chunk, chunks_now))));
  if (rest > 0) {  // the last k % ku rows of B
    l.k0 = builder.var("k0");
    l.jc = builder.var("jc");
    l.column = builder.var("column");
    k_loops.push_back(Let{l.k0, integer(whole * l.s.ku)});
    k_loops.push_back(chunks_over(l, rest, {integer(0), integer(1)}, first_chunk, chunks_now));
  }
  if (l.stores_behind()) k_loops.push_back(store_block(l, first_chunk, chunks_now));
  Block body = block(loop(l.jb, ceil_div(l.part_chunks(), l.nb()), LoopKind::kSerial, k_loops));
  if (l.p.batch > 1) body = block(loop(l.batch, l.p.batch, LoopKind::kSerial, body));
  if (l.stores_behind()) body.push_front(Alloc{l.sums});
  builder.kernel.body = block(loop(l.work_item, l.s.threads, LoopKind::kParallel, body));
  return std::move(builder.kernel);
}

}  // namespace

Template gemv_cpu_template() {
  return family<"gemv_cpu", knobs, wanted, lower_gemv_cpu>({.version = 3,
                                                            .target = Target::kCpu,
                                                            .why_not = why_not,
                                                            .op = Operator::kGemm,
                                                            .reads = {"math", "alpha"}});
}

}  // namespace lehr
