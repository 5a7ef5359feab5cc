#include "workload/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "workload/integers.h"
#include "workload/operator.h"

namespace lehr {

namespace {

/// Distance between operators. It is larger than the distance of any sizes of one operator that are tuned in
/// practice.
constexpr double kOtherOperator = 32;

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
  std::vector<std::string_view> known;
  for (const Field& field : op.fields) {
    if (!field.in_text()) continue;
    if (field.key == key) return field.read(field, key, value, workload);
    known.push_back(field.key);
  }
  throw_user("unknown key '{}' in workload '{}'; known are {}", key, text, fmt::join(known, ", "));
}

TensorSpec& output_of(std::vector<TensorSpec>& tensors) {
  return *std::ranges::find(tensors, TensorRole::kOutput, &TensorSpec::role);
}

/// Checks that the types of the sums and of the output fit the epilogue.
void validate_types(const Workload& workload) {
  std::vector<TensorSpec> tensors = operator_of(workload).tensors(workload);
  const DType accum = accum_of(workload), output = output_of(tensors).type;
  const std::string text = to_text(workload.epilogue);
  if (has_dequant(workload.epilogue)) {
    if (accum != DType::kS32) throw_user("epilogue={} needs sums in s32, not {}", text, name_of(accum));
    const bool narrow = output == DType::kU8 || output == DType::kS8;
    if (has_quant(workload.epilogue) && !narrow)
      throw_user("epilogue={} makes an output of u8 or s8, not {}", text, name_of(output));
    if (!has_quant(workload.epilogue) && output != DType::kF32)
      throw_user(
          "epilogue={} makes an output of f32, not {}; one of u8 or s8 is what a quant at its end makes",
          text, name_of(output));
    return;
  }
  constexpr EpilogueStep kBias = {.op = EpilogueOp::kBias};
  const bool bias_alone = workload.epilogue.steps.size() == 1 && workload.epilogue.steps[0] == kBias;
  if (bias_alone && accum == DType::kS32 && output == DType::kS32) return;
  for (const DType type : {accum, output})
    if (is_integer(type))
      throw_user("epilogue={} needs sums and outputs that are floating-point numbers, not {}", text,
                 name_of(type));
}

}  // namespace

void validate(const Workload& workload) {
  operator_of(workload).validate(workload);
  if (workload.epilogue.empty()) return;
  if (const PoolWindows windows = windows_of(workload.epilogue); windows.window > 1) {
    const std::optional<ImageSums> images = images_of(workload);
    const std::int64_t least = std::max<std::int64_t>(windows.window - windows.before - windows.after, 1);
    if (!images || windows.over(images->height) == 0 || windows.over(images->width) == 0)
      throw_user("epilogue={} needs a conv2d whose output has {} x {} pixels or more",
                 to_text(workload.epilogue), least, least);
  }
  validate_types(workload);
  if (!is_gated(workload.epilogue)) return;
  const auto has_pairs = operator_of(workload).has_pairs;
  if (has_pairs == nullptr || !has_pairs(workload))
    throw_user(
        "epilogue={} makes one column of two neighbours: it needs a gemm with an even n and a row-major c",
        to_text(workload.epilogue));
}

std::string to_text(const Workload& workload) {
  const OperatorTable& op = operator_of(workload);
  std::string text(op.name);
  for (const Field& field : op.fields)
    if (field.in_text() && !field.later) append_field(text, field, workload);
  // Fields that were added later are omitted if they have their usual values, so that older texts keep their
  // meaning.
  for (const Field& field : op.fields)
    if (field.is_new_in(workload)) append_field(text, field, workload);
  return text;
}

Workload parse_workload(std::string_view text) {
  std::vector<std::string_view> words = split(text, ' ');
  std::erase(words, "");
  const OperatorTable* op = words.empty() ? nullptr : find_operator(words[0]);
  if (op == nullptr)
    throw_user("workload '{}' does not start with a known operator; known are: {}", text,
               fmt::join(operator_names(), ", "));
  Workload workload = op->usual;
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

ProductSums sums_of(const Workload& workload) {
  return operator_of(workload).sums(workload);
}

DType accum_of(const Workload& workload) {
  return sums_of(workload).accum;
}

Math math_of(const Workload& workload) {
  return sums_of(workload).math;
}

ZeroPoint zero_of(const Workload& workload) {
  return sums_of(workload).zero;
}

double flops_of(const Workload& workload) {
  return operator_of(workload).flops(workload);
}

CallRows call_rows(const Workload& workload) {
  const auto rows = operator_of(workload).rows;
  return rows != nullptr ? rows(workload) : CallRows();
}

Workload with_call_rows(Workload workload, const CallRows& rows) {
  const auto set_rows = operator_of(workload).set_rows;
  CHECK(set_rows != nullptr, "{} has no rows", operator_of(workload).name);
  set_rows(workload, rows);
  return workload;
}

std::int64_t rows_of(const Workload& workload) {
  return call_rows(workload).of_call();
}

bool is_range(const Workload& workload) {
  return call_rows(workload).least > 0;
}

Workload call_of(const Workload& range, std::int64_t rows) {
  const std::int64_t most = call_rows(range).most;
  return with_call_rows(range, {.most = most, .any = true, .called = rows == most ? 0 : rows});
}

Workload kernels_of(const Workload& workload) {
  return is_range(workload) ? call_of(workload, call_rows(workload).most) : workload;
}

Workload with_rows(const Workload& workload, std::int64_t rows) {
  return with_call_rows(workload, {.most = rows});
}

Workload of_any_call(Workload workload) {
  CallRows rows = call_rows(workload);
  if (rows.called == 0) return workload;
  rows.called = 0;
  return with_call_rows(std::move(workload), rows);
}

Workload fixed_rows(const Workload& workload) {
  const CallRows rows = call_rows(workload);
  return rows.any || rows.least > 0 ? with_rows(workload, rows.of_call()) : workload;
}

double min_bytes_of(const Workload& workload) {
  double bytes = 0;
  for (const TensorSpec& tensor : tensors_of(workload)) {
    bytes += static_cast<double>(tensor.elements) * size_of(tensor.type);
  }
  return bytes;
}

std::vector<TensorSpec> tensors_of(const Workload& workload) {
  const OperatorTable& op = operator_of(workload);
  std::vector<TensorSpec> tensors = op.tensors(workload);
  TensorSpec& made = output_of(tensors);
  made.elements = 1;
  for (const Dimension& dimension : op.shape(workload)) made.elements *= dimension.size;
  const TensorSpec output = made;
  for (const StepOperand& operand : operands_of(workload.epilogue)) {
    const std::int64_t elements = operand.per == OperandPer::kTensor    ? 1
                                  : operand.per == OperandPer::kChannel ? op.channels(workload)
                                                                        : output.elements;
    tensors.push_back({std::string(operand.name), type_of(operand, workload.epilogue, output.type), elements,
                       TensorRole::kOperand});
  }
  for (TensorSpec& tensor : tensors) tensor.draw = usual_draw(tensor.type);
  const ProductSums sums = op.sums(workload);
  if (sums.accum == DType::kS32) set_draws(sums, workload.epilogue, tensors);
  return tensors;
}

}  // namespace lehr
