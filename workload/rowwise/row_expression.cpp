#include "workload/rowwise/row_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

/// Maximum length of a text, which may come from a stranger. (A library finds functions by texts of up to
/// 2000 characters.)
constexpr std::size_t kMostText = 1500;
constexpr int kMostNesting = 100;

/// A function that an expression can call by its name. Steps of epilogues are functions, too.
struct Function {
  std::string_view name;
  RowOp op{};
  std::size_t arguments = 1;
};
constexpr Function kFunctions[] = {
    {"select", RowOp::kSelect, 3}, {"exp", RowOp::kExp},     {"log", RowOp::kLog},    {"sqrt", RowOp::kSqrt},
    {"rsqrt", RowOp::kRsqrt},      {"abs", RowOp::kAbs},     {"min", RowOp::kMin, 2}, {"max", RowOp::kMax, 2},
    {"sum", RowOp::kSumOf},        {"mean", RowOp::kMeanOf}, {"max", RowOp::kMaxOf},  {"min", RowOp::kMinOf},
    {"var", RowOp::kVarOf}};

/// An operator between two operands. If `swapped`, it is rewritten as another operator with its operands
/// exchanged.
struct Infix {
  std::string_view symbol;
  RowOp op{};
  int level = 0;  ///< higher levels bind tighter
  bool swapped = false;
};
constexpr Infix kInfixes[] = {
    {"<=", RowOp::kAtMost, 1}, {">=", RowOp::kAtMost, 1, true}, {"==", RowOp::kEqual, 1},
    {"<", RowOp::kLess, 1},    {">", RowOp::kLess, 1, true},    {"+", RowOp::kAdd, 2},
    {"-", RowOp::kSub, 2},     {"*", RowOp::kMul, 3},           {"/", RowOp::kDiv, 3}};
constexpr int kUnaryLevel = 4, kPrimary = 5;

/// Returns whether a step of epilogues can be called as a function: it computes one value from one value.
bool is_function(const EpilogueRow& row) {
  return row.value != nullptr && row.operand_count() == 0 && !row.of_integers;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A piece of the text: its canonical form and its node. The node is -1 if names are not looked up.
struct Part {
  std::string text;
  int level = kPrimary;
  int node = -1;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    if (text.size() > kMostText)
      throw_user("an expression has at most {} characters, this one {}", kMostText, text.size());
  }

  /// From now on, names are looked up.
  void resolve(std::span<const RowName> inputs, std::span<const RowName> outputs);
  std::string statements();
  RowExpression take() { return std::move(result_); }

 private:
  struct Known {
    std::string name;
    int node = -1;
  };

  std::string statement();
  Part expression(int level);
  Part unary();
  Part primary();
  float number();
  Part call(std::string_view name, std::size_t at);
  Part call_of_step(const EpilogueRow& row, std::size_t at);
  void assign(std::string_view name, std::size_t at, int node);
  int named(std::string_view name, std::size_t at) const;
  int add(RowNode node, std::size_t at);

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  bool take_if(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take_if(token)) fail(at_, fmt::format("'{}' is missing", token));
  }
  std::string_view word() {
    skip_blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || (at_ > start && is_digit(text_[at_])))) ++at_;
    return text_.substr(start, at_ - start);
  }
  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    throw_user("{} at column {} of '{}'", what, at + 1, text_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  bool resolves_ = false;
  std::vector<Known> known_;
  std::vector<RowName> outputs_;
  RowExpression result_;
};

void Parser::resolve(std::span<const RowName> inputs, std::span<const RowName> outputs) {
  resolves_ = true;
  outputs_.assign(outputs.begin(), outputs.end());
  result_.outputs.assign(outputs.size(), -1);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    known_.push_back(
        {std::string(inputs[i].name),
         add({.op = RowOp::kInput, .input = static_cast<int>(i), .varies = inputs[i].varies}, 0)});
}

int Parser::add(RowNode node, std::size_t at) {
  for (const int operand : node.used()) {
    const RowNode& of = result_.nodes[static_cast<std::size_t>(operand)];
    node.varies = node.varies || of.varies;
    node.depth = std::max(node.depth, of.depth);
  }
  if (is_reduction(node.op)) {
    node.varies = false;
    ++node.depth;
  }
  const auto found = std::ranges::find(result_.nodes, node);
  if (found != result_.nodes.end()) return static_cast<int>(found - result_.nodes.begin());
  if (result_.nodes.size() == kMostRowNodes)
    fail(at, fmt::format("an expression has at most {} different terms: one more", kMostRowNodes));
  if (node.depth > kMostRowDepth)
    fail(at, fmt::format("at most {} reductions depend on each other: one more", kMostRowDepth));
  result_.nodes.push_back(node);
  return static_cast<int>(result_.nodes.size()) - 1;
}

