// The loop nest of one thread's share of the rows:
//
//   for groups of `rows` rows, then for the remaining rows
//     for each pass (row_plan.h; the last pass stores)
//       for steps of `vectors` vectors of columns    -> operands, reductions, outputs, in registers
//
// With few columns, a group has as many rows as a vector has lanes, and its elements are rearranged so that
// neighbouring rows are contiguous (across). If there are no reductions and every tensor has a value for each
// element, all rows are treated as one. With few rows, the rows are split: each work item has a range of
// columns of all rows. The passes are then steps of the kernel, and the work items' sums lie in a workspace
// between the steps.
#include "templates/rowwise/cpu/rowwise_cpu.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "templates/family.h"
#include "templates/rowwise/cpu/row_steps.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/lines_cpu.h"

namespace lehr {
namespace {

using namespace ir;
using cpu::RowKeep;
using cpu::RowKernel;
using cpu::RowPlan;
using cpu::RowSplit;
using cpu::RowSteps;

/// Maximum number of vectors that are kept in registers. With more, the code of a row gets long, and more of
/// them are spilled.
constexpr std::int64_t kMostKept = 32;
/// Maximum number of bytes of a row's kept values. They stay in the second-level cache of a core.
constexpr std::int64_t kMostScratch = 1 << 19;
/// Minimum number of bytes of outputs that may be worth storing past the caches.
constexpr std::int64_t kLeastStreamed = 1 << 18;
/// Minimum number of columns with which splitting a row pays. Each pass is then a step of all threads, which
/// takes a microsecond or two.
constexpr std::int64_t kLeastSplit = 1 << 14;

struct Schedule {
  std::int64_t threads = 1, lanes = 16;
  std::int64_t across = 0;   ///< 1: the lanes of a vector hold rows
  std::int64_t vectors = 1;  ///< number of vectors in a step
  std::int64_t rows = 1;     ///< number of rows computed at once
  std::int64_t split = 0;    ///< 1: threads divide the columns, not the rows
  std::int64_t keep = 0;     ///< RowKeep
  std::int64_t streaming = 0;
};

bool is_by_elements(const RowTensor& tensor) {
  return tensor.varies ? tensor.line == RowTensor::Line::kRow : tensor.line == RowTensor::Line::kOnly;
}

/// Returns whether all rows can be treated as one row.
bool is_flat(const Rowwise& r, const RowPlan& plan) {
  return !plan.has_reductions() && std::ranges::all_of(r.in, is_by_elements) &&
         std::ranges::all_of(r.out, is_by_elements);
}

/// Returns whether tensors can be rearranged so that values of neighbouring rows are contiguous.
bool goes_across(const Rowwise& r) {
  const auto goes = [](const RowTensor& tensor) {
    if (tensor.line == RowTensor::Line::kOnly) return true;
    return tensor.line == RowTensor::Line::kRow && tensor.type == DType::kF32;
  };
  return std::ranges::all_of(r.in, goes) && std::ranges::all_of(r.out, goes);
}

/// Returns the maximum number of rows that a schedule splits. With more rows, threads divide the remaining
/// rows.
std::int64_t most_split(const Schedule& s) {
  return 4 * s.threads;
}

std::int64_t vectors_of(const Rowwise& r, const Schedule& s) {
  return s.across != 0 ? r.n : ceil_div(r.n, s.lanes);
}

/// Returns the number of bytes of outputs that can be stored past the caches.
double stored_bytes(const Rowwise& r) {
  double bytes = 0;
  for (const RowTensor& tensor : r.out)
    if (tensor.varies && tensor.type == DType::kF32)
      bytes += 4.0 * static_cast<double>(r.m) * static_cast<double>(r.n);
  return bytes;
}

std::optional<std::string> why_not(const Workload&, const Limits&) {
  return std::nullopt;
}

void knobs(Knobs<Schedule>& k, const Workload& workload, const Limits& limits) {
  using S = Schedule;
  const Rowwise& r = workload.rowwise();
  const RowPlan plans[] = {cpu::plan_rows(r, RowKeep::kAgain), cpu::plan_rows(r, RowKeep::kScratch),
                           cpu::plan_rows(r, RowKeep::kRegisters)};
  const std::int64_t kept[] = {0, plans[1].kept_count(), plans[2].kept_count()};
  const bool flat = is_flat(r, plans[0]), may_cross = !flat && goes_across(r);
  const std::int64_t n = r.n, m = r.m;
  k.knob(&S::threads, "threads", "CPU threads, each with a range of rows", cpu::thread_counts(limits));
  k.knob(&S::lanes, "lanes", "f32 lanes of a vector", cpu::lane_counts(limits));
  k.knob(&S::across, "across", "a vector holds 0: columns, 1: rows", {0, 1});
  k.only([=](const S& s) { return s.across == 0 || (may_cross && n < 2 * s.lanes); });
  k.knob(&S::vectors, "vectors", "vectors of a step", {1, 2, 4, 8});
  k.only(
      [=](const S& s) { return s.vectors == 1 || flat || (s.across == 0 && (s.vectors - 1) * s.lanes < n); });
  k.knob(&S::rows, "rows", "rows at once", {1, 2, 4});
  k.only([=](const S& s) { return s.rows == 1 || (!flat && s.across == 0 && s.rows <= m); });
  k.knob(&S::split, "split", "threads share 0: rows, 1: columns", {0, 1});
  k.only([=](const S& s) {
    const bool may = s.threads > 1 && !flat && s.across == 0 && s.rows == 1 && plans[0].passes > 0;
    return s.split == 0 || (may && m <= most_split(s) && n >= 2 * s.threads * s.vectors * s.lanes);
  });
  k.forbid("too many accumulators", [=](const S& s) { return s.rows * s.vectors > 8; });
  k.knob(&S::keep, "keep",
         "values that a later pass needs 0: are computed again, 1: stay in scratch memory, "
         "2: stay in registers",
         {0, 1, 2});
  k.only([=](const S& s) {
    if (s.keep == 0) return true;
    if (s.split != 0) return false;
    const std::int64_t vectors = kept[s.keep] * ceil_div(n, s.lanes) * s.rows;
    if (kept[s.keep] == 0) return false;
    if (s.keep == 2) return s.across == 0 && vectors <= kMostKept;
    return vectors * s.lanes * 4 <= kMostScratch;
  });
  const double stored = stored_bytes(r);
  k.knob(&S::streaming, "streaming", "1: outputs are stored past the caches", {0, 1});
  k.only([=](const S& s) { return s.streaming == 0 || (stored >= kLeastStreamed && s.across == 0); });
}

Schedule wanted(const Workload& workload, const Limits& limits) {
  const Rowwise& r = workload.rowwise();
  Schedule s = {.threads = cpu::default_threads(workload, limits), .lanes = cpu::lane_counts(limits).back()};
  s.across = goes_across(r) && r.n < s.lanes ? 1 : 0;
  s.vectors = std::min<std::int64_t>(4, std::max<std::int64_t>(1, r.n / s.lanes));
  while (!std::has_single_bit(static_cast<std::uint64_t>(s.vectors))) --s.vectors;
  const std::int64_t kept = cpu::plan_rows(r, RowKeep::kRegisters).kept_count() * ceil_div(r.n, s.lanes);
  s.keep = kept > 0 && kept <= kMostKept / 2 ? 2 : 1;
  s.split = r.m < s.threads && r.n >= kLeastSplit ? 1 : 0;
  s.streaming = limits.l3_bytes > 0 && stored_bytes(r) > static_cast<double>(limits.l3_bytes) ? 1 : 0;
  return s;
}

/// A kernel under construction.
struct Lowering {
  const Rowwise& r;
  const Schedule& s;
  RowKernel k;
  VarId work_item{};

