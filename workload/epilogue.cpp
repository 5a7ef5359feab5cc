#include "workload/epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

/// Text is written with the first name of a step; other programs' names are only read.
constexpr std::pair<std::string_view, EpilogueOp> kOps[] = {
    {"bias", EpilogueOp::kBias},
    {"scale_shift", EpilogueOp::kScaleShift},
    {"relu", EpilogueOp::kRelu},
    {"relu6", EpilogueOp::kRelu6},
    {"gelu_tanh", EpilogueOp::kGeluTanh},
    {"gelu_erf", EpilogueOp::kGeluErf},
    {"silu", EpilogueOp::kSilu},
    {"sigmoid", EpilogueOp::kSigmoid},
    {"tanh", EpilogueOp::kTanh},
    {"clamp", EpilogueOp::kClamp},
    {"residual", EpilogueOp::kResidual},
    {"swiglu", EpilogueOp::kSwiglu},
    {"geglu", EpilogueOp::kGeglu},
    {"maxpool", EpilogueOp::kMaxPool},
    {"avgpool", EpilogueOp::kAvgPool},
    {"leaky_relu", EpilogueOp::kLeakyRelu},
    {"hard_swish", EpilogueOp::kHardSwish},
    {"gelu", EpilogueOp::kGeluErf},
};

bool gates(const EpilogueStep& step) {
  return step.op == EpilogueOp::kSwiglu || step.op == EpilogueOp::kGeglu;
}

bool pools(const EpilogueStep& step) {
  return step.op == EpilogueOp::kMaxPool || step.op == EpilogueOp::kAvgPool;
}

std::string_view name_of(EpilogueOp op) {
  for (const auto& [name, known] : kOps)
    if (known == op) return name;
  return "?";
}

// At every '+' that does not stand in parentheses (1e+05).
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

EpilogueStep clamp_of(std::string_view step, std::string_view bounds) {
  const std::vector<std::string_view> parts = split(bounds, ',');
  const std::optional<float> low = parse_number(parts[0]), high = parse_number(parts.back());
  if (parts.size() != 2 || !low || !high || *low >= *high)
    throw_user("'{}' in an epilogue needs two finite numbers, the lower one first, as in clamp(-1,6)", step);
  return {EpilogueOp::kClamp, *low, *high};
}

EpilogueStep leaky_relu_of(std::string_view step, std::string_view slope) {
  const std::optional<float> value = parse_number(slope);
  if (!value || *value <= 0 || *value >= 1)
    throw_user("'{}' in an epilogue needs its slope, a number between 0 and 1, as in leaky_relu(0.1)", step);
  return {.op = EpilogueOp::kLeakyRelu, .slope = *value};
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

EpilogueStep pool_of(EpilogueOp op, std::string_view step, std::string_view inside) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view part : split(inside, ','))
    if (const auto number = whole_number(part)) numbers.push_back(*number);
  const std::size_t given = split(inside, ',').size();
  if (numbers.size() != given || given > 4 || numbers[0] < kLeastWindow || numbers[0] > kMostWindow)
    throw_user(
        "'{}' in an epilogue needs the height and width of its windows, {} to {}, as in {}(2), and behind it, "
        "where windows do not lie side by side, their stride and the pixels before and behind the image, as in "
        "maxpool(3,2,1)",
        step, kLeastWindow, kMostWindow, name_of(op));
  PoolWindows windows;
  windows.window = numbers[0];
  windows.stride = given > 1 ? numbers[1] : windows.window;
  windows.before = given > 2 ? numbers[2] : 0, windows.after = given > 3 ? numbers[3] : windows.before;
  if (windows.stride < 1 || windows.stride > kMostWindow)
    throw_user("'{}' in an epilogue has a stride of {}; it can be 1 to {}", step, windows.stride, kMostWindow);
  for (const std::int64_t pad : {windows.before, windows.after})
    if (pad < 0 || pad >= windows.window)
      throw_user("'{}' in an epilogue has {} pixels outside of the image; they can be 0 to {}, one less than the "
                 "window",
                 step, pad, windows.window - 1);
  if (op == EpilogueOp::kAvgPool && windows.before + windows.after > 0)
    throw_user("'{}' in an epilogue is a mean of pixels outside of the image; only maxpool takes these", step);
  return {.op = op, .windows = windows};
}

