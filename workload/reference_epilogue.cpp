#include "workload/reference_epilogue.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "workload/inputs.h"
#include "workload/tolerance.h"

namespace lehr {
namespace {

/// The functions are within so many units in the last place of their argument or result
/// (target/cpu/prelude_math.h).
constexpr double kUnits = 6;
/// Slopes of SiLU and GELU are nowhere larger (1.0998, 1.1290).
constexpr double kSteepest = 1.13;

double clamped(double x, double low, double high) {
  return std::isnan(x) ? x : std::clamp(x, low, high);
}

}  // namespace

template <typename Operand>
double reference_value(const Epilogue& epilogue, double sum, std::span<const Operand> operands,
                       std::int64_t channel, std::int64_t element) {
  const auto c = static_cast<std::size_t>(channel), e = static_cast<std::size_t>(element);
  std::size_t operand = 0;
  double x = sum;
  for (const EpilogueStep& step : epilogue.steps) {
    switch (step.op) {
      case EpilogueOp::kBias:
        x += operands[operand++][c];
        break;
      case EpilogueOp::kScaleShift:
        x = x * operands[operand][c] + operands[operand + 1][c];
        operand += 2;
        break;
      case EpilogueOp::kResidual:
        x += operands[operand++][e];
        break;
      case EpilogueOp::kRelu:
        x = clamped(x, 0, HUGE_VAL);
        break;
      case EpilogueOp::kRelu6:
        x = clamped(x, 0, 6);
        break;
      case EpilogueOp::kClamp:
        x = clamped(x, step.low, step.high);
        break;
      case EpilogueOp::kLeakyRelu:
        x = x < 0 ? x * step.slope : x;
        break;
      case EpilogueOp::kHardSwish:
        x *= clamped(x / 6 + 0.5, 0, 1);
        break;
      case EpilogueOp::kGeluTanh:
        x = 0.5 * x * (1 + std::tanh(std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x)));
        break;
      case EpilogueOp::kGeluErf:
        x = 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
        break;
      case EpilogueOp::kSilu:
        x = x / (1 + std::exp(-x));
        break;
      case EpilogueOp::kSigmoid:
        x = 1 / (1 + std::exp(-x));
        break;
      case EpilogueOp::kTanh:
        x = std::tanh(x);
        break;
      case EpilogueOp::kSwiglu:
      case EpilogueOp::kGeglu:  // reference_gated()
      case EpilogueOp::kMaxPool:
      case EpilogueOp::kAvgPool:  // reference_pooled()
        break;
    }
  }
  return x;
}

template double reference_value(const Epilogue&, double, std::span<const std::vector<float>>, std::int64_t,
                                std::int64_t);
template double reference_value(const Epilogue&, double, std::span<const MadeInput>, std::int64_t,
                                std::int64_t);

double reference_gated(const Epilogue& epilogue, double gate, double value) {
  const EpilogueOp op =
      epilogue.steps.back().op == EpilogueOp::kSwiglu ? EpilogueOp::kSilu : EpilogueOp::kGeluTanh;
  return reference_value<std::vector<float>>({{{op, 0, 0}}}, gate, {}, 0, 0) * value;
}

double reference_pooled(const Epilogue& epilogue, std::span<const double> window) {
  if (epilogue.steps.back().op == EpilogueOp::kMaxPool) return *std::ranges::max_element(window);
  double sum = 0;
  for (const double value : window) sum += value;
  return sum / static_cast<double>(window.size());
}

double tolerance_behind(const Epilogue& epilogue, double tolerance, double largest, double epsilon) {
  for (const EpilogueStep& step : epilogue.steps) {
    switch (step.op) {
      case EpilogueOp::kBias:
      case EpilogueOp::kResidual:
        largest += kLargestInput;
        tolerance += epsilon * largest;
        break;
      case EpilogueOp::kScaleShift:
        tolerance *= kLargestInput;
        largest = (largest + 1) * kLargestInput;
        tolerance += 2 * epsilon * largest;
        break;
      case EpilogueOp::kRelu:  // bounds keep what an error is, or make it smaller
        break;
      case EpilogueOp::kRelu6:
        largest = std::min(largest, 6.0);
        break;
      case EpilogueOp::kClamp:
        largest = std::max(std::abs(step.low), std::abs(step.high));
        break;
      case EpilogueOp::kLeakyRelu:
        tolerance += epsilon * largest;
        break;
      case EpilogueOp::kHardSwish:  // its slope is 3/2 at most
        tolerance = 1.5 * tolerance + 3 * epsilon * largest;
        break;
      case EpilogueOp::kGeluTanh:
      case EpilogueOp::kGeluErf:
      case EpilogueOp::kSilu:
        tolerance = kSteepest * tolerance + kUnits * epsilon * largest;
        break;
      case EpilogueOp::kSigmoid:
      case EpilogueOp::kTanh:
        largest = 1;
        tolerance += kUnits * epsilon;
        break;
      case EpilogueOp::kSwiglu:
      case EpilogueOp::kGeglu:  // a product: each factor's error times the other one
        tolerance = (kSteepest * tolerance + kUnits * epsilon * largest) * largest + tolerance * largest +
                    epsilon * largest * largest;
        largest *= largest;
        break;
      case EpilogueOp::kMaxPool:  // the largest of values that are each off by so much
        break;
      case EpilogueOp::kAvgPool:  // and their sum is rounded with each addition
        tolerance += static_cast<double>(step.windows.window * step.windows.window + 1) * epsilon * largest;
        break;
    }
  }
  return tolerance;
}

}  // namespace lehr
