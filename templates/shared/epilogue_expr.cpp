#include "templates/shared/epilogue_expr.h"

#include <limits>
#include <string>
#include <utility>

namespace lehr {

using namespace ir;

namespace {

/// Functions that make the terms of a step's expression, except for the value itself.
struct StepTerms {
  const StepNumbers& numbers;
  DType output;                                ///< type of the workload's output
  std::function<Expr(double value)> constant;  ///< returns a constant with as many lanes as the value
  std::function<Expr(std::size_t i)> operand;  ///< returns operand number i of the step
};

struct StepExpr {
  EpilogueOp op;
  Expr (*of)(Expr x, const StepTerms& with);
};

template <UnaryOp kOp>
Expr function(Expr x, const StepTerms&) {
  return unary(kOp, std::move(x));
}

Expr sum(Expr x, const StepTerms& with) {
  return std::move(x) + with.operand(0);
}

// Bounds the value. The bound is the first operand of min and max, so that a NaN stays a NaN: the comparison
// is false and the second operand, the value, is the result.
Expr bounded(Expr x, double low, double high, const StepTerms& with) {
  return min(with.constant(high), max(with.constant(low), std::move(x)));
}

constexpr double kShift = 0x1.8p23;

// Returns kShift plus the nearest whole number, half to even; the low bits are that whole number. Saturates
// first. A NaN becomes the least number.
Expr nearest(Expr product, Expr least, Expr most, const StepTerms& with) {
  const Expr scaled = unary(UnaryOp::kRounded, std::move(product));
  return min(max(scaled, std::move(least)), std::move(most)) + with.constant(kShift);
}

Expr quantized(Expr x, const StepTerms& with) {
  const bool has_sign = with.output == DType::kS8;
  const Expr zero = with.operand(1);
  const Expr least = with.constant(has_sign ? -128 : 0) - zero,
             most = with.constant(has_sign ? 127 : 255) - zero;
  return nearest(std::move(x) * with.operand(0), least, most, with) + (zero - with.constant(kShift));
}

// Does the same, and then converts the whole numbers back to values.
Expr fake_quantized(Expr x, const StepTerms& with) {
  const Expr zero = with.operand(1);
  const Expr whole = nearest(std::move(x) * with.operand(0), with.constant(with.numbers[0]) - zero,
                             with.constant(with.numbers[1]) - zero, with);
  return unary(UnaryOp::kRounded, (whole - with.constant(kShift)) * with.operand(2));
}

/// Expressions of the steps that compute a value from one value.
constexpr StepExpr kExpressions[] = {
    {EpilogueOp::kBias, &sum},
    {EpilogueOp::kResidual, &sum},
    {EpilogueOp::kScaleShift,
     [](Expr x, const StepTerms& with) { return fma(std::move(x), with.operand(0), with.operand(1)); }},
    {EpilogueOp::kRelu, [](Expr x, const StepTerms& with) { return max(with.constant(0), std::move(x)); }},
    {EpilogueOp::kRelu6, [](Expr x, const StepTerms& with) { return bounded(std::move(x), 0, 6, with); }},
    {EpilogueOp::kClamp,
     [](Expr x, const StepTerms& with) {
       return bounded(std::move(x), with.numbers[0], with.numbers[1], with);
     }},
    {EpilogueOp::kLeakyRelu,  // the slope is below 1
     [](Expr x, const StepTerms& with) { return max(x * with.constant(with.numbers[0]), x); }},
    {EpilogueOp::kHardSwish,
     [](Expr x, const StepTerms& with) {
       return x * bounded(fma(x, with.constant(1.0 / 6), with.constant(0.5)), 0, 1, with);
     }},
    {EpilogueOp::kGeluTanh, &function<UnaryOp::kGeluTanh>},
    {EpilogueOp::kGeluErf, &function<UnaryOp::kGeluErf>},
    {EpilogueOp::kSilu, &function<UnaryOp::kSilu>},
    {EpilogueOp::kSigmoid, &function<UnaryOp::kSigmoid>},
    {EpilogueOp::kTanh, &function<UnaryOp::kTanh>},
    {EpilogueOp::kDequant,
     [](Expr x, const StepTerms& with) {
       return unary(UnaryOp::kRounded, cast(DType::kF32, std::move(x)) * with.operand(0));
     }},
    {EpilogueOp::kQuant, &quantized},
    {EpilogueOp::kQuantizedResidual,
     [](Expr x, const StepTerms& with) {
       const Expr centred = with.operand(0) - with.operand(2);
       return std::move(x) + unary(UnaryOp::kRounded, centred * with.operand(1));
     }},
    {EpilogueOp::kFakeQuant, &fake_quantized},
};
static_assert(has_rows(kExpressions, [](const EpilogueRow& step) { return step.value != nullptr; }));

struct PoolExpr {
  EpilogueOp op;
  double before_any;  ///< initial value, which the first pixel joins
  Expr (*joined)(Expr so_far, Expr pixel);
  bool is_mean;
};

constexpr PoolExpr kPools[] = {
    {EpilogueOp::kMaxPool, std::numeric_limits<double>::lowest(),
     [](Expr so_far, Expr pixel) { return max(std::move(so_far), std::move(pixel)); }, false},
    {EpilogueOp::kAvgPool, 0, [](Expr so_far, Expr pixel) { return std::move(so_far) + std::move(pixel); },
     true},
};
static_assert(has_rows(kPools, [](const EpilogueRow& step) { return step.pooled != nullptr; }));

/// Returns the row of a step, which must have one.
template <typename Rows>
const auto& row_in(const Rows& rows, EpilogueOp op) {
  return *std::ranges::find(rows, op, [](const auto& row) { return row.op; });
}

const PoolExpr& pool_of(const Epilogue& epilogue) {
  return row_in(kPools, shrinking_step(epilogue)->op);
}

}  // namespace

Expr step_expr(const EpilogueStep& step, Expr value, int lanes) {
  const auto constant = [lanes](double number) {
    const Expr one = Float{number, DType::kF32};
    return lanes == 1 ? one : splat(one, lanes);
  };
  return row_in(kExpressions, step.op).of(std::move(value), {step.numbers, DType::kF32, constant, {}});
}

FusedEpilogue::FusedEpilogue(KernelBuilder& builder, const Workload& workload, const ProductSums& sums)
    : epilogue_(workload.epilogue),
      scale_(sums.scale),
      accum_(sums.accum),
      last_(type_at(epilogue_, accum_, epilogue_.steps.size())) {
  // A kernel for any number of rows has one text, whatever the number of rows of the described call is.
  const std::vector<TensorSpec> tensors = tensors_of(of_any_call(workload));
  stored_ = std::ranges::find_if(tensors, &TensorSpec::is_output)->type;
  const std::vector<StepOperand> operands = lehr::operands_of(epilogue_);
  const std::size_t first = tensors.size() - operands.size();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const TensorSpec& tensor = tensors[first + i];
    const DType computed = type_at(epilogue_, accum_, operands[i].step);
    operands_.push_back({builder.param(tensor.name, tensor.type, tensor.elements, Direction::kIn),
                         operands[i].per, tensor.type,
                         row_of(epilogue_.steps[operands[i].step].op).of_integers ? DType::kF32 : computed});
    builder.kernel.params.back().is_number = operands[i].per == OperandPer::kTensor;
  }
}