std::string text_of(const PoolWindows& w) {
  if (w.are_apart()) return fmt::format("({})", w.window);
  if (w.before == 0 && w.after == 0) return fmt::format("({},{})", w.window, w.stride);
  if (w.before == w.after) return fmt::format("({},{},{})", w.window, w.stride, w.before);
  return fmt::format("({},{},{},{})", w.window, w.stride, w.before, w.after);
}

EpilogueStep step_of(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::string_view name = text.substr(0, open);
  const auto known = std::ranges::find(kOps, name, [](const auto& op) { return op.first; });
  if (known == std::end(kOps)) {
    std::vector<std::string> names;
    for (const auto& op : kOps) names.emplace_back(op.first);
    const std::string near = closest(name, names);
    throw_user("unknown step '{}' in an epilogue{}; known are none, {}", name,
               near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(names, ", "));
  }
  const bool bounds = open != std::string_view::npos;
  if (bounds && !text.ends_with(')')) throw_user("'{}' in an epilogue has no closing parenthesis", text);
  const std::string_view inside = bounds ? text.substr(open + 1, text.size() - open - 2) : std::string_view();
  if (known->second == EpilogueOp::kClamp) return clamp_of(text, inside);
  if (known->second == EpilogueOp::kLeakyRelu) return leaky_relu_of(text, inside);
  if (pools({known->second})) return pool_of(known->second, text, inside);
  if (bounds) throw_user("'{}' in an epilogue takes no numbers; write {}", text, name);
  return {known->second, 0, 0};
}

}  // namespace

std::string to_text(const Epilogue& epilogue) {
  if (epilogue.empty()) return "none";
  std::string text;
  for (const EpilogueStep& step : epilogue.steps) {
    text += fmt::format("{}{}", text.empty() ? "" : "+", name_of(step.op));
    if (step.op == EpilogueOp::kClamp) text += fmt::format("({},{})", step.low, step.high);
    if (step.op == EpilogueOp::kLeakyRelu) text += fmt::format("({})", step.slope);
    if (pools(step)) text += text_of(step.windows);
  }
  return text;
}

Epilogue parse_epilogue(std::string_view text) {
  Epilogue epilogue;
  if (text == "none") return epilogue;
  for (const std::string_view part : steps_in(text)) {
    const EpilogueStep step = step_of(part);
    if (!epilogue.steps.empty() && epilogue.steps.back() == step)
      throw_user("epilogue '{}' has '{}' twice in a row", text, part);
    const bool has_operand = !operands_of({{step}}).empty();
    if (has_operand && std::ranges::count(epilogue.steps, step) > 0)
      throw_user("epilogue '{}' has '{}' twice, but there is one operand of that name", text, part);
    if (is_gated(epilogue))
      throw_user("epilogue '{}' has '{}' behind {}, which makes one column of two: it must be the last step",
                 text, part, name_of(epilogue.steps.back().op));
    if (window_of(epilogue) > 1)
      throw_user(
          "epilogue '{}' has '{}' behind {}, which makes one pixel of a window: it must be the last step",
          text, part, name_of(epilogue.steps.back().op));
    if ((gates(step) || pools(step)) &&
        std::ranges::find(epilogue.steps, EpilogueOp::kResidual, &EpilogueStep::op) != epilogue.steps.end())
      throw_user("epilogue '{}' has a residual, which is of the output's shape, before {}, which shrinks it",
                 text, part);
    epilogue.steps.push_back(step);
  }
  return epilogue;
}

bool is_gated(const Epilogue& epilogue) {
  return !epilogue.empty() && gates(epilogue.steps.back());
}

PoolWindows windows_of(const Epilogue& epilogue) {
  return !epilogue.empty() && pools(epilogue.steps.back()) ? epilogue.steps.back().windows : PoolWindows{};
}

std::vector<EpilogueOperand> operands_of(const Epilogue& epilogue) {
  std::vector<EpilogueOperand> operands;
  for (const EpilogueStep& step : epilogue.steps) {
    if (step.op == EpilogueOp::kBias) operands.push_back({"bias", true});
    if (step.op == EpilogueOp::kScaleShift) {
      operands.push_back({"scale", true});
      operands.push_back({"shift", true});
    }
    if (step.op == EpilogueOp::kResidual) operands.push_back({"residual", false});
  }
  return operands;
}

bool has_residual(const Epilogue& epilogue) {
  return std::ranges::any_of(epilogue.steps,
                             [](const EpilogueStep& step) { return step.op == EpilogueOp::kResidual; });
}

}  // namespace lehr
