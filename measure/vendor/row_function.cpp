// Two nodes with different positions are different terms, since equal terms share one node.
#include "measure/vendor/row_function.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lehr {
namespace {

/// The factors of a product or the terms of a sum. The flag says whether the factor divides or the term is
/// subtracted.
using Parts = std::vector<std::pair<int, bool>>;
using Kind = RowFunction::Kind;

class Matcher {
 public:
  Matcher(const Rowwise& rowwise, const RowExpression& expression)
      : rowwise_(rowwise), nodes_(expression.nodes) {}

  std::optional<RowFunction> softmax(int node) const;
  std::optional<RowFunction> log_softmax(int node) const;
  std::optional<RowFunction> norm(int node) const;
  std::optional<RowFunction> element(int node) const;

 private:
  const RowNode& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  /// Returns the only operand of `node` if its operator is `op`; else -1.
  int inside(int node, RowOp op) const { return node >= 0 && at(node).op == op ? at(node).operands[0] : -1; }
  bool is_number(int node, float number) const {
    return node >= 0 && at(node).op == RowOp::kNumber && at(node).number == number;
  }
  /// Returns both orders of the operands of `node` if its operator is `op`; else an empty list.
  std::vector<std::pair<int, int>> orders(int node, RowOp op) const {
    if (node < 0 || at(node).op != op) return {};
    const auto [a, b, none] = at(node).operands;
    return {{a, b}, {b, a}};
  }
  bool is_column(int node) const {
    if (at(node).op != RowOp::kInput) return false;
    const RowTensor& tensor = rowwise_.in[static_cast<std::size_t>(at(node).input)];
    return tensor.varies && tensor.line == RowTensor::Line::kOnly;
  }
  Parts parts(int node, RowOp op, RowOp inverse, int levels = 8) const;
  /// Returns x if `node` is x - max(x) or x - mean(x); else -1.
  int distance_from(RowOp op, int node) const {
    const bool is_distance =
        node >= 0 && at(node).op == RowOp::kSub && inside(at(node).operands[1], op) == at(node).operands[0];
    return is_distance ? at(node).operands[0] : -1;
  }
  std::optional<RowFunction> deviation(int node, bool inverted) const;
  std::optional<RowFunction> product(int node) const;
  /// Returns x if `node` is 1 + exp(-x); else -1.
  int one_and_exponential(int node) const;

