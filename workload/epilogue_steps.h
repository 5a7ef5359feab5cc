// The steps of an epilogue, each described by one row: text, parser, operands, reference and tolerance are
// derived from it. What a step is in a kernel is a row of templates/shared/epilogue_expr.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>

#include "base/dtype.h"
#include "workload/draw.h"
#include "workload/tolerance.h"

namespace lehr {

/// In the order of kEpilogueRows.
enum class EpilogueOp {
  kBias,
  kScaleShift,
  kRelu,
  kRelu6,
  kGeluTanh,
  kGeluErf,
  kSilu,
  kSigmoid,
  kTanh,
  kClamp,
  kResidual,
  kSwiglu,
  kGeglu,
  kMaxPool,
  kAvgPool,
  kLeakyRelu,
  kHardSwish,
  kDequant,
  kQuant,
  kQuantizedResidual,
  kFakeQuant
};

/// The numbers in parentheses behind a step's name; 0 behind the last of them.
using StepNumbers = std::array<float, 4>;

struct EpilogueStep {
  EpilogueOp op = EpilogueOp::kRelu;
  StepNumbers numbers = {};
  std::optional<DType> type = std::nullopt;  ///< of the step's operand, where the text says one
  friend bool operator==(const EpilogueStep&, const EpilogueStep&) = default;
};

/// Which numbers a step has.
struct NumberRule {
  /// How many a text gives; those that it leaves out at the end are usual().
  std::size_t least = 0, most = 0;
  bool whole = false;
  /// "(-1,6)", right for each step that has this rule.
  std::string_view example = {};
  /// What a sentence says that the step needs; {} is an example of the step.
  std::string_view needs = {};
  bool (*are_right)(const StepNumbers& numbers) = nullptr;
  float (*usual)(const StepNumbers& numbers, std::size_t i) = nullptr;
  /// What else may be wrong. Throws Error(kUser), one sentence about `text`.
  void (*check)(const EpilogueStep& step, std::string_view text) = nullptr;
};

/// What an element of an operand belongs to.
enum class OperandPer { kChannel, kElement, kTensor };

enum class OperandType {
  /// That of the output; in an epilogue with a dequant that in which the step computes: s32 before it, f32
  /// behind it.
  kUsual,
  kF32,
  kOutput,
  kOfStep  ///< EpilogueStep::type, or as usual where there is none
};

/// A tensor that a step reads.
struct EpilogueOperand {
  std::string_view name = {};  ///< "bias", "scale", "shift", "residual"
  OperandPer per = OperandPer::kChannel;
  OperandType type = OperandType::kUsual;
  /// For a check, where not as usual. An operand of a step that computes in s32 is drawn in the unit of the
  /// sums' deviation, or, a scale, per such a unit.
  std::optional<Draw> draw = std::nullopt;
};

/// The elements of a step's operands that belong to one value.
using StepOperands = std::array<double, 3>;

/// Of values: what each may be off by, and its size, at most.
struct ErrorBound {
  double off = 0, largest = 0;
};

/// A step has a value(), or makes one column of two, or one pixel of a window.
struct EpilogueRow {
  EpilogueOp op{};
  std::string_view name;
  /// Another program's name, which is read for it, too.
  std::string_view alias = {};
  NumberRule numbers = {};
  /// What may stand in the parentheses: EpilogueStep::type. Rows of one name differ in these; only the first
  /// of them may be written without parentheses.
  std::span<const DType> types = {};
  bool needs_type = false;
  bool of_integers = false;  ///< a dequant, or what needs one before it
  std::array<EpilogueOperand, 3> operands = {};
  double (*value)(double x, const StepNumbers& numbers, const StepOperands& operands) = nullptr;
  /// Of a step that rounds to integers: value() before it does, for arguments that are not exact.
  double (*before_rounding)(double x, const StepNumbers& numbers, const StepOperands& operands) = nullptr;
  /// Columns of a GEMM in pairs, the gate's and then the value's: this step of x[2 j] times x[2 j + 1] is
  /// column j of the output. Two products in one kernel, whose B holds their columns alternately.
  std::optional<EpilogueOp> gate = std::nullopt;
  /// Of a convolution: one of window x window neighbours (PoolWindows).
  double (*pooled)(std::span<const double> window) = nullptr;
  /// In f32, with each operation rounded by itself, it is the same on every machine.
  bool exact = false;
  /// Of the result, computed in arithmetic of this `epsilon` of such values, with operands as make_inputs()
  /// makes them. Of a gate it follows from the two factors.
  ErrorBound (*bound)(ErrorBound of, const StepNumbers& numbers, double epsilon) = nullptr;