std::string Parser::statements() {
  std::string text = statement();
  while (take_if(";")) {
    skip_blanks();
    if (at_ == text_.size()) break;
    text += ';' + statement();
  }
  skip_blanks();
  if (at_ < text_.size()) fail(at_, fmt::format("'{}' is not expected", text_[at_]));
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (result_.outputs[i] < 0) throw_user("output {} is not assigned to in '{}'", outputs_[i].name, text_);
  return text;
}

std::string Parser::statement() {
  skip_blanks();
  const std::size_t start = at_;
  const std::string name(word());
  if (name.empty()) fail(start, "a name is missing");
  skip_blanks();
  if (text_.substr(at_).starts_with("==") || !take_if("=")) fail(at_, "'=' is missing");
  const Part value = expression(1);
  if (resolves_) assign(name, start, value.node);
  return name + '=' + value.text;
}

void Parser::assign(std::string_view name, std::size_t at, int node) {
  if (std::ranges::find(known_, name, &Known::name) != known_.end())
    fail(at, fmt::format("{} has a value already", name));
  known_.push_back({std::string(name), node});
  const auto output = std::ranges::find(outputs_, name, &RowName::name);
  if (output == outputs_.end()) return;
  if (!output->varies && result_.nodes[static_cast<std::size_t>(node)].varies)
    fail(at, fmt::format("output {} is one value a row, and this one differs from column to column", name));
  result_.outputs[static_cast<std::size_t>(output - outputs_.begin())] = node;
}

int Parser::named(std::string_view name, std::size_t at) const {
  const auto found = std::ranges::find(known_, name, &Known::name);
  if (found != known_.end()) return found->node;
  std::vector<std::string> names;
  for (const Known& each : known_) names.push_back(each.name);
  fail(at, fmt::format("unknown name '{}' (known are {})", name, fmt::join(names, ", ")));
}

/// Parses operators of this level and of higher levels. Operators of one level associate to the left.
Part Parser::expression(int level) {
  if (level == kUnaryLevel) return unary();
  Part left = expression(level + 1);
  while (true) {
    skip_blanks();
    const auto infix = std::ranges::find_if(kInfixes, [&](const Infix& each) {
      return each.level == level && text_.substr(at_).starts_with(each.symbol);
    });
    if (infix == std::end(kInfixes)) return left;
    const std::size_t at = at_;
    at_ += infix->symbol.size();
    Part right = expression(level + 1);
    if (infix->swapped) std::swap(left, right);
    const auto symbol = std::ranges::find(kInfixes, infix->op, &Infix::op)->symbol;
    const auto wrapped = [](const Part& part, int least) {
      return part.level < least ? '(' + part.text + ')' : part.text;
    };
    Part both{fmt::format("{}{}{}", wrapped(left, level), symbol, wrapped(right, level + 1)), level};
    if (resolves_) both.node = add({.op = infix->op, .operands = {left.node, right.node, -1}}, at);
    left = std::move(both);
  }
}

Part Parser::unary() {
  skip_blanks();
  const std::size_t at = at_;
  if (!take_if("-")) return primary();
  if (++nesting_ > kMostNesting) fail(at, "too many levels");
  Part of = unary();
  --nesting_;
  const bool is_number = !of.text.empty() && (is_digit(of.text[0]) || of.text[0] == '.');
  Part part{'-' + (of.level < kUnaryLevel ? '(' + of.text + ')' : of.text), kUnaryLevel};
  if (!resolves_) return part;
  // A number with a sign is a number.
  if (is_number && of.level == kPrimary)
    part.node = add({.number = -result_.nodes[static_cast<std::size_t>(of.node)].number}, at);
  else
    part.node = add({.op = RowOp::kNegative, .operands = {of.node, -1, -1}}, at);
  return part;
}

float Parser::number() {
  float value = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc() || !std::isfinite(value)) fail(at_, "a number of f32 is missing");
  at_ = static_cast<std::size_t>(end - text_.data());
  return value;
}

