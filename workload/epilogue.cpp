#include "workload/epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "workload/operand.h"

namespace lehr {
namespace {

// Splits at every '+' that is not in parentheses (1e+05).
std::vector<std::string_view> steps_in(std::string_view text) {
  std::vector<std::string_view> steps;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] != '+' || depth != 0) continue;
    steps.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  steps.push_back(text.substr(begin));
  return steps;
}

const EpilogueRow& row_named(std::string_view name) {
  std::vector<std::string> names, aliases;
  for (const EpilogueRow& row : kEpilogueRows) {
    if (row.name == name || (!row.alias.empty() && row.alias == name)) return row;
    if (row.needs_type) continue;  // the row's name is in the list already
    names.emplace_back(row.name);
    if (!row.alias.empty()) aliases.emplace_back(row.alias);
  }
  names.insert(names.end(), aliases.begin(), aliases.end());
  const std::string near = closest(name, names);
  throw_user("unknown step '{}' in an epilogue{}; known are none, {}", name,
             near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(names, ", "));
}

std::optional<float> number_in(std::string_view text, bool whole) {
  if (!whole) return parse_number(text);
  constexpr std::int64_t kExact = std::int64_t{1} << 24;
  const std::optional<std::int64_t> number = parse_int(text);
  return number && *number >= -kExact && *number <= kExact ? std::optional(static_cast<float>(*number))
                                                           : std::nullopt;
}

std::optional<StepNumbers> numbers_in(std::string_view text, const NumberRule& rule) {
  StepNumbers numbers = {};
  const std::vector<std::string_view> parts = split(text, ',');
  if (parts.size() < rule.least || parts.size() > rule.most) return std::nullopt;
  for (std::size_t i = 0; i < rule.most; ++i) {
    const auto number = i < parts.size() ? number_in(parts[i], rule.whole) : rule.usual(numbers, i);
    if (!number) return std::nullopt;
    numbers[i] = *number;
  }
  return numbers;
}

/// Parses "residual(u8)".
EpilogueStep typed_step(std::string_view text, std::string_view name) {
  std::vector<std::string> right = {std::string(name)};
  for (const EpilogueRow& row : kEpilogueRows) {
    if (row.name != name) continue;
    for (const DType type : row.types) {
      const EpilogueStep step = {row.op, {}, type};
      if (right.emplace_back(to_text({{step}})) == text) return step;
    }
  }
  throw_user("'{}' in an epilogue is of no type that it can be of; write {}", text, fmt::join(right, ", "));
}

EpilogueStep step_of(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::string_view name = text.substr(0, open);
  const EpilogueRow& row = row_named(name);
  const bool is_open = open != std::string_view::npos;
  if (is_open && !text.ends_with(')')) throw_user("'{}' in an epilogue has no closing parenthesis", text);
  if (!row.types.empty() && is_open) return typed_step(text, name);
  if (row.numbers.most == 0) {
    if (is_open) throw_user("'{}' in an epilogue takes no numbers; write {}", text, name);
    return {row.op};
  }
  const std::string_view inside =
      is_open ? text.substr(open + 1, text.size() - open - 2) : std::string_view();
  const std::optional<StepNumbers> numbers = numbers_in(inside, row.numbers);
  if (!numbers || !row.numbers.are_right(*numbers))
    throw_user("'{}' in an epilogue needs {}", text,
               fmt::format(fmt::runtime(row.numbers.needs), example_of(row)));
  const EpilogueStep step = {row.op, *numbers};
  if (row.numbers.check != nullptr) row.numbers.check(step, text);
  return step;
}

std::string numbers_text(const EpilogueStep& step) {
  if (step.type) return fmt::format("({})", name_of(*step.type));
  const NumberRule& rule = row_of(step.op).numbers;
  std::size_t count = rule.most;
  while (count > rule.least && step.numbers[count - 1] == rule.usual(step.numbers, count - 1)) --count;
  if (count == 0) return "";
  return fmt::format("({})", fmt::join(step.numbers.begin(), std::next(step.numbers.begin(), count), ","));
}

PoolWindows windows_of(const EpilogueStep& step) {
  const auto number = [&](std::size_t i) { return static_cast<std::int64_t>(step.numbers[i]); };
  return {number(0), number(1), number(2), number(3)};
}

/// Returns the row of the last step; nullptr for an epilogue without steps.
const EpilogueRow* last_row(const Epilogue& epilogue) {
  return epilogue.empty() ? nullptr : &row_of(epilogue.steps.back().op);
}

bool has_step(const Epilogue& epilogue, EpilogueOp op) {
  return std::ranges::count(epilogue.steps, op, &EpilogueStep::op) > 0;
}

bool reads(const Epilogue& epilogue, std::string_view operand) {
  return std::ranges::count(operands_of(epilogue), operand, &StepOperand::name) > 0;
}

/// Checks the steps that integers need before and after a step. `before` contains the earlier steps.
void check_place(const Epilogue& before, const EpilogueStep& step, std::string_view part,
                 std::string_view text) {
  const bool dequantized = has_dequant(before);
  if (has_quant(before))
    throw_user("epilogue '{}' has '{}' behind quant, which makes the output: it must be the last step", text,
               part);
  if (step.op == EpilogueOp::kDequant)
    for (const EpilogueStep& other : before.steps)
      if (other.op != EpilogueOp::kBias)
        throw_user("epilogue '{}' has '{}' before dequant, where sums are in s32: only bias can stand there",
                   text, row_of(other.op).name);
  if ((row_of(step.op).of_integers || step.type) && step.op != EpilogueOp::kDequant && !dequantized)
    throw_user("epilogue '{}' has '{}' without a dequant before it, which makes f32 of sums in s32", text,
               part);
}

}  // namespace