Expr FusedEpilogue::constant(double value, int lanes) const {
  const Expr scalar = Float{value, has_dequant(epilogue_) ? DType::kF32 : accum_};
  return lanes == 1 ? scalar : splat(scalar, lanes);
}

Expr FusedEpilogue::widened(Expr value, const Operand& operand) {
  if (operand.type == operand.computed) return value;
  // Types that arithmetic does not support can be cast to f32 only.
  const bool by_f32 = operand.computed == DType::kF64 && operand.type != DType::kF32;
  return cast(operand.computed, by_f32 ? cast(DType::kF32, std::move(value)) : std::move(value));
}

Expr FusedEpilogue::stored(Expr value) const {
  return last_ == stored_ ? value : cast(stored_, std::move(value));
}

Expr FusedEpilogue::apply(Expr value, int lanes, const Fetch& fetch, bool behind) const {
  std::size_t operand = 0;
  bool is_behind = false;
  if (scale_ != 1 && !behind) value = value * constant(scale_, lanes);
  for (const EpilogueStep& step : epilogue_.steps) {
    const EpilogueRow& row = row_of(step.op);
    if (row.shrinks()) {  // gate(), pool()
      is_behind = true;
      continue;
    }
    if (is_behind == behind)
      value = row_in(kExpressions, step.op)
                  .of(std::move(value),
                      {step.numbers, stored_, [&](double number) { return constant(number, lanes); },
                       [&](std::size_t i) { return fetch(operand + i); }});
    operand += row.operand_count();
  }
  return value;
}