  Expr row_count() { return k.builder.kernel.rows ? var(k.builder.kernel.rows->var) : integer(r.m); }
  std::int64_t tail() const { return s.across != 0 ? 0 : r.n % s.lanes; }
};

void add_tensors(Lowering& l) {
  KernelBuilder& b = l.k.builder;
  const auto add = [&](const std::vector<RowTensor>& tensors, Direction direction,
                       std::vector<BufferId>& to) {
    for (const RowTensor& tensor : tensors)
      to.push_back(b.param(tensor.name, tensor.type, lines_of(tensor, l.r.m) * (tensor.varies ? l.r.n : 1),
                           direction));
  };
  add(l.r.in, Direction::kIn, l.k.in);
  add(l.r.out, Direction::kOut, l.k.out);
  if (any_rows(l.r)) b.kernel.rows = Rows{b.var("rows"), ((std::int64_t{1} << 31) - 1) / l.r.n, rows_of(l.r)};
}

/// A work item's share of the vectors of a row, in steps. The last work item also has the rest.
struct Share {
  Expr first, count, is_last;
  std::int64_t most;
};

/// Computes all columns of a group of rows in one pass, or a work item's share of the columns.
Block columns(Lowering& l, RowSteps& steps, int pass, const Expr& row, const Share* share = nullptr) {
  KernelBuilder& b = l.k.builder;
  const Schedule& s = l.s;
  if (s.across != 0) {
    const VarId j = b.var("column");
    return block(loop(j, l.r.n, LoopKind::kSerial, steps.step(pass, {.row = row, .column = var(j)})));
  }
  const bool unrolled = s.keep == static_cast<std::int64_t>(RowKeep::kRegisters);
  const std::int64_t all = l.r.n / s.lanes, whole = all / s.vectors, rest = all % s.vectors;
  Block body;
  const auto several = [&](const Expr& first, std::int64_t count) {
    const Unrolled vector(b, "vector", count);
    return vector.over(
        steps.step(pass, {.row = row, .column = (first + vector.at) * s.lanes, .accumulator = vector.at}));
  };
  if (share != nullptr) {
    const VarId v = b.var("v");
    body.push_back(
        loop_to(v, share->count, share->most, several((share->first + var(v)) * s.vectors, s.vectors)));
  } else if (whole > 0) {
    const VarId v = b.var("v");
    body.push_back(loop(v, whole, unrolled ? LoopKind::kUnrolled : LoopKind::kSerial,
                        several(var(v) * s.vectors, s.vectors)));
  }
  Block left;
  if (rest > 0) left.append(several(integer(whole * s.vectors), rest));
  if (l.tail() > 0)
    left.append(
        steps.step(pass, {.row = row, .column = integer(all * s.lanes), .active = integer(l.tail())}));
  if (share != nullptr && !left.empty())
    body.push_back(If{share->is_last, std::move(left), {}});
  else
    body.append(std::move(left));
  return body;
}

/// Computes a group of rows, from `row` on.
Block group(Lowering& l, std::int64_t rows, const Expr& row) {
  RowSteps steps(l.k, rows, l.s.vectors, vectors_of(l.r, l.s), static_cast<RowKeep>(l.s.keep));
  Block body = steps.begin(row);
  for (int pass = 0; pass < l.k.plan.passes; ++pass) {
    body.append(steps.clear(pass));
    body.append(columns(l, steps, pass, row));
    body.append(steps.end(pass, row));
  }
  return body;
}

/// Rearranges the inputs of a group of rows so that its rows are contiguous, computes the group, and stores
/// the outputs as they lie in memory.
Block across_group(Lowering& l, const Expr& row) {
  KernelBuilder& b = l.k.builder;
  const Expr left = l.row_count() - row;
  Block body;
  const std::vector<BufferId> inputs = l.k.in, outputs = l.k.out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!l.r.in[i].varies || l.r.in[i].line != RowTensor::Line::kRow) continue;
    l.k.in[i] = b.buffer("columns", DType::kF32, Scope::kScratch, l.r.n * l.s.lanes);
    body.push_back(Alloc{l.k.in[i]});
    body.push_back(cpu::transpose(b, {.from = inputs[i],
                                      .to = l.k.in[i],
                                      .source = row * l.r.n,
                                      .from_stride = l.r.n,
                                      .to_stride = l.s.lanes,
                                      .rows = min(left, integer(l.s.lanes)),
                                      .columns = integer(l.r.n),
                                      .most_rows = l.s.lanes,
                                      .most_columns = l.r.n,
                                      .lanes = l.s.lanes}));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!l.r.out[i].varies) continue;
    l.k.out[i] = b.buffer("columns", DType::kF32, Scope::kScratch, l.r.n * l.s.lanes);
    body.push_back(Alloc{l.k.out[i]});
  }
  body.append(group(l, 1, row));
  const std::int64_t room = ceil_div(l.r.n, l.s.lanes) * l.s.lanes;
  const int lanes = static_cast<int>(l.s.lanes);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!l.r.out[i].varies) continue;
    const BufferId lines = b.buffer("lines", DType::kF32, Scope::kScratch, room * l.s.lanes);
    body.push_back(Alloc{lines});
    body.push_back(cpu::transpose(b, {.from = l.k.out[i],
                                      .to = lines,
                                      .from_stride = l.s.lanes,
                                      .to_stride = room,
                                      .rows = integer(l.r.n),
                                      .columns = integer(l.s.lanes),
                                      .most_rows = l.r.n,
                                      .most_columns = l.s.lanes,
                                      .lanes = l.s.lanes}));
    const VarId each = b.var("each"), v = b.var("v");
    std::optional<Expr> active;
    if (l.r.n % l.s.lanes != 0) active = integer(l.r.n) - var(v) * l.s.lanes;
    const Expr from = var(each) * room + var(v) * l.s.lanes,
               to = (row + var(each)) * l.r.n + var(v) * l.s.lanes;
    body.push_back(
        loop_to(each, min(left, integer(l.s.lanes)), l.s.lanes,
                block(loop(v, room / l.s.lanes, LoopKind::kSerial,
                           block(Store{outputs[i], to, load(lines, from, lanes), lanes, active})))));
  }
  l.k.in = inputs;
  l.k.out = outputs;
  return body;
}

