#include "workload/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

/// Farther than any sizes of the same operator that are tuned in practice.
constexpr double kOtherOperator = 32;

std::string joined(const auto& rows, auto name_of_row) {
  std::vector<std::string_view> names;
  for (const auto& row : rows)
    if (const std::string_view name = name_of_row(row); !name.empty()) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void append_field(std::string& text, const Field& field, const Workload& workload) {
  text += ' ';
  text += field.key;
  text += '=';
  field.append(workload, text);
}

void read_word(Workload& workload, const OperatorTable& op, std::string_view word, std::string_view text) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) throw_user("'{}' in workload '{}' is not key=value", word, text);
  const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1);
  for (const Field& field : op.fields)
    if (field.in_text() && field.key == key) return field.read(field, key, value, workload);
  throw_user("unknown key '{}' in workload '{}'; known are {}", key, text,
             joined(op.fields, [](const Field& field) { return field.in_text() ? field.key : ""; }));
}

}  // namespace

std::span<const OperatorTable> operators() {
  static const std::array<OperatorTable, std::variant_size_v<decltype(Workload::problem)>> tables = {
      gemm_operator(), conv2d_operator()};
  return tables;
}

const OperatorTable& operator_of(const Workload& workload) {
  return operators()[workload.problem.index()];
}

const OperatorTable* find_operator(std::string_view name) {
  for (const OperatorTable& op : operators())
    if (op.name == name) return &op;
  return nullptr;
}

std::string text_by_table(const Workload& workload) {
  const OperatorTable& op = operator_of(workload);
  std::string text(op.name);
  for (const Field& field : op.fields)
    if (field.in_text() && !field.later) append_field(text, field, workload);
  // What came later is left out where it is as usual, so that texts written before keep their meaning.
  for (const Field& field : op.fields) {
    if (!field.later) continue;
    std::string value;
    field.append(workload, value);
    if (value != field.usual) append_field(text, field, workload);
  }
  return text;
}

Workload parse_by_table(std::string_view text) {
  std::vector<std::string_view> words = split(text, ' ');
  std::erase(words, "");
  const OperatorTable* op = words.empty() ? nullptr : find_operator(words[0]);
  if (op == nullptr)
    throw_user("workload '{}' does not start with a known operator; known are: {}", text,
               joined(operators(), [](const OperatorTable& known) { return known.name; }));
  Workload workload = op->usual();
  for (std::size_t i = 1; i < words.size(); ++i) read_word(workload, *op, words[i], text);
  validate(workload);
  return workload;
}

double distance(const Workload& a, const Workload& b) {
  if (a.problem.index() != b.problem.index()) return kOtherOperator;
  double sum = 0;
  for (const Field& field : operator_of(a).fields)
    if (field.in_text()) sum += field.distance(a, b);
  return sum;
}

}  // namespace lehr
