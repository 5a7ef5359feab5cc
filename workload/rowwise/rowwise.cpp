#include "workload/rowwise/rowwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/ceil_div.h"
#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

constexpr std::int64_t kLimit = std::int64_t{1} << 31;

constexpr std::string_view kKinds =
    "nothing (one value for each element), row, column, number, column/P, column%P, row/P or row%P";

void check_size(std::string_view name, std::int64_t value) {
  if (value < 1 || value >= kLimit)
    throw_user("{}={} is out of range: sizes are whole numbers from 1 to {}", name, value, kLimit - 1);
}

std::vector<RowName> names_of(const std::vector<RowTensor>& tensors) {
  std::vector<RowName> names;
  for (const RowTensor& tensor : tensors) names.push_back({tensor.name, tensor.varies});
  return names;
}

void set_kind(RowTensor& tensor, std::string_view kind, std::string_view text) {
  using Line = RowTensor::Line;
  const std::size_t sign = kind.find_first_of("/%");
  const std::string_view word = kind.substr(0, sign);
  tensor.varies = word == "column";
  if (word != "column" && word != "row" && (word != "number" || sign != std::string_view::npos))
    throw_user("the kind of '{}' is none: it is {}", text, kKinds);
  tensor.line = word == "row" ? Line::kRow : Line::kOnly;
  if (sign == std::string_view::npos) return;
  tensor.line = kind[sign] == '/' ? Line::kDivided : Line::kModulo;
  tensor.period = parse_int(kind.substr(sign + 1)).value_or(0);
  if (tensor.period < 1 || tensor.period >= kLimit)
    throw_user("'{}' needs a number of rows behind {}", text, kind[sign]);
}

void validate_tensors(const Rowwise& r) {
  if (r.in.empty() || r.in.size() > kMostRowInputs || r.out.empty() || r.out.size() > kMostRowOutputs)
    throw_user("a row expression has 1 to {} inputs and 1 to {} outputs, this one {} and {}", kMostRowInputs,
               kMostRowOutputs, r.in.size(), r.out.size());
  std::set<std::string_view> names;
  for (const std::vector<RowTensor>* tensors : {&r.in, &r.out})
    for (const RowTensor& tensor : *tensors) {
      if (!names.insert(tensor.name).second) throw_user("two tensors are named {}", tensor.name);
      if (static_cast<double>(lines_of(tensor, r.m)) * static_cast<double>(tensor.varies ? r.n : 1) >=
          static_cast<double>(kLimit))
        throw_user("{} would have 2^31 elements or more", tensor.name);
    }
  for (const RowTensor& tensor : r.out)
    if (tensor.line != RowTensor::Line::kRow)
      throw_user("output {} has one value an element or a row, not {}", tensor.name, to_text(tensor));
}

}  // namespace

std::string to_text(const RowTensor& tensor) {
  using Line = RowTensor::Line;
  std::string text = fmt::format("{}:{}", tensor.name, name_of(tensor.type));
  if (tensor.line == Line::kRow) return tensor.varies ? text : text + ":row";
  if (tensor.line == Line::kOnly) return text + (tensor.varies ? ":column" : ":number");
  return fmt::format("{}:{}{}{}", text, tensor.varies ? "column" : "row",
                     tensor.line == Line::kDivided ? '/' : '%', tensor.period);
}

RowTensor parse_row_tensor(std::string_view text) {
  const std::vector<std::string_view> words = split(text, ':');
  if (words.size() < 2 || words.size() > 3)
    throw_user("'{}' is no tensor of a row expression: it is name:type[:kind]", text);
  RowTensor tensor{.name = std::string(words[0])};
  if (!is_row_name(tensor.name))
    throw_user("'{}' is no name: it begins with a small letter, and digits and _ may follow", words[0]);
  const std::optional<DType> type = parse_dtype(words[1]);
  if (type != DType::kF32 && type != DType::kBF16)
    throw_user("'{}' is of neither f32 nor bf16, as tensors of row expressions are", text);
  tensor.type = *type;
  if (words.size() == 3) set_kind(tensor, words[2], text);
  return tensor;
}

RowExpression expression_of(const Rowwise& rowwise) {
  return parse_rows(rowwise.expression, names_of(rowwise.in), names_of(rowwise.out));
}

bool any_rows(const Rowwise& rowwise) {
  return std::ranges::none_of(
      rowwise.in, [](const RowTensor& tensor) { return tensor.line == RowTensor::Line::kDivided; });
}