/// Computes a thread's share of all elements, in vectors.
Block flat_work_item(Lowering& l) {
  KernelBuilder& b = l.k.builder;
  const Schedule& s = l.s;
  const std::int64_t step = s.vectors * s.lanes;
  const VarId own = b.var("own");
  const Expr all = l.row_count() * l.r.n, tiles = (all + (step - 1)) / step;
  const Expr first = cpu::first_tile(var(l.work_item), tiles, s.threads);
  const Expr count = cpu::first_tile(var(l.work_item) + 1, tiles, s.threads) - first;
  const VarId tile = b.var("tile");
  RowSteps steps(l.k, 1, 1, 1, RowKeep::kAgain);
  const auto vectors = [&](bool whole) {
    const Unrolled vector(b, "vector", s.vectors);
    const Expr column = var(tile) * step + vector.at * s.lanes;
    return vector.over(
        steps.step(0, {.column = column, .active = whole ? std::nullopt : std::optional(all - column)}));
  };
  Block body = block(Let{tile, first + var(own)});
  body.push_back(If{le(var(tile) * step + step, all), vectors(true), vectors(false)});
  Block work_item = steps.begin(integer(0));
  work_item.push_back(loop_to(own, count, ceil_div(rows_of(l.r) * l.r.n, step * s.threads), body));
  return work_item;
}