bool FusedEpilogue::is_along(const Operand& operand, const EpiloguePlace& place) {
  return operand.per == OperandPer::kElement || (operand.per == OperandPer::kChannel && place.along_channels);
}

Expr FusedEpilogue::index_of(const Operand& operand, const EpiloguePlace& place) {
  return operand.per == OperandPer::kTensor    ? integer(0)
         : operand.per == OperandPer::kChannel ? place.channel
                                               : place.element;
}

Expr FusedEpilogue::gate(Expr gate, Expr value) const {
  const EpilogueOp function = *row_of(epilogue_.steps.back().op).gate;
  return row_in(kExpressions, function).of(std::move(gate), {{}, stored_, {}, {}}) * value;
}

double FusedEpilogue::before_any() const {
  return pool_of(epilogue_).before_any;
}

Expr FusedEpilogue::joined(Expr so_far, Expr pixel) const {
  return pool_of(epilogue_).joined(std::move(so_far), std::move(pixel));
}

Expr FusedEpilogue::of_joined(Expr all, std::int64_t count, int lanes) const {
  if (pool_of(epilogue_).is_mean) all = all * constant(1.0 / static_cast<double>(count), lanes);
  const auto fetch = [&](std::size_t i) { return fetched(operands_[i], {.lanes = lanes}); };
  return apply(std::move(all), lanes, fetch, true);
}

Expr FusedEpilogue::pool(std::vector<Expr> pixels, int lanes) const {
  Expr result = pixels.front();
  for (std::size_t i = 1; i < pixels.size(); ++i) result = joined(result, pixels[i]);
  return of_joined(result, static_cast<std::int64_t>(pixels.size()), lanes);
}

Block FusedEpilogue::gate_in_place(KernelBuilder& builder, BufferId registers, const Expr& first,
                                   std::int64_t count) const {
  // An element is written only after it has been read: no later pair reads it.
  const Unrolled pair(builder, "pair", count);
  const Expr gate_at = first + pair.at * 2;
  return pair.over(
      block(Store{registers, first + pair.at, gate(load(registers, gate_at), load(registers, gate_at + 1)), 1,
                  std::nullopt}));
}

Expr FusedEpilogue::fetched(const Operand& operand, const EpiloguePlace& place) const {
  const Expr index = index_of(operand, place);
  if (!is_along(operand, place) && place.lanes > 1)
    return splat(widened(load(operand.buffer, index), operand), place.lanes);
  return widened(place.active ? load_active(operand.buffer, index, place.lanes, *place.active)
                              : load(operand.buffer, index, place.lanes),
                 operand);
}

Expr FusedEpilogue::of(Expr sums, const EpiloguePlace& place) const {
  return apply(sums, place.lanes, [&](std::size_t i) { return fetched(operands_[i], place); });
}

Block FusedEpilogue::in_place(KernelBuilder& builder, BufferId registers, const Expr& first,
                              const EpiloguePlace& place) const {
  Block result;
  if (empty()) return result;
  const Unrolled lane(builder, "lane_of", place.lanes);
  std::vector<Expr> values;  // value of each operand for the current lane
  for (const Operand& operand : operands_) {
    const bool one = !is_along(operand, place);
    const int count = one ? 1 : place.lanes;
    const Expr& index = index_of(operand, place);
    const BufferId held =
        builder.buffer(builder.kernel.buffer(operand.buffer).name, operand.type, Scope::kRegister, count);
    result.push_back(Alloc{held});
    result.push_back(Store{held, integer(0), load(operand.buffer, index, count), count, std::nullopt});
    Expr value = load(held, one ? integer(0) : lane.at);
    values.push_back(widened(std::move(value), operand));
  }
  const Expr at = first + lane.at;
  const auto value_of = [&](std::size_t operand) { return values[operand]; };
  append(result,
         lane.over(block(Store{registers, at, apply(load(registers, at), 1, value_of), 1, std::nullopt})));
  return result;
}

}  // namespace lehr