std::int64_t lines_of(const RowTensor& tensor, std::int64_t rows) {
  switch (tensor.line) {
    case RowTensor::Line::kRow:
      return rows;
    case RowTensor::Line::kOnly:
      return 1;
    case RowTensor::Line::kDivided:
      return ceil_div(rows, tensor.period);
    case RowTensor::Line::kModulo:
      return tensor.period;
  }
  return rows;
}

double flops_of(const RowNode& node) {
  switch (node.op) {
    case RowOp::kInput:
    case RowOp::kNumber:
    case RowOp::kCast:
      return 0;
    case RowOp::kExp:
      return 14;
    case RowOp::kLog:
      return 18;
    case RowOp::kStep:
      return row_of(node.step.op).exact ? 1 : 16;
    case RowOp::kVarOf:
      return 4;
    default:
      return 1;
  }
}

void validate(const Rowwise& r) {
  check_size("m", r.m);
  check_size("n", r.n);
  if (r.rows < 0 || r.rows >= r.m || (r.rows > 0 && !any_rows(r)))
    throw_user(
        "rows={} is out of range: it is from 1 to {}, left out for all rows of m={}, and the same for "
        "all calls where a tensor has a line for several rows",
        r.rows, r.m - 1, r.m);
  validate_tensors(r);
  const RowExpression expression = expression_of(r);
  for (std::size_t i = 0; i < r.in.size(); ++i) {
    const bool is_read = std::ranges::any_of(expression.nodes, [&](const RowNode& node) {
      return std::ranges::find(node.used(), static_cast<int>(i)) != node.used().end();
    });
    if (!is_read && std::ranges::find(expression.outputs, static_cast<int>(i)) == expression.outputs.end())
      throw_user("input {} is not read by '{}'", r.in[i].name, r.expression);
  }
}

std::vector<TensorSpec> tensors_of(const Rowwise& r) {
  std::vector<TensorSpec> tensors;
  const auto add = [&](const RowTensor& of, TensorRole role) {
    tensors.push_back({of.name, of.type, lines_of(of, rows_of(r)) * (of.varies ? r.n : 1), role});
    if (role == TensorRole::kInput && of.varies && of.line == RowTensor::Line::kRow) tensors.back().row = r.n;
  };
  for (const RowTensor& tensor : r.in) add(tensor, TensorRole::kInput);
  for (const RowTensor& tensor : r.out) add(tensor, TensorRole::kOutput);
  return tensors;
}

namespace {

std::vector<Dimension> shape_of(const RowTensor& tensor, const Rowwise& r) {
  if (tensor.line == RowTensor::Line::kOnly) return {{tensor.varies ? r.n : 1}};
  const std::int64_t lines = lines_of(tensor, rows_of(r));
  if (!tensor.varies) return {{lines}};
  return {{lines, r.n}, {r.n, 1}};
}

}  // namespace

std::vector<Dimension> shape_of(const Rowwise& r, const Epilogue&) {
  return shape_of(r.out.at(0), r);
}

std::vector<std::vector<Dimension>> input_shapes_of(const Rowwise& r) {
  std::vector<std::vector<Dimension>> shapes;
  for (const RowTensor& tensor : r.in) shapes.push_back(shape_of(tensor, r));
  for (const RowTensor& tensor : r.out) shapes.push_back(shape_of(tensor, r));
  return shapes;
}

void set_types(Rowwise& r, DType inputs, DType output) {
  for (RowTensor& tensor : r.in) tensor.type = inputs;
  for (RowTensor& tensor : r.out) tensor.type = output;
}

std::int64_t channels_of(const Rowwise& r) {
  return r.n;
}

ProductSums product_sums(const Rowwise& r) {
  const DType type = r.in.empty() ? DType::kF32 : r.in[0].type;
  return {.products = r.n, .operand = type, .second = type, .of_matrices = false};
}

std::string_view sliced_size(const Rowwise& r) {
  return any_rows(r) ? "m" : "";
}

double flops_of(const Rowwise& r) {
  double a_row = 0;
  const RowExpression expression = expression_of(r);
  for (const RowNode& node : expression.nodes) {
    const bool along = node.varies || is_reduction(node.op);
    a_row += flops_of(node) * static_cast<double>(along ? r.n : 1);
  }
  return std::max(a_row, 1.0) * static_cast<double>(rows_of(r));
}

std::int64_t rows_of(const Rowwise& r) {
  return r.rows > 0 ? r.rows : r.m;
}

}  // namespace lehr
