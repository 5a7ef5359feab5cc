#include "templates/rowwise/cpu/row_steps.h"

#include <limits>
#include <utility>

#include "base/error.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr::cpu {

using namespace ir;

namespace {

std::size_t at(int number) {
  return static_cast<std::size_t>(number);
}

double neutral(RowOp op) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return op == RowOp::kMaxOf ? -kInfinity : op == RowOp::kMinOf ? kInfinity : 0;
}

/// Adds a value to a reduction. `value` is the first operand of max and min: if it is NaN, the other operand
/// is the result.
Expr joined(RowOp op, Expr value, Expr so_far) {
  if (op == RowOp::kMaxOf) return max(std::move(value), std::move(so_far));
  if (op == RowOp::kMinOf) return min(std::move(value), std::move(so_far));
  return std::move(so_far) + std::move(value);
}

bool is_comparison(RowOp op) {
  return op == RowOp::kLess || op == RowOp::kAtMost || op == RowOp::kEqual;
}

Expr comparison(RowOp op, Expr a, Expr b) {
  return op == RowOp::kLess     ? lt(std::move(a), std::move(b))
         : op == RowOp::kAtMost ? le(std::move(a), std::move(b))
                                : eq(std::move(a), std::move(b));
}

/// Returns the number of the tensor's line that a row reads or writes.
Expr line_of(const RowTensor& tensor, const Expr& row) {
  switch (tensor.line) {
    case RowTensor::Line::kRow:
      return row;
    case RowTensor::Line::kDivided:
      return row / tensor.period;
    case RowTensor::Line::kModulo:
      return row % tensor.period;
    case RowTensor::Line::kOnly:
      return integer(0);
  }
  return integer(0);
}

Expr as_f32(Expr value, DType type) {
  return type == DType::kF32 ? value : cast(DType::kF32, std::move(value));
}

}  // namespace

struct RowSteps::Values {
  int pass = 0;
  Expr number = integer(0);  ///< number of the row among the rows that are computed at once
  Expr row = integer(0);
  const RowVector& at;
  Block body = {};
  std::vector<std::optional<Expr>> known = {};  ///< the values computed so far, for each node
};

RowSteps::RowSteps(RowKernel& kernel, std::int64_t accumulators)
    : k_(kernel), rows_(1), accumulators_(accumulators), vectors_(0), keep_(RowKeep::kAgain) {
  make_buffers(k_.plan.needs_of(k_.split->pass, k_.rowwise));
}

RowSteps::RowSteps(RowKernel& kernel, std::int64_t rows, std::int64_t accumulators, std::int64_t vectors,
                   RowKeep keep)
    : k_(kernel), rows_(rows), accumulators_(accumulators), vectors_(vectors), keep_(keep) {
  make_buffers({k_.plan.needed, std::vector<bool>(k_.plan.reductions.size(), true)});
}

void RowSteps::make_buffers(const RowPlan::Needs& needs) {
  const auto make = [&](bool wanted, std::string_view name, Scope scope, std::int64_t elements, int lanes) {
    std::optional<BufferId> made;
    if (wanted) made = k_.builder.buffer(name, DType::kF32, scope, elements, lanes);
    return made;
  };
  const Scope keeps = keep_ == RowKeep::kRegisters ? Scope::kRegister : Scope::kScratch;
  for (std::size_t i = 0; i < k_.plan.expression.nodes.size(); ++i) {
    const bool is_value = needs.row_values[i] && k_.plan.expression.nodes[i].op != RowOp::kNumber;
    row_values_.push_back(make(is_value, "of_row", Scope::kRegister, rows_ * width(), width()));
    kept_.push_back(make(k_.plan.kept[i], "kept", keeps, rows_ * vectors_ * k_.lanes,
                         keep_ == RowKeep::kRegisters ? lanes() : 1));
  }
  for (std::size_t i = 0; i < k_.plan.reductions.size(); ++i) {
    const bool is_here = !k_.split || k_.plan.reductions[i].pass == k_.split->pass;
    sums_.push_back(make(is_here, "sums", Scope::kRegister, rows_ * accumulators_ * k_.lanes, lanes()));
    results_.push_back(make(needs.reductions[i], "sum", Scope::kRegister, rows_ * width(), width()));
  }
}