  constexpr std::size_t operand_count() const {
    std::size_t count = 0;
    while (count < operands.size() && !operands[count].name.empty()) ++count;
    return count;
  }
  /// Whether its output is smaller than what it is applied to. It is the last step.
  constexpr bool shrinks() const { return gate.has_value() || pooled != nullptr; }
};

inline constexpr std::int64_t kLeastWindow = 2, kMostWindow = 16;

/// The rest of a pool's rule: strides, and pixels outside of the image.
void check_windows(const EpilogueStep& step, std::string_view text);

inline constexpr NumberRule kWindowRule = {
    .least = 1,
    .most = 4,
    .whole = true,
    .example = "(2)",
    .needs =
        "the height and width of its windows, 2 to 16, as in {}, and behind it, where windows do not lie "
        "side by side, their stride and the pixels before and behind the image, as in maxpool(3,2,1)",
    .are_right = [](const StepNumbers& n) { return n[0] >= kLeastWindow && n[0] <= kMostWindow; },
    .usual = [](const StepNumbers& n, std::size_t i) { return i == 2 ? 0 : n[i - 1]; },
    .check = &check_windows};

/// NaN stays.
inline double clamped(double x, double low, double high) {
  return std::isnan(x) ? x : std::clamp(x, low, high);
}

/// The functions are within so many units in the last place of their argument or result
/// (target/cpu/prelude_math.h).
inline constexpr double kUnits = 6;

/// Bounds: an error stays as it is, or gets smaller.
inline ErrorBound bound_stays(ErrorBound of, const StepNumbers&, double) {
  return of;
}
inline ErrorBound times(ErrorBound of, double factor) {
  return {of.off * factor, of.largest * factor};
}
/// Of a sum with an operand.
inline ErrorBound bound_of_sum(ErrorBound of, const StepNumbers&, double epsilon) {
  const double largest = of.largest + kLargestInput;
  return {of.off + epsilon * largest, largest};
}
/// Of SiLU and GELU, whose slopes are nowhere larger than 1.0998 and 1.1290.
inline ErrorBound bound_of_smooth(ErrorBound of, const StepNumbers&, double epsilon) {
  return {1.13 * of.off + kUnits * epsilon * of.largest, of.largest};
}
/// Of functions that end at 1 and are no steeper.
inline ErrorBound bound_of_saturating(ErrorBound of, const StepNumbers&, double epsilon) {
  return {of.off + kUnits * epsilon, 1};
}

/// What a check makes of sums of integers: values of this deviation in f32, more or less, as other steps have
/// them; of these, integers that reach both ends of u8 and s8 now and then; and residuals about as large
/// as 1.
inline constexpr double kDequantized = 2, kQuantized = 24, kOfResidual = 0.02;
inline constexpr Draw::Kind kScale = Draw::Kind::kScale;
inline constexpr Draw kZeroPointDraw = {.kind = Draw::Kind::kZeroPoint};

/// What a residual behind a dequant may be of, beside f32.
inline constexpr DType kFloatResiduals[] = {DType::kBF16}, kQuantizedResiduals[] = {DType::kU8, DType::kS8};

/// `x` as f32 holds it. A step that rounds more than once says so by this: in f32 it is what it says, bit for
/// bit, since a sum or a product of two f32 that is rounded to f64 and then to f32 is rounded once (Figueroa,
/// "When is double rounding innocuous?", SIGNUM 1995).
inline double in_f32(double x) {
  return static_cast<double>(static_cast<float>(x));
}

inline constexpr EpilogueRow kEpilogueRows[] = {
    {.op = EpilogueOp::kBias,
     .name = "bias",
     .operands = {{{"bias"}}},
     .value = [](double x, auto&, auto& with) { return x + with[0]; },
     .exact = true,
     .bound = &bound_of_sum},
    {.op = EpilogueOp::kScaleShift,  // a folded batch norm
     .name = "scale_shift",
     .operands = {{{"scale"}, {"shift"}}},
     .value = [](double x, auto&, auto& with) { return x * with[0] + with[1]; },
     .bound =
         [](ErrorBound of, auto&, double epsilon) {
           const double largest = (of.largest + 1) * kLargestInput;
           return ErrorBound{of.off * kLargestInput + 2 * epsilon * largest, largest};
         }},
    {.op = EpilogueOp::kRelu,
     .name = "relu",
     .value = [](double x, auto&...) { return clamped(x, 0, HUGE_VAL); },
     .exact = true,
     .bound = &bound_stays},
    {.op = EpilogueOp::kRelu6,
     .name = "relu6",
     .value = [](double x, auto&...) { return clamped(x, 0, 6); },
     .exact = true,
     .bound = [](ErrorBound of, auto&, double) { return ErrorBound{of.off, std::min(of.largest, 6.0)}; }},
    {.op = EpilogueOp::kGeluTanh,
     .name = "gelu_tanh",
     .value =
         [](double x, auto&...) {
           return 0.5 * x * (1 + std::tanh(std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x)));
         },
     .bound = &bound_of_smooth},
    {.op = EpilogueOp::kGeluErf,
     .name = "gelu_erf",
     .alias = "gelu",  // as PyTorch and ONNX mean it
     .value = [](double x, auto&...) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); },
     .bound = &bound_of_smooth},
    {.op = EpilogueOp::kSilu,
     .name = "silu",
     .value = [](double x, auto&...) { return x / (1 + std::exp(-x)); },
     .bound = &bound_of_smooth},
    {.op = EpilogueOp::kSigmoid,
     .name = "sigmoid",
     .value = [](double x, auto&...) { return 1 / (1 + std::exp(-x)); },
     .bound = &bound_of_saturating},
    {.op = EpilogueOp::kTanh,
     .name = "tanh",
     .value = [](double x, auto&...) { return std::tanh(x); },
     .bound = &bound_of_saturating},
    {.op = EpilogueOp::kClamp,
     .name = "clamp",
     .numbers = {.least = 2,
                 .most = 2,
                 .example = "(-1,6)",
                 .needs = "two finite numbers, the lower one first, as in {}",
                 .are_right = [](const StepNumbers& n) { return n[0] < n[1]; }},
     .value = [](double x, auto& n, auto&) { return clamped(x, n[0], n[1]); },
     .exact = true,
     .bound = [](ErrorBound of, auto& n,
                 double) { return ErrorBound{of.off, std::max(std::abs(n[0]), std::abs(n[1]))}; }},
    {.op = EpilogueOp::kResidual,
     .name = "residual",
     .types = kFloatResiduals,
     .operands = {{{"residual", OperandPer::kElement, OperandType::kOfStep}}},
     .value = [](double x, auto&, auto& with) { return x + with[0]; },
     .exact = true,
     .bound = &bound_of_sum},
    {.op = EpilogueOp::kSwiglu, .name = "swiglu", .gate = EpilogueOp::kSilu},
    {.op = EpilogueOp::kGeglu, .name = "geglu", .gate = EpilogueOp::kGeluTanh},
    {.op = EpilogueOp::kMaxPool,
     .name = "maxpool",
     .numbers = kWindowRule,
     .pooled = [](std::span<const double> window) { return *std::ranges::max_element(window); },
     .exact = true,
     .bound = &bound_stays},
    {.op = EpilogueOp::kAvgPool,  // of windows that lie in the image
     .name = "avgpool",
     .numbers = kWindowRule,
     .pooled =
         [](std::span<const double> window) {
           double sum = 0;
           for (const double value : window) sum += value;
           return sum / static_cast<double>(window.size());
         },
     // Each addition rounds.
     .bound =
         [](ErrorBound of, auto& n, double epsilon) {
           const double pixels = static_cast<double>(n[0]) * n[0];
           return ErrorBound{of.off + (pixels + 1) * epsilon * of.largest, of.largest};
         }},
    {.op = EpilogueOp::kLeakyRelu,
     .name = "leaky_relu",
     .numbers = {.least = 1,
                 .most = 1,
                 .example = "(0.1)",
                 .needs = "its slope, a number between 0 and 1, as in {}",
                 .are_right = [](const StepNumbers& n) { return n[0] > 0 && n[0] < 1; }},
     .value = [](double x, auto& n, auto&) { return x < 0 ? x * n[0] : x; },
     .exact = true,
     .bound = [](ErrorBound of, auto&,
                 double epsilon) { return ErrorBound{of.off + epsilon * of.largest, of.largest}; }},
    {.op = EpilogueOp::kHardSwish,
     .name = "hard_swish",
     .value = [](double x, auto&...) { return x * clamped(x / 6 + 0.5, 0, 1); },
     // Its slope is 3/2 at most.
     .bound = [](ErrorBound of, auto&,
                 double epsilon) { return ErrorBound{1.5 * of.off + 3 * epsilon * of.largest, of.largest}; }},
    {.op = EpilogueOp::kDequant,  // of a sum in s32
     .name = "dequant",
     .of_integers = true,
     .operands = {{{"dequant_scale", OperandPer::kChannel, OperandType::kF32,
                    Draw{kScale, 0, kDequantized}}}},
     .value = [](double x, auto&, auto& with) { return in_f32(x) * with[0]; },
     .exact = true,
     .bound = [](ErrorBound of, auto&, double) { return times(of, kMostScaling * kDequantized); }},
    {.op = EpilogueOp::kQuant,  // to an output of u8 or s8, which rounds half to even and saturates
     .name = "quant",
     .of_integers = true,
     .operands = {{{"quant_scale", OperandPer::kTensor, OperandType::kF32, Draw{kScale, 0, kQuantized}},
                   {"quant_zero", OperandPer::kTensor, OperandType::kOutput, kZeroPointDraw}}},
     .value = [](double x, auto&, auto& with) { return std::nearbyint(in_f32(x * with[0])) + with[1]; },
     .before_rounding = [](double x, auto&, auto& with) { return x * with[0] + with[1]; },
     .exact = true,
     // The product rounds: one that does not saturate is below 512, its sum with the zero point, too.
     .bound =
         [](ErrorBound of, auto&, double epsilon) {
           return ErrorBound{kMostScaling * kQuantized * of.off + 2 * epsilon * 512, 255};
         }},
    {.op = EpilogueOp::kQuantizedResidual,
     .name = "residual",
     .types = kQuantizedResiduals,
     .needs_type = true,
     .of_integers = true,
     .operands = {{{"residual", OperandPer::kElement, OperandType::kOfStep},
                   {"residual_scale", OperandPer::kTensor, OperandType::kF32, Draw{kScale, 0, kOfResidual}},
                   {"residual_zero", OperandPer::kTensor, OperandType::kOfStep, kZeroPointDraw}}},
     .value = [](double x, auto&, auto& with) { return x + in_f32((with[0] - with[2]) * with[1]); },
     .exact = true,
     .bound =
         [](ErrorBound of, auto&, double epsilon) {
           const double residual = 255 * kMostScaling * kOfResidual, largest = of.largest + residual;
           return ErrorBound{of.off + epsilon * (residual + largest), largest};
         }},
    {.op = EpilogueOp::kFakeQuant,  // what a quantized tensor between two operators makes of a value
     .name = "fake_quant",
     .numbers = {.least = 2,
                 .most = 2,
                 .whole = true,
                 .example = "(0,255)",
                 .needs = "the least and the greatest whole number of its type, 16 bits at most, as in {}",
                 .are_right =
                     [](const StepNumbers& n) { return n[0] < n[1] && n[0] >= -32768 && n[1] < 65536; }},
     .of_integers = true,
     .operands = {{{"fake_scale", OperandPer::kTensor, OperandType::kF32, Draw{kScale, 0, kQuantized}},
                   {"fake_zero", OperandPer::kTensor, OperandType::kF32, kZeroPointDraw},
                   {"fake_step", OperandPer::kTensor, OperandType::kF32, Draw{kScale, 0, 1 / kQuantized}}}},
     .value =
         [](double x, auto& n, auto& with) {
           const double least = n[0] - with[1];
           if (std::isnan(x)) return least * with[2];
           return std::clamp(std::nearbyint(in_f32(x * with[0])), least, n[1] - with[1]) * with[2];
         },
     .before_rounding =
         [](double x, auto& n, auto& with) {
           return clamped(x * with[0], n[0] - with[1], n[1] - with[1]) * with[2];
         },
     .exact = true,
     // Rounded to whole numbers: half of one, beside the error of the product, which is below 512 where it
     // does not saturate.
     .bound =
         [](ErrorBound of, auto& n, double epsilon) {
           const double step = kMostScaling / kQuantized, largest = (n[1] - n[0] + 255) * step;
           const double whole = kMostScaling * kQuantized * of.off + 0.5 + 2 * epsilon * 512;
           return ErrorBound{whole * step + epsilon * largest, largest};
         }},
};

constexpr const EpilogueRow& row_of(EpilogueOp op) {
  return kEpilogueRows[static_cast<std::size_t>(op)];
}

/// Whether `rows`, which have a member `op`, have one for each step of which `is_asked` is true.
constexpr bool has_rows(const auto& rows, bool (*is_asked)(const EpilogueRow& step)) {
  return std::ranges::all_of(kEpilogueRows, [&](const EpilogueRow& step) {
    return !is_asked(step) || std::ranges::any_of(rows, [&](const auto& row) { return row.op == step.op; });
  });
}

static_assert(std::ranges::all_of(kEpilogueRows, [](const EpilogueRow& row) {
  return &row == &row_of(row.op) &&
         (row.value != nullptr) + row.gate.has_value() + (row.pooled != nullptr) == 1 &&
         (row.bound != nullptr) != row.gate.has_value();
}));

}  // namespace lehr
