#include "templates/shared/epilogue_expr.h"

#include <string>
#include <utility>

namespace lehr {

using namespace ir;

FusedEpilogue::FusedEpilogue(KernelBuilder& builder, const Workload& workload)
    : epilogue_(workload.epilogue), accum_(accum_of(workload)) {
  if (const Gemm* gemm = std::get_if<Gemm>(&workload.problem)) scale_ = gemm->alpha;
  if (epilogue_.empty()) return;
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  const std::vector<EpilogueOperand> names = operands_of(epilogue_);
  const std::size_t first = tensors.size() - names.size();
  stored_ = tensors[first - 1].type;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const TensorSpec& tensor = tensors[first + i];
    operands_.push_back(
        {builder.param(tensor.name, tensor.type, tensor.elements, Direction::kIn), names[i].per_channel});
  }
}

Expr FusedEpilogue::constant(double value, int lanes) const {
  const Expr scalar = Float{value, accum_};
  return lanes == 1 ? scalar : splat(scalar, lanes);
}

Expr FusedEpilogue::widened(Expr value) const {
  if (stored_ == accum_) return value;
  const bool by_f32 =
      accum_ == DType::kF64 && stored_ != DType::kF32;  // what is kept as bits is cast to f32 only
  return cast(accum_, by_f32 ? cast(DType::kF32, std::move(value)) : std::move(value));
}

Expr FusedEpilogue::apply(Expr value, int lanes, const Fetch& fetch) const {
  std::size_t operand = 0;
  // The bound comes first: where the value is not a number, the comparison is false and the value stays.
  const auto bounded = [&](Expr x, std::optional<double> low, std::optional<double> high) {
    if (low) x = max(constant(*low, lanes), x);
    if (high) x = min(constant(*high, lanes), x);
    return x;
  };
  if (scale_ != 1) value = value * constant(scale_, lanes);
  for (const EpilogueStep& step : epilogue_.steps) {
    switch (step.op) {
      case EpilogueOp::kBias:
      case EpilogueOp::kResidual:
        value = value + fetch(operand++);
        break;
      case EpilogueOp::kScaleShift:
        value = fma(value, fetch(operand), fetch(operand + 1));
        operand += 2;
        break;
      case EpilogueOp::kRelu:
        value = bounded(value, 0, std::nullopt);
        break;
      case EpilogueOp::kRelu6:
        value = bounded(value, 0, 6);
        break;
      case EpilogueOp::kClamp:
        value = bounded(value, step.low, step.high);
        break;
      case EpilogueOp::kLeakyRelu:  // the slope is below 1
        value = max(value * constant(step.slope, lanes), value);
        break;
      case EpilogueOp::kHardSwish:
        value = value * bounded(fma(value, constant(1.0 / 6, lanes), constant(0.5, lanes)), 0, 1);
        break;
      case EpilogueOp::kGeluTanh:
        value = unary(UnaryOp::kGeluTanh, value);
        break;
      case EpilogueOp::kGeluErf:
        value = unary(UnaryOp::kGeluErf, value);
        break;
      case EpilogueOp::kSilu:
        value = unary(UnaryOp::kSilu, value);
        break;
      case EpilogueOp::kSigmoid:
        value = unary(UnaryOp::kSigmoid, value);
        break;
      case EpilogueOp::kTanh:
        value = unary(UnaryOp::kTanh, value);
        break;
      case EpilogueOp::kSwiglu:
      case EpilogueOp::kGeglu:  // gate()
      case EpilogueOp::kMaxPool:
      case EpilogueOp::kAvgPool:  // pool()
        break;
    }
  }
  return value;
}

Expr FusedEpilogue::gate(Expr gate, Expr value) const {
  const bool swiglu = epilogue_.steps.back().op == EpilogueOp::kSwiglu;
  return unary(swiglu ? UnaryOp::kSilu : UnaryOp::kGeluTanh, gate) * value;
}

Expr FusedEpilogue::joined(Expr so_far, Expr pixel) const {
  const bool largest = epilogue_.steps.back().op == EpilogueOp::kMaxPool;
  return largest ? max(std::move(so_far), std::move(pixel)) : so_far + pixel;
}

Expr FusedEpilogue::of_joined(Expr all, std::int64_t count, int lanes) const {
  const bool largest = epilogue_.steps.back().op == EpilogueOp::kMaxPool;
  return largest ? all : all * constant(1.0 / static_cast<double>(count), lanes);
}

Expr FusedEpilogue::pool(std::vector<Expr> pixels, int lanes) const {
  Expr result = pixels.front();
  for (std::size_t i = 1; i < pixels.size(); ++i) result = joined(result, pixels[i]);
  return of_joined(result, static_cast<std::int64_t>(pixels.size()), lanes);
}

Block FusedEpilogue::gate_in_place(KernelBuilder& builder, BufferId registers, const Expr& first,
                                   std::int64_t count) const {
  // The element that is written is none that a later one reads.
  const Unrolled pair(builder, "pair", count);
  const Expr gate_at = first + pair.at * 2;
  return pair.over(
      block(Store{registers, first + pair.at, gate(load(registers, gate_at), load(registers, gate_at + 1)), 1,
                  std::nullopt}));
}

Expr FusedEpilogue::of(Expr sums, const EpiloguePlace& place) const {
  return apply(sums, place.lanes, [&](std::size_t i) {
    const Operand& operand = operands_[i];
    const Expr& index = operand.per_channel ? place.channel : place.element;
    if (operand.per_channel && !place.along_channels && place.lanes > 1)
      return splat(load(operand.buffer, index), place.lanes);
    Expr value = place.active ? load_active(operand.buffer, index, place.lanes, *place.active)
                              : load(operand.buffer, index, place.lanes);
    return widened(std::move(value));
  });
}

Block FusedEpilogue::in_place(KernelBuilder& builder, BufferId registers, const Expr& first,
                              const EpiloguePlace& place) const {
  Block result;
  if (empty()) return result;
  const Unrolled lane(builder, "lane_of", place.lanes);
  std::vector<Expr> values;  // of each operand for the current lane
  for (const Operand& operand : operands_) {
    const bool one = operand.per_channel && !place.along_channels;
    const int count = one ? 1 : place.lanes;
    const Expr& index = operand.per_channel ? place.channel : place.element;
    const BufferId held =
        builder.buffer(builder.kernel.buffer(operand.buffer).name, stored_, Scope::kRegister, count);
    result.push_back(Alloc{held});
    result.push_back(Store{held, integer(0), load(operand.buffer, index, count), count, std::nullopt});
    Expr value = load(held, one ? integer(0) : lane.at);
    values.push_back(widened(std::move(value)));
  }
  const Expr at = first + lane.at;
  const auto value_of = [&](std::size_t operand) { return values[operand]; };
  append(result,
         lane.over(block(Store{registers, at, apply(load(registers, at), 1, value_of), 1, std::nullopt})));
  return result;
}

}  // namespace lehr