/// Fills RowKernel::tail if it is needed.
Block make_tail(Lowering& l) {
  if (l.tail() == 0 || !l.k.plan.has_reductions()) return {};
  KernelBuilder& b = l.k.builder;
  const BufferId ones = b.buffer("ones", DType::kF32, Scope::kScratch, l.s.lanes);
  const int lanes = static_cast<int>(l.s.lanes);
  l.k.tail = b.buffer("tail", DType::kF32, Scope::kRegister, l.s.lanes, lanes);
  return block(Alloc{ones}, Alloc{l.k.tail},
               Store{ones, integer(0), splat(Float{1, DType::kF32}, lanes), lanes, std::nullopt},
               Store{l.k.tail, integer(0), load_active(ones, integer(0), lanes, integer(l.tail())), lanes,
                     std::nullopt});
}

/// Computes a thread's share of the rows, from row `from` on.
Block rows_work_item(Lowering& l, std::int64_t from) {
  KernelBuilder& b = l.k.builder;
  const Schedule& s = l.s;
  const Expr all = from == 0 ? l.row_count() : max(l.row_count() - from, integer(0));
  const std::int64_t at_once = s.across != 0 ? s.lanes : s.rows;
  const VarId first = b.var("first"), count = b.var("count"), own = b.var("own"), row = b.var("row");
  Block work_item = make_tail(l);
  const std::int64_t share = ceil_div(rows_of(l.r), s.threads);
  if (s.across != 0) {  // threads divide groups, so that all groups but the last one are whole
    const Expr groups = (all + (at_once - 1)) / at_once;
    work_item.push_back(Let{first, cpu::first_tile(var(l.work_item), groups, s.threads)});
    const Expr own_groups = cpu::first_tile(var(l.work_item) + 1, groups, s.threads) - var(first);
    Block body = across_group(l, var(row));
    body.push_front(Let{row, (var(first) + var(own)) * at_once});
    work_item.push_back(loop_to(own, own_groups, ceil_div(share, at_once), body));
    return work_item;
  }
  work_item.push_back(Let{first, cpu::first_tile(var(l.work_item), all, s.threads)});
  work_item.push_back(Let{count, cpu::first_tile(var(l.work_item) + 1, all, s.threads) - var(first)});
  Block groups = group(l, at_once, var(row));
  groups.push_front(Let{row, var(first) + from + var(own) * at_once});
  work_item.push_back(loop_to(own, var(count) / at_once, std::max<std::int64_t>(1, share / at_once), groups));
  if (at_once == 1) return work_item;
  const VarId rest = b.var("rest"), last = b.var("row");
  Block body = group(l, 1, var(last));
  body.push_front(Let{last, var(first) + var(count) / at_once * at_once + var(rest)});
  work_item.push_back(loop_to(rest, var(count) % at_once, at_once - 1, body));
  return work_item;
}