void check_windows(const EpilogueStep& step, std::string_view text) {
  const PoolWindows windows = windows_of(step);
  if (windows.stride < 1 || windows.stride > kMostWindow)
    throw_user("'{}' in an epilogue has a stride of {}; it can be 1 to {}", text, windows.stride,
               kMostWindow);
  for (const std::int64_t pad : {windows.before, windows.after})
    if (pad < 0 || pad >= windows.window)
      throw_user(
          "'{}' in an epilogue has {} pixels outside of the image; they can be 0 to {}, one less than the "
          "window",
          text, pad, windows.window - 1);
  if (step.op == EpilogueOp::kAvgPool && windows.before + windows.after > 0)
    throw_user("'{}' in an epilogue is a mean of pixels outside of the image; only maxpool takes these",
               text);
}

std::string to_text(const Epilogue& epilogue) {
  if (epilogue.empty()) return "none";
  std::string text;
  for (const EpilogueStep& step : epilogue.steps) {
    if (!text.empty()) text += '+';
    text += row_of(step.op).name;
    text += numbers_text(step);
  }
  return text;
}

Epilogue parse_epilogue(std::string_view text) {
  Epilogue epilogue;
  if (text == "none") return epilogue;
  for (const std::string_view part : steps_in(text)) {
    const EpilogueStep step = step_of(part);
    const EpilogueRow& row = row_of(step.op);
    const EpilogueRow* const last = last_row(epilogue);
    if (last != nullptr && epilogue.steps.back() == step)
      throw_user("epilogue '{}' has '{}' twice in a row", text, part);
    if (row.operand_count() > 0 && reads(epilogue, row.operands[0].name))
      throw_user("epilogue '{}' has '{}' twice, but there is one operand of that name", text, part);
    if (last != nullptr && last->shrinks() && !(last->pooled != nullptr && step.op == EpilogueOp::kQuant))
      throw_user("epilogue '{}' has '{}' behind {}, which makes one {}: it must be the last step", text, part,
                 last->name, last->gate ? "column of two" : "pixel of a window");
    if (row.shrinks() && has_residual(epilogue))
      throw_user("epilogue '{}' has a residual, which is of the output's shape, before {}, which shrinks it",
                 text, part);
    check_place(epilogue, step, part, text);
    epilogue.steps.push_back(step);
  }
  return epilogue;
}

std::string example_of(const EpilogueRow& row) {
  if (row.needs_type) return fmt::format("{}({})", row.name, name_of(row.types[0]));
  return fmt::format("{}{}", row.name, row.numbers.example);
}

EpilogueStep pool_over(EpilogueOp op, const PoolWindows& windows) {
  const auto number = [](std::int64_t pixels) { return static_cast<float>(pixels); };
  return {op,
          {number(windows.window), number(windows.stride), number(windows.before), number(windows.after)}};
}

const EpilogueStep* shrinking_step(const Epilogue& epilogue) {
  for (const EpilogueStep& step : epilogue.steps)
    if (row_of(step.op).shrinks()) return &step;
  return nullptr;
}

bool is_gated(const Epilogue& epilogue) {
  const EpilogueStep* const step = shrinking_step(epilogue);
  return step != nullptr && row_of(step->op).gate;
}

PoolWindows windows_of(const Epilogue& epilogue) {
  const EpilogueStep* const step = shrinking_step(epilogue);
  return step != nullptr && row_of(step->op).pooled != nullptr ? windows_of(*step) : PoolWindows{};
}

bool has_dequant(const Epilogue& epilogue) {
  return has_step(epilogue, EpilogueOp::kDequant);
}

bool has_quant(const Epilogue& epilogue) {
  return has_step(epilogue, EpilogueOp::kQuant);
}

DType output_for(DType type, const Epilogue& epilogue) {
  if (has_quant(epilogue)) return type;
  return has_dequant(epilogue) ? DType::kF32 : output_for(type);
}

std::vector<StepOperand> operands_of(const Epilogue& epilogue) {
  std::vector<StepOperand> operands;
  for (std::size_t step = 0; step < epilogue.steps.size(); ++step) {
    const EpilogueRow& row = row_of(epilogue.steps[step].op);
    for (std::size_t i = 0; i < row.operand_count(); ++i) operands.push_back({row.operands[i], step});
  }
  return operands;
}

DType type_of(const StepOperand& operand, const Epilogue& epilogue, DType output) {
  if (operand.type == OperandType::kF32) return DType::kF32;
  const std::optional<DType> reported = epilogue.steps[operand.step].type;
  if (operand.type == OperandType::kOfStep && reported) return *reported;
  if (operand.type == OperandType::kOutput || !has_dequant(epilogue)) return output;
  return type_at(epilogue, DType::kS32, operand.step);
}

DType type_at(const Epilogue& epilogue, DType accum, std::size_t step) {
  const auto from = epilogue.steps.begin();
  const auto dequant = std::ranges::find(epilogue.steps, EpilogueOp::kDequant, &EpilogueStep::op);
  return static_cast<std::size_t>(dequant - from) < step ? DType::kF32 : accum;
}

bool has_residual(const Epilogue& epilogue) {
  return std::ranges::count(operands_of(epilogue), OperandPer::kElement, &StepOperand::per) > 0;
}

}  // namespace lehr