Expr RowSteps::constant(double value, int lanes) const {
  const Expr one = Float{value, DType::kF32};
  return lanes == 1 ? one : splat(one, lanes);
}

template <typename Body>
Block RowSteps::each_row(const Body& body) {
  const Unrolled row(k_.builder, "of_rows", rows_);
  return row.over(body(row.at));
}

/// Returns a select. Its condition is a comparison if the comparison varies whenever the select does;
/// otherwise the condition is a value that is not 0.
template <typename Value>
Expr RowSteps::chosen(const RowNode& node, int lanes, const Value& value) const {
  const RowNode& condition = k_.plan.node(node.operands[0]);
  Expr yes = value(node.operands[1]), no = value(node.operands[2]);
  if (is_comparison(condition.op) && condition.varies == node.varies)
    return select(comparison(condition.op, value(condition.operands[0]), value(condition.operands[1])),
                  std::move(yes), std::move(no));
  return select(eq(value(node.operands[0]), constant(0, lanes)), std::move(no), std::move(yes));
}

template <typename Value>
Expr RowSteps::combined(const RowNode& node, int lanes, const Value& value) const {
  const auto unary_of = [&](UnaryOp op) { return unary(op, value(node.operands[0])); };
  switch (node.op) {
    case RowOp::kNumber:
      return constant(node.number, lanes);
    case RowOp::kAdd:
      return value(node.operands[0]) + value(node.operands[1]);
    case RowOp::kSub:
      return value(node.operands[0]) - value(node.operands[1]);
    case RowOp::kMul:
      return value(node.operands[0]) * value(node.operands[1]);
    case RowOp::kDiv:
      return value(node.operands[0]) / value(node.operands[1]);
    case RowOp::kNegative:
      return value(node.operands[0]) * constant(-1, lanes);
    case RowOp::kLess:
    case RowOp::kAtMost:
    case RowOp::kEqual:
      return select(comparison(node.op, value(node.operands[0]), value(node.operands[1])), constant(1, lanes),
                    constant(0, lanes));
    case RowOp::kMin:
      return min(value(node.operands[0]), value(node.operands[1]));
    case RowOp::kMax:
      return max(value(node.operands[0]), value(node.operands[1]));
    case RowOp::kSelect:
      return chosen(node, lanes, value);
    case RowOp::kExp:
      return unary_of(UnaryOp::kExp);
    case RowOp::kLog:
      return unary_of(UnaryOp::kLog);
    case RowOp::kSqrt:
      return unary_of(UnaryOp::kSqrt);
    case RowOp::kRsqrt:
      return unary_of(UnaryOp::kRsqrt);
    case RowOp::kAbs:
      return unary_of(UnaryOp::kAbs);
    case RowOp::kStep:
      return step_expr(node.step, value(node.operands[0]), lanes);
    case RowOp::kCast:
      if (node.type == DType::kF32) return value(node.operands[0]);
      return cast(DType::kF32, cast(node.type, value(node.operands[0])));
    default:
      CHECK(false, "a node of kind {} is no sum of its operands", static_cast<int>(node.op));
      return constant(0, lanes);
  }
}

Expr RowSteps::row_value(int node, const Expr& number) const {
  const RowNode& of = k_.plan.node(node);
  if (of.op == RowOp::kNumber) return constant(of.number, width());
  return load(*row_values_[at(node)], number * width(), width());
}