Part Parser::primary() {
  skip_blanks();
  const std::size_t at = at_;
  if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) {
    const float value = number();
    return {fmt::format("{}", value), kPrimary, resolves_ ? add({.number = value}, at) : -1};
  }
  if (take_if("(")) {
    if (++nesting_ > kMostNesting) fail(at, "too many levels");
    Part inner = expression(1);
    --nesting_;
    expect(")");
    return inner;
  }
  const std::string_view name = word();
  if (name.empty())
    fail(at, at < text_.size() ? fmt::format("'{}' is not expected", text_[at]) : "a value is missing");
  if (take_if("(")) {
    if (++nesting_ > kMostNesting) fail(at, "too many levels");
    Part made = call(name, at);
    --nesting_;
    return made;
  }
  return {std::string(name), kPrimary, resolves_ ? named(name, at) : -1};
}

Part Parser::call(std::string_view name, std::size_t at) {
  for (const EpilogueRow& row : kEpilogueRows)
    if (is_function(row) && (name == row.name || (name == row.alias && !row.alias.empty())))
      return call_of_step(row, at);
  std::vector<Part> arguments = {expression(1)};
  while (take_if(",")) arguments.push_back(expression(1));
  expect(")");
  std::string text(name);
  for (std::size_t i = 0; i < arguments.size(); ++i) text += (i == 0 ? '(' : ',') + arguments[i].text;
  Part part{text + ')'};
  RowNode node;
  for (std::size_t i = 0; i < std::min(arguments.size(), node.operands.size()); ++i)
    node.operands[i] = arguments[i].node;
  const auto function = std::ranges::find_if(kFunctions, [&](const Function& each) {
    return each.name == name && each.arguments == arguments.size();
  });
  if (function != std::end(kFunctions)) {
    node.op = function->op;
  } else if (arguments.size() == 1 && (name == "f32" || name == "bf16")) {
    node.op = RowOp::kCast;
    node.type = *parse_dtype(name);
  } else if (std::ranges::find(kFunctions, name, &Function::name) != std::end(kFunctions)) {
    fail(at, fmt::format("{} does not take {} values", name, arguments.size()));
  } else {
    std::vector<std::string_view> names = {"f32", "bf16"};
    for (const Function& each : kFunctions)
      if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
    for (const EpilogueRow& row : kEpilogueRows)
      if (is_function(row)) names.push_back(row.name);
    fail(at, fmt::format("unknown function '{}' (known are {})", name, fmt::join(names, ", ")));
  }
  if (resolves_) part.node = add(node, at);
  return part;
}

/// Parses a call such as "clamp(x,-1,6)": the value, followed by the step's numbers.
Part Parser::call_of_step(const EpilogueRow& row, std::size_t at) {
  Part value = expression(1);
  EpilogueStep step{.op = row.op};
  std::string text = fmt::format("{}({}", row.name, value.text);
  std::size_t count = 0;
  while (take_if(",")) {
    skip_blanks();
    const std::size_t start = at_;
    const bool negative = take_if("-");
    skip_blanks();
    const float size = number();
    if (count == row.numbers.most)
      fail(start, fmt::format("{} takes {} numbers behind its value", row.name, row.numbers.most));
    step.numbers[count++] = negative ? -size : size;
    text += fmt::format(",{}", step.numbers[count - 1]);
  }
  expect(")");
  if (count < row.numbers.least || (count > 0 && !row.numbers.are_right(step.numbers)))
    fail(at, fmt::format(fmt::runtime(std::string(row.name) + " needs " + std::string(row.numbers.needs)),
                         fmt::format("{}(x,{}", row.name, row.numbers.example.substr(1))));
  Part part{text + ')'};
  if (resolves_) part.node = add({.op = RowOp::kStep, .operands = {value.node, -1, -1}, .step = step}, at);
  return part;
}

}  // namespace

bool is_row_name(std::string_view name) {
  return !name.empty() && name.size() <= 32 && is_letter(name[0]) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
}

std::string canonical_rows(std::string_view text) {
  return Parser(text).statements();
}

RowExpression parse_rows(std::string_view text, std::span<const RowName> inputs,
                         std::span<const RowName> outputs) {
  Parser parser(text);
  parser.resolve(inputs, outputs);
  parser.statements();
  return parser.take();
}

}  // namespace lehr
