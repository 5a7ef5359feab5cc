#include "network/row_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace lehr {
namespace {

using Terms = std::vector<RowTerm>;

// Puts parentheses around every operation. The workload's canonical text omits parentheses that are not
// needed.
RowTerm infix(std::string_view symbol, const RowTerm& left, const RowTerm& right) {
  return {fmt::format("({}{}{})", left.text, symbol, right.text)};
}
RowTerm operator+(const RowTerm& left, const RowTerm& right) {
  return infix("+", left, right);
}
RowTerm operator-(const RowTerm& left, const RowTerm& right) {
  return infix("-", left, right);
}
RowTerm operator*(const RowTerm& left, const RowTerm& right) {
  return infix("*", left, right);
}

template <typename... Rest>
RowTerm call(std::string_view function, const RowTerm& first, const Rest&... rest) {
  std::string text = fmt::format("{}({}", function, first.text);
  ((text += ',' + rest.text), ...);
  return {text + ')'};
}

RowTerm operator/(const RowTerm& left, const RowTerm& right) {
  if (right.root_of.empty()) return infix("/", left, right);
  const RowTerm root = call("rsqrt", RowTerm{right.root_of});
  return left.number == 1 ? root : left * root;
}

RowTerm root(const RowTerm& of) {
  RowTerm term = call("sqrt", of);
  term.root_of = of.text;
  return term;
}

/// Input of the functions that write operators.
struct Site {
  const OnnxNode& node;
  Terms in;
  RowStatements& statements;