  const Rowwise& rowwise_;
  const std::vector<RowNode>& nodes_;
};

// A node below the last level is not split up, because squares of squares have very many factors.
Parts Matcher::parts(int node, RowOp op, RowOp inverse, int levels) const {
  const RowNode& of = at(node);
  if (of.op == RowOp::kNumber && of.number == 1 && op == RowOp::kMul) return {};
  if ((of.op != op && of.op != inverse) || levels == 0) return {{node, false}};
  Parts both = parts(of.operands[0], op, inverse, levels - 1);
  for (const auto& [part, inverted] : parts(of.operands[1], op, inverse, levels - 1))
    both.emplace_back(part, inverted != (of.op == inverse));
  std::ranges::sort(both);
  return both;
}

/// Removes each element of `taken` from `parts` once. Returns false if an element is missing.
bool take(Parts& parts, const Parts& taken) {
  return std::ranges::all_of(taken, [&](const auto& part) {
    const auto found = std::ranges::find(parts, part);
    if (found == parts.end()) return false;
    parts.erase(found);
    return true;
  });
}

std::optional<RowFunction> Matcher::softmax(int node) const {
  Parts factors = parts(node, RowOp::kMul, RowOp::kDiv);
  for (const auto& [factor, inverted] : factors) {
    const int exponential = inverted ? inside(factor, RowOp::kSumOf) : -1;
    const int of = distance_from(RowOp::kMaxOf, inside(exponential, RowOp::kExp));
    if (of < 0) continue;
    if (!take(factors, {{factor, true}, {exponential, false}}) || !factors.empty()) break;
    return RowFunction{.kind = Kind::kSoftmax, .of = of};
  }
  return std::nullopt;
}

std::optional<RowFunction> Matcher::log_softmax(int node) const {
  const Parts terms = parts(node, RowOp::kAdd, RowOp::kSub);
  for (const auto& [term, subtracted] : terms) {
    const int distance = inside(inside(inside(term, RowOp::kLog), RowOp::kSumOf), RowOp::kExp);
    const int of = distance_from(RowOp::kMaxOf, distance);
    if (of < 0 || !subtracted) continue;
    Parts rest = terms;
    if (take(rest, {{term, true}}) && take(rest, parts(distance, RowOp::kAdd, RowOp::kSub)) && rest.empty())
      return RowFunction{.kind = Kind::kLogSoftmax, .of = of};
  }
  return std::nullopt;
}

// Checks whether a factor is 1 / sqrt(mean of squares), and returns of which node the squares are.
std::optional<RowFunction> Matcher::deviation(int node, bool inverted) const {
  const int squared = inside(node, inverted ? RowOp::kSqrt : RowOp::kRsqrt);
  if (squared < 0) return std::nullopt;
  int variance = squared;
  RowFunction found;
  for (const auto& [one, other] : orders(squared, RowOp::kAdd))
    if (at(other).op == RowOp::kNumber) {
      variance = one;
      found.epsilon = at(other).number;
    }
  found.kind = Kind::kLayerNorm;
  found.of = inside(variance, RowOp::kVarOf);
  if (found.of >= 0) return found;
  const int square = inside(variance, RowOp::kMeanOf);
  if (square < 0 || at(square).op != RowOp::kMul || at(square).operands[0] != at(square).operands[1])
    return std::nullopt;
  const int root = at(square).operands[0], of = distance_from(RowOp::kMeanOf, root);
  if (of < 0) found.kind = Kind::kRmsNorm;
  found.of = of < 0 ? root : of;
  return found;
}

std::optional<RowFunction> Matcher::product(int node) const {
  const Parts factors = parts(node, RowOp::kMul, RowOp::kDiv);
  for (const auto& [factor, inverted] : factors) {
    std::optional<RowFunction> found = deviation(factor, inverted);
    if (!found) continue;
    Parts rest = factors;
    take(rest, {{factor, inverted}});
    const bool is_whole =
        found->kind == Kind::kRmsNorm
            ? take(rest, parts(found->of, RowOp::kMul, RowOp::kDiv))
            : std::erase_if(rest, [&](const auto& each) {
                return !each.second && distance_from(RowOp::kMeanOf, each.first) == found->of;
              }) == 1;
    if (!is_whole || rest.size() > 1) continue;
    if (rest.empty()) return found;
    if (rest[0].second || !is_column(rest[0].first)) continue;
    found->scale = rest[0].first;
    return found;
  }
  return std::nullopt;
}

std::optional<RowFunction> Matcher::norm(int node) const {
  for (const auto& [one, other] : orders(node, RowOp::kAdd)) {
    if (!is_column(other)) continue;
    std::optional<RowFunction> found = product(one);
    if (!found || found->kind == Kind::kRmsNorm) continue;
    found->shift = other;
    return found;
  }
  return product(node);
}

int Matcher::one_and_exponential(int node) const {
  for (const auto& [one, other] : orders(node, RowOp::kAdd))
    if (is_number(one, 1)) return inside(inside(other, RowOp::kExp), RowOp::kNegative);
  return -1;
}

std::optional<RowFunction> Matcher::element(int node) const {
  const RowNode& of = at(node);
  const auto step = [](EpilogueOp op, int operand) { return RowFunction{.of = operand, .step = {.op = op}}; };
  for (const auto& [one, other] : orders(node, RowOp::kMax))
    if (is_number(other, 0)) return step(EpilogueOp::kRelu, one);
  for (const auto& [one, other] : orders(node, RowOp::kMul)) {
    const auto inner = at(other).op == RowOp::kMul ? std::nullopt : element(other);
    if (inner && inner->step == EpilogueStep{.op = EpilogueOp::kSigmoid} && inner->of == one)
      return step(EpilogueOp::kSilu, one);
  }
  if (of.op == RowOp::kDiv) {
    const int negated = one_and_exponential(of.operands[1]);
    if (negated >= 0 && is_number(of.operands[0], 1)) return step(EpilogueOp::kSigmoid, negated);
    if (negated >= 0 && negated == of.operands[0]) return step(EpilogueOp::kSilu, negated);
  }
  switch (of.op) {
    case RowOp::kExp:
    case RowOp::kLog:
    case RowOp::kSqrt:
    case RowOp::kAbs:
    case RowOp::kStep:
      return RowFunction{.of = of.operands[0], .op = of.op, .step = of.step};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<RowFunction> row_function(const Rowwise& rowwise, const RowExpression& expression, int node) {
  const Matcher matcher(rowwise, expression);
  if (auto found = matcher.softmax(node)) return found;
  if (auto found = matcher.log_softmax(node)) return found;
  if (auto found = matcher.norm(node)) return found;
  return matcher.element(node);
}

}  // namespace lehr
