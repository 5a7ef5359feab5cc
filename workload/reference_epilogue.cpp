#include "workload/reference_epilogue.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "workload/inputs.h"
#include "workload/tolerance.h"

namespace lehr {

namespace {

std::size_t place_of(OperandPer per, std::size_t channel, std::size_t element) {
  return per == OperandPer::kTensor ? 0 : per == OperandPer::kChannel ? channel : element;
}

}  // namespace

template <typename Operand>
double reference_value(const Epilogue& epilogue, double sum, std::span<const Operand> operands,
                       std::int64_t channel, std::int64_t element) {
  const auto c = static_cast<std::size_t>(channel), e = static_cast<std::size_t>(element);
  std::size_t operand = 0;
  double x = sum;
  for (const EpilogueStep& step : epilogue.steps) {
    const EpilogueRow& row = row_of(step.op);
    if (row.value == nullptr) continue;  // reference_gated(), reference_pooled()
    StepOperands with = {};
    for (std::size_t i = 0; i < row.operand_count(); ++i)
      with[i] = operands[operand++][place_of(row.operands[i].per, c, e)];
    x = row.value(x, step.numbers, with);
  }
  return x;
}

template double reference_value(const Epilogue&, double, std::span<const std::vector<float>>, std::int64_t,
                                std::int64_t);
template double reference_value(const Epilogue&, double, std::span<const MadeInput>, std::int64_t,
                                std::int64_t);

double reference_gated(const Epilogue& epilogue, double gate, double value) {
  return row_of(*row_of(epilogue.steps.back().op).gate).value(gate, {}, {}) * value;
}

double reference_pooled(const Epilogue& epilogue, std::span<const double> window) {
  return row_of(shrinking_step(epilogue)->op).pooled(window);
}

std::int64_t sums_of(const Epilogue& epilogue, std::int64_t elements) {
  const std::int64_t window = window_of(epilogue);
  return elements * window * window * (is_gated(epilogue) ? 2 : 1);
}

double tolerance_behind(const Epilogue& epilogue, double tolerance, double largest, double epsilon) {
  ErrorBound bound = {tolerance, largest};
  for (const EpilogueStep& step : epilogue.steps) {
    const EpilogueRow& row = row_of(step.op);
    if (!row.gate) {
      bound = row.bound(bound, step.numbers, epsilon);
      continue;
    }
    // A product: each factor's error times the other one.
    const ErrorBound gate = row_of(*row.gate).bound(bound, {}, epsilon);
    bound.off = gate.off * bound.largest + bound.off * gate.largest + epsilon * bound.largest * gate.largest;
    bound.largest *= gate.largest;
  }
  return bound.off;
}

double tolerance_behind_sums(const Epilogue& epilogue, double tolerance, std::int64_t products,
                             std::int64_t sums, float scale) {
  constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
  const double size = std::abs(static_cast<double>(scale)), largest = largest_of_sums(products, sums);
  if (scale != 1) tolerance = size * (tolerance + kEpsilon * largest);
  return tolerance_behind(epilogue, tolerance, size * largest, kEpsilon);
}

}  // namespace lehr