/// Returns the value of an input that is the same along a row.
Expr RowSteps::row_input(int node, const Expr& number, const Expr& row) const {
  const auto input = at(k_.plan.node(node).input);
  const RowTensor& tensor = k_.rowwise.in[input];
  const Expr line = line_of(tensor, row + number);
  if (!k_.across) return as_f32(load(k_.in[input], line), tensor.type);
  if (tensor.line == RowTensor::Line::kOnly)
    return splat(as_f32(load(k_.in[input], line), tensor.type), lanes());
  return as_f32(load_active(k_.in[input], line, lanes(), var(k_.builder.kernel.rows->var) - row),
                tensor.type);
}

/// Returns the reduction of all accumulators of a row.
Expr RowSteps::reduced(const RowReduction& reduction, std::size_t number, const Expr& row) const {
  const auto accumulator = [&](std::int64_t i) {
    return load(*sums_[number], (row * accumulators_ + i) * k_.lanes, lanes());
  };
  Expr all = accumulator(0);
  for (std::int64_t i = 1; i < accumulators_; ++i) all = joined(reduction.op, accumulator(i), all);
  if (k_.across) return all;
  return reduction.op == RowOp::kMaxOf   ? reduce_max(all)
         : reduction.op == RowOp::kMinOf ? reduce_min(all)
                                         : reduce_add(all);
}

/// Returns the value of a reduction, from its sum or from an operand that is the same along the row.
Expr RowSteps::of_reduction(int node, const Expr& number) const {
  const RowNode& of = k_.plan.node(node);
  const auto n = static_cast<double>(k_.rowwise.n);
  const int reduction = k_.plan.reduction[at(node)];
  if (reduction >= 0) {
    Expr sum = load(*results_[at(reduction)], number * width(), width());
    const bool is_mean = of.op == RowOp::kMeanOf || of.op == RowOp::kVarOf;
    return is_mean ? sum / constant(n, width()) : sum;
  }
  Expr value = row_value(of.operands[0], number);
  if (of.op == RowOp::kMaxOf || of.op == RowOp::kMinOf)
    return joined(of.op, value, constant(neutral(of.op), width()));
  if (of.op == RowOp::kSumOf) return value * constant(n, width());
  return of.op == RowOp::kVarOf ? value - value : value;
}

/// Computes the values that are known after `behind` passes, and stores those that are outputs.
Block RowSteps::row_values(int behind, const Expr& row) {
  Block body;
  const RowPlan& plan = k_.plan;
  for (std::size_t i = 0; i < row_values_.size(); ++i) {
    if (!row_values_[i] || plan.ready[i] != behind) continue;
    const int node = static_cast<int>(i);
    const RowNode& of = plan.node(node);
    body.push_back(Alloc{*row_values_[i]});
    body.append(each_row([&](const Expr& number) {
      const auto value = [&](int operand) { return row_value(operand, number); };
      Expr made = of.op == RowOp::kInput ? row_input(node, number, row)
                  : is_reduction(of.op)  ? of_reduction(node, number)
                                         : combined(of, width(), value);
      return block(Store{*row_values_[i], number * width(), made, width(), std::nullopt});
    }));
  }
  for (std::size_t i = 0; i < k_.out.size(); ++i) {
    const RowTensor& tensor = k_.rowwise.out[i];
    const int node = plan.expression.outputs[i];
    if (tensor.varies || plan.ready[at(node)] != behind || (k_.split && k_.split->pass != behind)) continue;
    Block stores = each_row([&](const Expr& number) {
      Expr value = row_value(node, number);
      if (tensor.type != DType::kF32) value = cast(tensor.type, value);
      std::optional<Expr> active;
      if (k_.across) active = var(k_.builder.kernel.rows->var) - row;
      return block(Store{k_.out[i], row + number, value, width(), active});
    });
    if (k_.split)
      body.push_back(If{eq(var(k_.split->work_item), integer(0)), std::move(stores), {}});
    else
      body.append(std::move(stores));
  }
  return body;
}

Block RowSteps::begin(const Expr& row) {
  Block body;
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (kept_[i]) body.push_back(Alloc{*kept_[i]});
  for (const std::optional<BufferId>& result : results_)
    if (result) body.push_back(Alloc{*result});
  body.append(row_values(0, row));
  return body;
}