  bool has(std::size_t i) const { return i < in.size() && !in[i].text.empty(); }
  RowTerm number(std::string_view attribute, float otherwise) const {
    return number_term(node.number(attribute, otherwise));
  }
};

using Written = std::optional<Terms>;

Written softmax(Site& site) {
  const RowTerm x = site.statements.named(site.in[0]);
  const RowTerm power = call("exp", x - call("max", x));
  return Terms{power / call("sum", power)};
}

Written log_softmax(Site& site) {
  const RowTerm x = site.statements.named(site.in[0]);
  const RowTerm off = site.statements.named(x - call("max", x));
  return Terms{off - call("log", call("sum", call("exp", off)))};
}

// Writes a normalization by mean and standard deviation. `gain` and `shift` may be empty.
Terms normalized(Site& site, const RowTerm& value, const RowTerm& gain, const RowTerm& shift,
                 float usual_epsilon) {
  const RowTerm x = site.statements.named(value);
  const RowTerm mean = call("mean", x);
  const RowTerm factor = call("rsqrt", call("var", x) + site.number("epsilon", usual_epsilon));
  RowTerm y = (x - mean) * factor;
  if (!gain.text.empty()) y = y * gain;
  if (!shift.text.empty()) y = y + shift;
  return {y, mean, factor};
}

// Writes a normalization by the root mean square, without a mean.
Terms scaled(Site& site, const RowTerm& value, const RowTerm& gain) {
  const RowTerm x = site.statements.named(value);
  const RowTerm factor = call("rsqrt", call("mean", x * x) + site.number("epsilon", 1e-5F));
  return {gain.text.empty() ? x * factor : x * factor * gain, factor};
}

Written layer_normalization(Site& site) {
  return normalized(site, site.in[0], site.in[1], site.has(2) ? site.in[2] : RowTerm(), 1e-5F);
}
Written simplified_normalization(Site& site) {
  return scaled(site, site.in[0], site.in[1]);
}

// Writes a normalization of a sum. The sum itself is the fourth output.
Written skip_normalization(Site& site) {
  const bool is_simple = site.node.op == "SkipSimplifiedLayerNormalization";
  const std::size_t bias = is_simple ? 3 : 4;
  RowTerm sum = site.in[0] + site.in[1];
  if (site.has(bias)) sum = sum + site.in[bias];
  sum = site.statements.named(sum);
  if (is_simple) {
    const Terms both = scaled(site, sum, site.in[2]);
    return Terms{both[0], RowTerm(), both[1], sum};
  }
  Terms all = normalized(site, sum, site.in[2], site.has(3) ? site.in[3] : RowTerm(), 1e-12F);
  all.push_back(sum);
  return all;
}

Written gelu(Site& site) {
  const bool is_fast = site.node.op == "FastGelu" || site.node.text("approximate", "none") == "tanh";
  const RowTerm x = site.has(1) ? site.in[0] + site.in[1] : site.in[0];
  return Terms{call(is_fast ? "gelu_tanh" : "gelu_erf", x)};
}

Written quick_gelu(Site& site) {
  const RowTerm x = site.statements.named(site.in[0]);
  return Terms{x * call("sigmoid", site.number("alpha", 1.702F) * x)};
}

Written power(Site& site) {
  const std::optional<float> exponent = site.in[1].number;
  if (!exponent) return std::nullopt;
  if (*exponent == 1) return Terms{site.in[0]};
  if (*exponent == 0.5F) return Terms{root(site.in[0])};
  if (*exponent == -0.5F) return Terms{call("rsqrt", site.in[0])};
  if (*exponent == -1) return Terms{number_term(1) / site.in[0]};
  if (*exponent != 2 && *exponent != 3) return std::nullopt;
  const RowTerm x = site.statements.named(site.in[0]);
  return Terms{*exponent == 2 ? x * x : x * x * x};
}

// Writes a Clip. The value is the second operand of min and max, so that NaN stays NaN.
Written clip(Site& site) {
  const auto bound = [&](std::size_t i, std::string_view name) {
    if (site.has(i)) return site.in[i];
    return site.node.attribute(name) != nullptr ? site.number(name, 0) : RowTerm();
  };
  const RowTerm low = bound(1, "min"), high = bound(2, "max"), &x = site.in[0];
  if (low.number && high.number && *low.number < *high.number)
    return Terms{step_term({.op = EpilogueOp::kClamp, .numbers = {*low.number, *high.number}}, x)};
  RowTerm result = low.text.empty() ? x : call("max", low, x);
  if (!high.text.empty()) result = call("min", high, result);
  return Terms{result};
}

Written leaky_relu(Site& site) {
  const float slope = site.node.number("alpha", 0.01F);
  if (slope > 0 && slope < 1)
    return Terms{step_term({.op = EpilogueOp::kLeakyRelu, .numbers = {slope}}, site.in[0])};
  const RowTerm x = site.statements.named(site.in[0]);
  return Terms{call("select", infix("<", x, number_term(0)), x * number_term(slope), x)};
}

Written hard_sigmoid(Site& site) {
  const RowTerm line = site.in[0] * site.number("alpha", 0.2F) + site.number("beta", 0.5F);
  return Terms{step_term({.op = EpilogueOp::kClamp, .numbers = {0, 1}}, line)};
}

// Writes a Cast between f32 and bf16, or from a comparison's result, which is a number in row expressions.
Written cast(Site& site) {
  const auto to = static_cast<OnnxType>(site.node.whole("to", 0));
  if (to == OnnxType::kF32) return Terms{site.in[0]};
  return to == OnnxType::kBf16 ? Written(Terms{call("bf16", site.in[0])}) : std::nullopt;
}

Written squares(Site& site) {
  const RowTerm x = site.statements.named(site.in[0]);
  const RowTerm sum = call("sum", x * x);
  return Terms{site.node.op == "ReduceL2" ? root(sum) : sum};
}

Written hard_swish(Site& site) {
  return Terms{step_term({.op = EpilogueOp::kHardSwish}, site.in[0])};
}

// Joins all inputs with `kJoin`.
template <RowTerm (*kJoin)(const RowTerm&, const RowTerm&)>
Written joined(Site& site) {
  RowTerm all = site.in[0];
  for (std::size_t i = 1; i < site.in.size(); ++i) all = kJoin(all, site.in[i]);
  return Terms{all};
}
RowTerm larger(const RowTerm& a, const RowTerm& b) {
  return call("max", a, b);
}
RowTerm smaller(const RowTerm& a, const RowTerm& b) {
  return call("min", a, b);
}
RowTerm is_less(const RowTerm& a, const RowTerm& b) {
  return infix("<", a, b);
}
RowTerm is_at_most(const RowTerm& a, const RowTerm& b) {
  return infix("<=", a, b);
}
RowTerm is_equal(const RowTerm& a, const RowTerm& b) {
  return infix("==", a, b);
}

template <RowTerm (*kJoin)(const RowTerm&, const RowTerm&)>
Written swapped(Site& site) {
  return Terms{kJoin(site.in[1], site.in[0])};
}

Written negative(Site& site) {
  return Terms{{"(-" + site.in[0].text + ')'}};
}
Written reciprocal(Site& site) {
  return Terms{number_term(1) / site.in[0]};
}
Written square_root(Site& site) {
  return Terms{root(site.in[0])};
}
Written select(Site& site) {
  return Terms{call("select", site.in[0], site.in[1], site.in[2])};
}

/// Writes the function of row expressions that has the operator's name in lower case, without the prefix
/// "Reduce".
Written function(Site& site) {
  const std::string_view op = site.node.op;
  return Terms{call(lower_case(op.starts_with("Reduce") ? op.substr(6) : op), site.in[0])};
}

enum class Kind {
  kEach,      ///< computes each element by itself
  kAlone,     ///< computes each element by itself, and a kernel for such a node alone is worthwhile
  kCompares,  ///< computes each element by itself, and the result is bool
  kReduces,   ///< reduces along the last dimension
  kSoftmax,   ///< along the last dimension; before opset 13 along all dimensions from the attribute `axis` on
  kNormalizes,  ///< normalizes along all dimensions from the attribute `axis` on
  kSkips        ///< adds, then normalizes along the last dimension
};

struct Operator {
  std::string_view op;
  std::size_t least, most;  ///< number of inputs that are values
  Written (*write)(Site& site);
  Kind kind = Kind::kEach;
  std::string_view domain = "";
};

constexpr std::size_t kMany = 8;

constexpr Operator kOperators[] = {
    {"Add", 2, 2, &joined<operator+ >},
    {"Sum", 1, kMany, &joined<operator+ >},
    {"Sub", 2, 2, &joined<(operator-)>},
    {"Mul", 2, 2, &joined<(operator*)>},
    {"Div", 2, 2, &joined<operator/ >},
    {"Max", 1, kMany, &joined<larger>},
    {"Min", 1, kMany, &joined<smaller>},
    {"Pow", 2, 2, &power},
    {"Neg", 1, 1, &negative},
    {"Sqrt", 1, 1, &square_root},
    {"Reciprocal", 1, 1, &reciprocal},
    {"Exp", 1, 1, &function},
    {"Log", 1, 1, &function},
    {"Abs", 1, 1, &function},
    {"Tanh", 1, 1, &function},
    {"Sigmoid", 1, 1, &function},
    {"Relu", 1, 1, &function},
    {"HardSwish", 1, 1, &hard_swish},
    {"HardSigmoid", 1, 1, &hard_sigmoid},
    {"LeakyRelu", 1, 1, &leaky_relu},
    {"Clip", 1, 3, &clip},
    {"Cast", 1, 1, &cast},
    {"Where", 3, 3, &select},
    {"Less", 2, 2, &joined<is_less>, Kind::kCompares},
    {"Greater", 2, 2, &swapped<is_less>, Kind::kCompares},
    {"LessOrEqual", 2, 2, &joined<is_at_most>, Kind::kCompares},
    {"GreaterOrEqual", 2, 2, &swapped<is_at_most>, Kind::kCompares},
    {"Equal", 2, 2, &joined<is_equal>, Kind::kCompares},
    {"ReduceMean", 1, 1, &function, Kind::kReduces},
    {"ReduceSum", 1, 1, &function, Kind::kReduces},
    {"ReduceMax", 1, 1, &function, Kind::kReduces},
    {"ReduceMin", 1, 1, &function, Kind::kReduces},
    {"ReduceL2", 1, 1, &squares, Kind::kReduces},
    {"ReduceSumSquare", 1, 1, &squares, Kind::kReduces},
    {"Softmax", 1, 1, &softmax, Kind::kSoftmax},
    {"LogSoftmax", 1, 1, &log_softmax, Kind::kSoftmax},
    {"LayerNormalization", 2, 3, &layer_normalization, Kind::kNormalizes},
    {"RMSNormalization", 2, 2, &simplified_normalization, Kind::kNormalizes},
    {"SimplifiedLayerNormalization", 2, 2, &simplified_normalization, Kind::kNormalizes},
    {"SimplifiedLayerNormalization", 2, 2, &simplified_normalization, Kind::kNormalizes, kMicrosoftDomain},
    {"SkipLayerNormalization", 3, 5, &skip_normalization, Kind::kSkips, kMicrosoftDomain},
    {"SkipSimplifiedLayerNormalization", 3, 4, &skip_normalization, Kind::kSkips, kMicrosoftDomain},
    {"Gelu", 1, 1, &gelu, Kind::kAlone},
    {"Gelu", 1, 1, &gelu, Kind::kAlone, kMicrosoftDomain},
    {"BiasGelu", 2, 2, &gelu, Kind::kAlone, kMicrosoftDomain},
    {"FastGelu", 1, 2, &gelu, Kind::kAlone, kMicrosoftDomain},
    {"QuickGelu", 1, 1, &quick_gelu, Kind::kAlone, kMicrosoftDomain},
};

const Operator* find(const OnnxNode& node) {
  const auto found = std::ranges::find_if(
      kOperators, [&](const Operator& each) { return each.op == node.op && each.domain == node.domain; });
  return found == std::end(kOperators) ? nullptr : &*found;
}

std::int64_t counted(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

// Whether the last dimension is the only dimension that a node reduces.
bool is_along_last(const OnnxNode& node, std::size_t rank,
                   const std::optional<std::vector<std::int64_t>>& axes) {
  const std::vector<std::int64_t> list = axes ? *axes : node.wholes("axes");
  return list.size() == 1 && counted(list[0], rank) + 1 == static_cast<std::int64_t>(rank);
}

}  // namespace

RowTerm number_term(float value) {
  return {fmt::format(fmt::runtime(std::signbit(value) ? "({})" : "{}"), value), value};
}

RowTerm step_term(const EpilogueStep& step, const RowTerm& value) {
  const EpilogueRow& row = row_of(step.op);
  std::string text = fmt::format("{}({}", row.name, value.text);
  for (std::size_t i = 0; i < row.numbers.least; ++i) text += fmt::format(",{}", step.numbers[i]);
  return {text + ')'};
}

RowTerm RowStatements::named(const RowTerm& term) {
  const bool is_name = std::ranges::all_of(
      term.text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
  return is_name || term.number ? term : assign(fmt::format("t{}", names_++), term);
}

RowTerm RowStatements::assign(std::string name, const RowTerm& term) {
  text_ += fmt::format("{}{}={}", text_.empty() ? "" : ";", name, term.text);
  return {std::move(name)};
}

std::string_view axes_input(const OnnxNode& node) {
  const Operator* const known = find(node);
  return known != nullptr && known->kind == Kind::kReduces ? node.input(1) : std::string_view();
}

std::optional<RowNodeForm> row_form(const OnnxNode& node, std::int64_t opset, std::size_t rank,
                                    const std::optional<std::vector<std::int64_t>>& axes) {
  const Operator* const known = find(node);
  if (known == nullptr || node.outputs.empty()) return std::nullopt;
  RowNodeForm form{.alone = true};
  form.values = known->kind == Kind::kReduces ? 1 : node.inputs.size();
  if (form.values < known->least || form.values > known->most) return std::nullopt;
  const auto last = static_cast<std::int64_t>(rank) - 1;
  switch (known->kind) {
    case Kind::kEach:
    case Kind::kCompares:
      form.alone = false;
      [[fallthrough]];
    case Kind::kAlone:
      return form;
    case Kind::kReduces:
      if (!is_along_last(node, rank, axes)) return std::nullopt;
      form.alone = false;
      [[fallthrough]];
    case Kind::kSkips:
      form.axis = last;
      break;
    case Kind::kSoftmax:
      form.axis = counted(node.whole("axis", opset < 13 ? 1 : -1), rank);
      if (opset >= 13 && form.axis != last) return std::nullopt;
      break;
    case Kind::kNormalizes:
      if (node.whole("stash_type", 1) != 1) return std::nullopt;
      form.axis = counted(node.whole("axis", -1), rank);
  }
  return *form.axis >= 0 && *form.axis <= last ? std::optional(form) : std::nullopt;
}

std::optional<Terms> row_terms(const OnnxNode& node, Terms in, RowStatements& statements) {
  const Operator* const known = find(node);
  if (known == nullptr) return std::nullopt;
  Site site{node, std::move(in), statements};
  for (std::size_t i = 0; i < known->least; ++i)
    if (!site.has(i)) return std::nullopt;
  return known->write(site);
}

}  // namespace lehr