/// Computes a work item's share of the columns of split rows, in one pass.
Block split_work_item(Lowering& l, int pass) {
  KernelBuilder& b = l.k.builder;
  const Schedule& s = l.s;
  l.k.split->work_item = l.work_item;
  l.k.split->pass = pass;
  Block work_item = pass < l.k.plan.passes ? make_tail(l) : Block{};
  const VarId first = b.var("first"), count = b.var("count"), row = b.var("row");
  const std::int64_t tiles = l.r.n / s.lanes / s.vectors;
  work_item.push_back(Let{first, cpu::first_tile(var(l.work_item), integer(tiles), s.threads)});
  work_item.push_back(
      Let{count, cpu::first_tile(var(l.work_item) + 1, integer(tiles), s.threads) - var(first)});
  RowSteps steps(l.k, s.vectors);
  Block body = steps.begin(var(row));
  body.append(steps.add_partials(var(row)));
  if (pass < l.k.plan.passes) {
    const Share share = {var(first), var(count), eq(var(l.work_item), integer(s.threads - 1)),
                         ceil_div(tiles, s.threads)};
    body.append(steps.clear(pass));
    body.append(columns(l, steps, pass, var(row), &share));
    body.append(steps.store_partials(var(row)));
  }
  const std::int64_t most = l.k.builder.kernel.rows ? l.k.split->rows : l.r.m;
  work_item.push_back(loop_to(row, min(l.row_count(), integer(most)), most, std::move(body)));
  return work_item;
}

/// Returns a step for each pass, and one more step if an output is known only after the last pass. The first
/// step also computes the rows that are not split.
Block split_steps(Lowering& l) {
  KernelBuilder& b = l.k.builder;
  const RowPlan& plan = l.k.plan;
  int steps = plan.passes;
  for (std::size_t i = 0; i < l.r.out.size(); ++i)
    steps = std::max(steps, plan.ready[static_cast<std::size_t>(plan.expression.outputs[i])] + 1);
  const std::int64_t rows = most_split(l.s), reductions = static_cast<std::int64_t>(plan.reductions.size());
  RowSplit split{.rows = rows, .work_items = l.s.threads};
  if (steps > 1)
    split.partials = b.param("partials", DType::kF32, reductions * rows * l.s.threads, Direction::kWorkspace);
  Block body;
  for (int pass = 0; pass < steps; ++pass) {
    l.work_item = b.var("task_index");
    Block work_item;
    l.k.split.reset();
    if (pass == 0 && b.kernel.rows) work_item = rows_work_item(l, rows);
    l.k.split = split;
    work_item.append(split_work_item(l, pass));
    body.push_back(loop(l.work_item, l.s.threads, LoopKind::kParallel, std::move(work_item)));
  }
  return body;
}

Kernel lower_rowwise_cpu(const Workload& workload, const Schedule& s, const Limits&) {
  const Rowwise& r = workload.rowwise();
  Lowering l{.r = r,
             .s = s,
             .k = {.rowwise = r,
                   .plan = cpu::plan_rows(r, static_cast<RowKeep>(s.keep)),
                   .lanes = s.lanes,
                   .across = s.across != 0,
                   .streaming = s.streaming != 0}};
  KernelBuilder& b = l.k.builder;
  b.kernel.name = "rowwise_cpu";
  b.kernel.target = Target::kCpu;
  add_tensors(l);
  if (s.split != 0) {
    b.kernel.body = split_steps(l);
    return std::move(b.kernel);
  }
  l.work_item = b.var("task_index");
  Block work_item = is_flat(r, l.k.plan) ? flat_work_item(l) : rows_work_item(l, 0);
  b.kernel.body = block(loop(l.work_item, s.threads, LoopKind::kParallel, std::move(work_item)));
  return std::move(b.kernel);
}

}  // namespace

Template rowwise_cpu_template() {
  return family<"rowwise_cpu", knobs, wanted, lower_rowwise_cpu>(
      {.target = Target::kCpu, .why_not = why_not, .op = Operator::kRowwise, .reads = {"rows"}});
}

}  // namespace lehr