Block RowSteps::clear(int pass) {
  Block body;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const RowReduction& reduction = k_.plan.reductions[i];
    if (reduction.pass != pass) continue;
    body.push_back(Alloc{*sums_[i]});
    const Unrolled accumulator(k_.builder, "slot", rows_ * accumulators_);
    body.append(
        accumulator.over(block(Store{*sums_[i], accumulator.at * k_.lanes,
                                     constant(neutral(reduction.op), lanes()), lanes(), std::nullopt})));
  }
  return body;
}

Block RowSteps::end(int pass, const Expr& row) {
  Block body;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const RowReduction& reduction = k_.plan.reductions[i];
    if (reduction.pass != pass) continue;
    body.append(each_row([&](const Expr& number) {
      return block(
          Store{*results_[i], number * width(), reduced(reduction, i, number), width(), std::nullopt});
    }));
  }
  body.append(row_values(pass + 1, row));
  return body;
}

/// Returns the index in the workspace at which a work item stores its part of a reduction of a split row.
Expr RowSteps::partial(std::size_t reduction, const Expr& row, const Expr& work_item) const {
  return (integer(static_cast<std::int64_t>(reduction) * k_.split->rows) + row) * k_.split->work_items +
         work_item;
}

Block RowSteps::store_partials(const Expr& row) {
  Block body;
  for (std::size_t i = 0; i < sums_.size(); ++i)
    if (k_.plan.reductions[i].pass == k_.split->pass)
      body.push_back(Store{k_.split->partials, partial(i, row, var(k_.split->work_item)),
                           reduced(k_.plan.reductions[i], i, integer(0)), 1, std::nullopt});
  return body;
}

Block RowSteps::add_partials(const Expr& row) {
  Block body;
  for (int pass = 0; pass < k_.split->pass; ++pass) {
    body.append(partials_of(pass, row));
    body.append(row_values(pass + 1, row));
  }
  return body;
}

Block RowSteps::partials_of(int pass, const Expr& row) const {
  Block body;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const RowReduction& reduction = k_.plan.reductions[i];
    if (reduction.pass != pass || !results_[i]) continue;
    const VarId work_item = k_.builder.var("of_part");
    const Expr own = load(k_.split->partials, partial(i, row, var(work_item)));
    const Expr so_far = load(*results_[i], integer(0));
    body.push_back(Store{*results_[i], integer(0), constant(neutral(reduction.op), 1), 1, std::nullopt});
    body.push_back(
        loop(work_item, k_.split->work_items, LoopKind::kSerial,
             block(Store{*results_[i], integer(0), joined(reduction.op, own, so_far), 1, std::nullopt})));
  }
  return body;
}

Block RowSteps::step(int pass, const RowVector& vector) {
  return each_row([&](const Expr& number) {
    Values values{.pass = pass, .number = number, .row = vector.row + number, .at = vector};
    values.known.resize(k_.plan.expression.nodes.size());
    for (std::size_t i = 0; i < sums_.size(); ++i)
      if (k_.plan.reductions[i].pass == pass) add_to(i, values);
    for (std::size_t i = 0; i < k_.out.size(); ++i)
      if (k_.rowwise.out[i].varies && k_.plan.ready[at(k_.plan.expression.outputs[i])] == pass)
        store(i, values);
    return values.body;
  });
}

