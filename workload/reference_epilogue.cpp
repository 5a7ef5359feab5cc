#include "workload/reference_epilogue.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "workload/inputs.h"
#include "workload/integers.h"

namespace lehr {

namespace {

/// Where an output element's operands are read.
struct Place {
  std::size_t channel = 0, element = 0;
  std::size_t of(OperandPer per) const {
    return per == OperandPer::kTensor ? 0 : per == OperandPer::kChannel ? channel : element;
  }
};

/// A value after some of the steps.
template <typename Operand>
struct Way {
  double value;
  std::span<const Operand> operands;  ///< operands that no step has read yet
  bool dequantized = false, exact = true;

  void past(const EpilogueStep& step) {
    const EpilogueRow& row = row_of(step.op);
    dequantized = dequantized || step.op == EpilogueOp::kDequant;
    exact = exact && row.exact;
    operands = operands.subspan(row.operand_count());
  }
  void through(const EpilogueStep& step, const Place& place) {
    const EpilogueRow& row = row_of(step.op);
    StepOperands with = {};
    for (std::size_t i = 0; i < row.operand_count(); ++i)
      with[i] = operands[i][place.of(row.operands[i].per)];
    past(step);
    const bool rounds = exact || row.before_rounding == nullptr;
    value = (rounds ? row.value : row.before_rounding)(value, step.numbers, with);
    if (dequantized && exact) value = in_f32(value);
  }
};

}  // namespace

template <typename Operand>
double reference_value(const Epilogue& epilogue, double sum, std::span<const Operand> operands,
                       std::int64_t channel, std::int64_t element) {
  const Place place = {static_cast<std::size_t>(channel), static_cast<std::size_t>(element)};
  Way<Operand> way = {sum, operands};
  for (const EpilogueStep& step : epilogue.steps) {
    if (row_of(step.op).shrinks()) break;  // reference_gated(), reference_pooled()
    way.through(step, place);
  }
  return way.value;
}

template double reference_value(const Epilogue&, double, std::span<const std::vector<float>>, std::int64_t,
                                std::int64_t);
template double reference_value(const Epilogue&, double, std::span<const MadeInput>, std::int64_t,
                                std::int64_t);

double reference_gated(const Epilogue& epilogue, double gate, double value) {
  return row_of(*row_of(epilogue.steps.back().op).gate).value(gate, {}, {}) * value;
}

template <typename Operand>
double reference_pooled(const Epilogue& epilogue, std::span<const double> window,
                        std::span<const Operand> operands) {
  Way<Operand> way = {0, operands};
  bool pooled = false;
  for (const EpilogueStep& step : epilogue.steps) {
    const EpilogueRow& row = row_of(step.op);
    if (pooled) {
      way.through(step, {});
    } else {
      way.past(step);
    }
    if (row.pooled != nullptr) {
      way.value = row.pooled(window);
      pooled = true;
    }
  }
  return way.value;
}

template double reference_pooled(const Epilogue&, std::span<const double>,
                                 std::span<const std::vector<float>>);
template double reference_pooled(const Epilogue&, std::span<const double>, std::span<const MadeInput>);

float reference_stored(DType output, double value) {
  if (output != DType::kU8 && output != DType::kS8) return static_cast<float>(value);
  const double least = output == DType::kU8 ? 0 : -128;
  return static_cast<float>(std::isnan(value) ? least : std::clamp(value, least, least + 255));
}

std::int64_t sums_of(const Epilogue& epilogue, std::int64_t elements) {
  const std::int64_t window = window_of(epilogue);
  return elements * window * window * (is_gated(epilogue) ? 2 : 1);
}

double tolerance_behind(const Epilogue& epilogue, double tolerance, double largest, double epsilon) {
  ErrorBound bound = {tolerance, largest};
  bool exact = has_dequant(epilogue);
  for (const EpilogueStep& step : epilogue.steps) {
    const EpilogueRow& row = row_of(step.op);
    exact = exact && row.exact;
    if (!row.gate) {
      bound = row.bound(bound, step.numbers, epsilon);
      if (exact) bound.off = 0;
      continue;
    }
    // For a product, each factor's error is multiplied by the other factor.
    const ErrorBound gate = row_of(*row.gate).bound(bound, {}, epsilon);
    bound.off = gate.off * bound.largest + bound.off * gate.largest + epsilon * bound.largest * gate.largest;
    bound.largest *= gate.largest;
  }
  return bound.off;
}

double tolerance_behind_integers(const Epilogue& epilogue, const ProductSums& sums, std::int64_t count) {
  if (!has_dequant(epilogue)) return 0;
  return tolerance_behind(epilogue, 0, largest_of_integers(sums, count),
                          std::numeric_limits<float>::epsilon());
}

double tolerance_behind_sums(const Epilogue& epilogue, double tolerance, std::int64_t products,
                             std::int64_t sums, float scale) {
  constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
  const double size = std::abs(static_cast<double>(scale)), largest = largest_of_sums(products, sums);
  if (scale != 1) tolerance = size * (tolerance + kEpsilon * largest);
  return tolerance_behind(epilogue, tolerance, size * largest, kEpsilon);
}

}  // namespace lehr
