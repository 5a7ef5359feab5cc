#include "workload/rowwise/rowwise_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/small_float.h"

namespace lehr {
namespace {

constexpr double kUnit = 0x1p-24;  // half a unit in the last place of f32, relative to the value
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<float>::max();
/// Below this exp() may be 0.
constexpr double kLeastExp = 0x1p-126;

/// An exact value, and the maximum error of a correct computation of it in f32.
struct Bounded {
  double value = 0, off = 0;
};

/// Returns a value that errors of its argument do not change, unless the argument is unknown.
Bounded at_end(double value, double off) {
  return {value, std::isfinite(off) ? 0 : kInfinity};
}

/// Returns the value as it overflows in f32, with the error `off` and that of its own rounding.
Bounded rounded(double value, double off) {
  if (std::abs(value) > kLargest) value = std::copysign(kInfinity, value);
  if (!std::isfinite(value)) return at_end(value, off);
  off += kUnit * std::abs(value);
  return {value, std::isnan(off) ? kInfinity : off};
}

/// Returns the error `off` multiplied by x. If the value is unknown, it may be infinite or NaN.
double times(double x, double off) {
  if (std::isinf(off)) return off;
  return std::isfinite(x) ? std::abs(x) * off : 0;
}

Bounded divided(const Bounded& a, const Bounded& b) {
  const double value = a.value / b.value;
  if (a.off == 0 && b.off == 0) return rounded(value, 0);
  const double room = std::abs(b.value) - b.off;
  if (!(room > 0)) return {value, kInfinity};
  return rounded(value, (a.off + times(value, b.off)) / room);
}

/// Returns 1 or 0; unknown if the two values are closer than their errors.
Bounded compared(RowOp op, const Bounded& a, const Bounded& b) {
  const bool holds = op == RowOp::kLess     ? a.value < b.value
                     : op == RowOp::kAtMost ? a.value <= b.value
                                            : a.value == b.value;
  const double off = a.off + b.off;
  const bool unknown =
      std::isinf(off) || (off > 0 && !(std::abs(a.value - b.value) > off) && !std::isnan(a.value + b.value));
  return {holds ? 1.0 : 0.0, unknown ? kInfinity : 0};
}

Bounded selected(const Bounded& condition, const Bounded& a, const Bounded& b) {
  const Bounded& taken = condition.value != 0 ? a : b;
  const bool unknown = condition.off > 0 && !(std::abs(condition.value) > condition.off);
  if (!unknown || a.value == b.value) return {taken.value, unknown ? std::max(a.off, b.off) : taken.off};
  return {taken.value, kInfinity};
}

/// Returns the smaller or the larger value. If the two are about equal, either is a correct result.
Bounded extreme(RowOp op, const Bounded& a, const Bounded& b) {
  const bool first = op == RowOp::kMin ? a.value < b.value : a.value > b.value;
  const bool close = std::isinf(a.off + b.off) || std::abs(a.value - b.value) <= a.off + b.off;
  return {first ? a.value : b.value, close ? std::max(a.off, b.off) : first ? a.off : b.off};
}

Bounded root(RowOp op, const Bounded& a) {
  const double value = op == RowOp::kSqrt ? std::sqrt(a.value) : 1 / std::sqrt(a.value);
  if (a.off == 0) return rounded(value, kUnit * std::abs(value));
  const double least = a.value - a.off;
  if (!(least > 0)) return {value, kInfinity};
  const double slope = op == RowOp::kSqrt ? 0.5 / std::sqrt(least) : 0.5 / (least * std::sqrt(least));
  return rounded(value, slope * a.off + kUnit * value);
}

Bounded exponential(const Bounded& a) {
  const double value = std::exp(a.value);
  if (std::isinf(a.value) || std::isnan(a.value)) return {value, a.off};
  // The bound is two units in the last place, plus an absolute error at the end of the range, where the
  // result may be 0.
  return rounded(
      value, times(value, std::expm1(a.off)) + 4 * kUnit * value + (value < 2 * kLeastExp ? kLeastExp : 0));
}

Bounded logarithm(const Bounded& a) {
  const double value = std::log(a.value);
  if (a.off > 0 && !(a.value > a.off)) return {value, kInfinity};
  const double off = a.off > 0 ? -std::log1p(-a.off / a.value) : 0;
  return rounded(value, off + 4 * kUnit * std::abs(value));
}

Bounded stepped(const EpilogueStep& step, const Bounded& a) {
  const EpilogueRow& row = row_of(step.op);
  const double value = row.value(a.value, step.numbers, {});
  // The errors of these functions are bounded only for finite arguments: their results for infinity differ.
  if (std::isinf(a.value) && !row.exact) return {value, kInfinity};
  if (std::isnan(a.value)) return at_end(value, a.off);
  const ErrorBound bound = row.bound({a.off, std::abs(a.value)}, step.numbers, 2 * kUnit);
  return {value, row.exact && a.off == 0 && step.op != EpilogueOp::kLeakyRelu ? 0 : bound.off};
}

Bounded cast(DType type, const Bounded& a) {
  if (type == DType::kF32) return a;
  const double value = rounded_to(type, static_cast<float>(a.value));
  if (!std::isfinite(value)) return at_end(value, a.off);
  return {value, a.off == 0 ? 0 : a.off + 0x1p-7 * std::abs(a.value)};
}

Bounded computed(const RowNode& node, const Bounded& a, const Bounded& b, const Bounded& c) {
  switch (node.op) {
    case RowOp::kAdd:
      return rounded(a.value + b.value, a.off + b.off);
    case RowOp::kSub:
      return rounded(a.value - b.value, a.off + b.off);
    case RowOp::kMul:
      return rounded(a.value * b.value, times(a.value, b.off) + times(b.value, a.off) + times(a.off, b.off));
    case RowOp::kDiv:
      return divided(a, b);
    case RowOp::kNegative:
      return {-a.value, a.off};
    case RowOp::kLess:
    case RowOp::kAtMost:
    case RowOp::kEqual:
      return compared(node.op, a, b);
    case RowOp::kMin:
    case RowOp::kMax:
      return extreme(node.op, a, b);
    case RowOp::kSelect:
      return selected(a, b, c);
    case RowOp::kExp:
      return exponential(a);
    case RowOp::kLog:
      return logarithm(a);
    case RowOp::kSqrt:
    case RowOp::kRsqrt:
      return root(node.op, a);
    case RowOp::kAbs:
      return {std::abs(a.value), a.off};
    case RowOp::kStep:
      return stepped(node.step, a);
    case RowOp::kCast:
      return cast(node.type, a);
    default:
      break;
  }
  CHECK(false, "a node of kind {} is not computed element by element", static_cast<int>(node.op));
  return {};
}

/// A node's values along one row: n of them, or one.
using Line = std::vector<Bounded>;

/// Returns a sum with a bound on its error. Each partial sum has a rounding error of its own, so that the
/// errors add up as a random walk. The worst order adds one value after the other. If the values have the
/// mean u and the mean square q about it, the squares of its partial sums add up to n^3 u^2 / 3 + n^2 q / 2.
/// The bound is seven and a half deviations, which one row in 10^13 exceeds. In addition, the errors of the
/// values themselves may all have the same sign.
Bounded sum_of(const Line& line) {
  constexpr double kDeviations = 7.5;
  const auto n = static_cast<double>(line.size());
  double sum = 0, off = 0, square = 0;
  for (const Bounded& each : line) {
    sum += each.value;
    off += each.off;
  }
  if (!std::isfinite(sum)) return at_end(sum, off);
  const double mean = sum / n;
  for (const Bounded& each : line) square += (each.value - mean) * (each.value - mean);
  const double walk = std::sqrt(n * n * n * mean * mean / 3 + n * square / 2);
  return rounded(sum, off + kDeviations * kUnit / std::sqrt(3.0) * walk);
}

Bounded mean_of(const Line& line) {
  const auto n = static_cast<double>(line.size());
  const Bounded sum = sum_of(line);
  return rounded(sum.value / n, sum.off / n);
}

/// Returns the variance. Distances from an inexact mean still add up to about 0, so the mean's error only
/// counts squared.
Bounded variance_of(const Line& line) {
  const Bounded mean = mean_of(line);
  Line squares;
  squares.reserve(line.size());
  for (const Bounded& each : line) {
    const double distance = each.value - mean.value;
    if (!std::isfinite(distance)) {
      squares.push_back(at_end(distance * distance, each.off));
      continue;
    }
    const double off = each.off + kUnit * std::abs(distance);
    squares.push_back(rounded(distance * distance, 2 * times(distance, off) + off * off));
  }
  Bounded result = mean_of(squares);
  result.off += mean.off * mean.off;
  return result;
}

Bounded extreme_of(RowOp op, const Line& line) {
  Bounded result{op == RowOp::kMaxOf ? -kInfinity : kInfinity, 0};
  for (const Bounded& each : line) {
    if (op == RowOp::kMaxOf ? each.value > result.value : each.value < result.value)
      result.value = each.value;
    result.off = std::max(result.off, each.off);
  }
  return result;
}

/// Returns a reduction. The sum of a value that is the same in all columns is computed as a product.
Bounded reduced(RowOp op, const Line& line, std::int64_t n) {
  const auto count = static_cast<double>(n);
  if (line.size() == 1 && n > 1) {
    const Bounded& one = line[0];
    if (op == RowOp::kSumOf) return rounded(one.value * count, one.off * count);
    if (op == RowOp::kVarOf)
      return {one.value - one.value, one.off > 0 && std::isinf(one.off) ? kInfinity : 0};
    if (op == RowOp::kMeanOf) return one;
  }
  if (op == RowOp::kSumOf) return sum_of(line);
  if (op == RowOp::kMeanOf) return mean_of(line);
  return op == RowOp::kVarOf ? variance_of(line) : extreme_of(op, line);
}

/// Returns the line of a tensor that row `row` reads.
std::int64_t line_of(const RowTensor& tensor, std::int64_t row) {
  if (tensor.line == RowTensor::Line::kRow) return row;
  if (tensor.line == RowTensor::Line::kDivided) return row / tensor.period;
  return tensor.line == RowTensor::Line::kModulo ? row % tensor.period : 0;
}

/// Returns the values of an input in a row. Input is std::vector<float> or MadeInput.
template <typename Input>
Line input_line(const RowTensor& tensor, const Input& input, std::int64_t row, std::int64_t n) {
  const std::int64_t line = line_of(tensor, row);
  const std::int64_t count = tensor.varies ? n : 1;
  Line values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    values[static_cast<std::size_t>(i)].value =
        static_cast<double>(input[static_cast<std::size_t>(line * count + i)]);
  return values;
}

Line computed_line(const RowNode& node, const std::vector<Line>& lines, std::int64_t n) {
  const std::span<const int> used = node.used();
  const auto at = [&](std::size_t operand, std::int64_t i) -> const Bounded& {
    static constexpr Bounded kNone;
    if (operand >= used.size()) return kNone;
    const Line& line = lines[static_cast<std::size_t>(used[operand])];
    return line[line.size() == 1 ? 0 : static_cast<std::size_t>(i)];
  };
  const std::int64_t count = node.varies ? n : 1;
  Line values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    values[static_cast<std::size_t>(i)] = computed(node, at(0, i), at(1, i), at(2, i));
  return values;
}

/// Returns the values of each output in a row.
template <typename Input>
std::vector<Line> computed_row(const Rowwise& r, std::span<const Input> inputs, std::int64_t row) {
  const RowExpression expression = expression_of(r);
  const std::size_t count = expression.nodes.size();
  std::vector<std::size_t> last(count, 0);
  for (std::size_t i = 0; i < count; ++i)
    for (const int operand : expression.nodes[i].used()) last[static_cast<std::size_t>(operand)] = i;
  for (const int output : expression.outputs) last[static_cast<std::size_t>(output)] = count;
  std::vector<Line> lines(count);
  for (std::size_t i = 0; i < count; ++i) {
    const RowNode& node = expression.nodes[i];
    if (last[i] == 0) continue;  // nothing uses the node
    if (node.op == RowOp::kInput) {
      const auto input = static_cast<std::size_t>(node.input);
      lines[i] = input_line(r.in[input], inputs[input], row, r.n);
    } else if (node.op == RowOp::kNumber) {
      lines[i] = {{static_cast<double>(node.number), 0}};
    } else if (is_reduction(node.op)) {
      lines[i] = {reduced(node.op, lines[static_cast<std::size_t>(node.operands[0])], r.n)};
    } else {
      lines[i] = computed_line(node, lines, r.n);
    }
    for (const int operand : node.used())
      if (last[static_cast<std::size_t>(operand)] == i) lines[static_cast<std::size_t>(operand)] = {};
  }
  std::vector<Line> outputs;
  for (const int output : expression.outputs) outputs.push_back(lines[static_cast<std::size_t>(output)]);
  return outputs;
}

}  // namespace

OutputLines reference_lines(const Rowwise& r, const Epilogue&) {
  // The host computes a node in about the time of ten multiplications and additions of a product.
  return {.matrices = 1, .rows = rows_of(r), .cost = 10};
}

void reference_line(const Rowwise& r, const Epilogue&, std::span<const std::vector<float>> inputs,
                    std::int64_t, std::int64_t row, std::span<OutputLine> lines) {
  const std::vector<Line> outputs = computed_row(r, inputs, row);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    OutputLine& line = lines[i];
    const std::int64_t count = r.out[i].varies ? r.n : 1;
    line.first = row * count;
    line.values.clear();
    line.bounds.clear();
    for (std::int64_t j = 0; j < count; ++j) {
      const Bounded& one = outputs[i][outputs[i].size() == 1 ? 0 : static_cast<std::size_t>(j)];
      line.values.push_back(static_cast<float>(one.value));
      // The value is rounded to f32 here. When stored as bf16 it loses the part below the normal numbers.
      const double size = std::isfinite(one.value) ? std::abs(one.value) : 0;
      line.bounds.push_back(static_cast<float>(one.off + 2 * kUnit * size + kLeastExp));
    }
  }
}

float reference_element(const Rowwise& r, const Epilogue&, std::span<const MadeInput> inputs,
                        std::size_t output, std::int64_t index) {
  const std::int64_t count = r.out[output].varies ? r.n : 1;
  const Line line = computed_row(r, inputs, index / count)[output];
  return static_cast<float>(line[line.size() == 1 ? 0 : static_cast<std::size_t>(index % count)].value);
}

double reference_tolerance(const Rowwise&, const Epilogue&, std::int64_t) {
  return 0;
}

}  // namespace lehr