void RowSteps::add_to(std::size_t number, Values& values) {
  const RowReduction& reduction = k_.plan.reductions[number];
  const Expr accumulator = (values.number * accumulators_ + values.at.accumulator) * k_.lanes;
  const Expr so_far = load(*sums_[number], accumulator, lanes());
  Expr value = varying(reduction.of, values);
  if (reduction.centre >= 0) {
    const Expr sum = load(*results_[at(reduction.centre)], values.number * width(), width());
    const Expr mean = sum / constant(static_cast<double>(k_.rowwise.n), width());
    const BufferId distance = k_.builder.buffer("distance", DType::kF32, Scope::kRegister, lanes(), lanes());
    values.body.push_back(Alloc{distance});
    values.body.push_back(Store{distance, integer(0), value - (k_.across ? mean : splat(mean, lanes())),
                                lanes(), std::nullopt});
    const Expr d = load(distance, integer(0), lanes());
    value = d * d;
  }
  if (values.at.active && !k_.across)
    value = select(lt(constant(0, lanes()), load(k_.tail, integer(0), lanes())), value,
                   constant(neutral(reduction.op), lanes()));
  values.body.push_back(
      Store{*sums_[number], accumulator, joined(reduction.op, value, so_far), lanes(), std::nullopt});
}

void RowSteps::store(std::size_t output, Values& values) {
  const RowTensor& tensor = k_.rowwise.out[output];
  Expr value = operand(k_.plan.expression.outputs[output], values);
  if (k_.across) {  // in scratch memory, by columns
    values.body.push_back(Store{k_.out[output], values.at.column * k_.lanes, value, lanes(), std::nullopt});
    return;
  }
  if (tensor.type != DType::kF32) value = cast(tensor.type, value);
  values.body.push_back(Store{k_.out[output], values.row * k_.rowwise.n + values.at.column, value, lanes(),
                              values.at.active, k_.streaming && !values.at.active});
}

/// Returns a value for a vector of columns, whether the value varies along the row or not.
Expr RowSteps::operand(int node, Values& values) {
  const RowNode& of = k_.plan.node(node);
  if (of.varies) return varying(node, values);
  if (of.op == RowOp::kNumber) return constant(of.number, lanes());
  const Expr value = row_value(node, values.number);
  return k_.across ? value : splat(value, lanes());
}

Expr RowSteps::loaded(int node, const Values& values) const {
  const auto input = at(k_.plan.node(node).input);
  const RowTensor& tensor = k_.rowwise.in[input];
  if (k_.across) {
    if (tensor.line == RowTensor::Line::kRow) return load(k_.in[input], values.at.column * k_.lanes, lanes());
    return splat(as_f32(load(k_.in[input], values.at.column), tensor.type), lanes());
  }
  const Expr index = line_of(tensor, values.row) * k_.rowwise.n + values.at.column;
  return as_f32(values.at.active ? load_active(k_.in[input], index, lanes(), *values.at.active)
                                 : load(k_.in[input], index, lanes()),
                tensor.type);
}

Expr RowSteps::varying(int node, Values& values) {
  std::optional<Expr>& known = values.known[at(node)];
  if (known) return *known;
  const RowPlan& plan = k_.plan;
  const Expr kept_at = values.number * (vectors_ * k_.lanes) + values.at.column * (k_.across ? k_.lanes : 1);
  if (plan.kept[at(node)] && plan.made[at(node)] < values.pass)
    return *(known = load(*kept_[at(node)], kept_at, lanes()));
  const RowNode& of = plan.node(node);
  Expr value = of.op == RowOp::kInput
                   ? loaded(node, values)
                   : combined(of, lanes(), [&](int each) { return operand(each, values); });
  const bool keeps = plan.kept[at(node)];
  if (!keeps && plan.uses[at(values.pass)][at(node)] < 2) return *(known = value);
  if (keeps && keep_ == RowKeep::kRegisters) {
    values.body.push_back(Store{*kept_[at(node)], kept_at, value, lanes(), std::nullopt});
    return *(known = load(*kept_[at(node)], kept_at, lanes()));
  }
  const BufferId held = k_.builder.buffer("value", DType::kF32, Scope::kRegister, lanes(), lanes());
  values.body.push_back(Alloc{held});
  values.body.push_back(Store{held, integer(0), value, lanes(), std::nullopt});
  known = load(held, integer(0), lanes());
  if (keeps) values.body.push_back(Store{*kept_[at(node)], kept_at, *known, lanes(), std::nullopt});
  return *known;
}

}  // namespace lehr::cpu
