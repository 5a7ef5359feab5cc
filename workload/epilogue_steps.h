// The steps of an epilogue, each described by one row, from which its text, parser, operands, reference and
// tolerance are derived. The rows of templates/shared/epilogue_expr.cpp describe the steps in kernels.
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

/// The numbers in parentheses after a step's name; unused elements are 0.
using StepNumbers = std::array<float, 4>;

struct EpilogueStep {
  EpilogueOp op = EpilogueOp::kRelu;
  StepNumbers numbers = {};
  std::optional<DType> type = std::nullopt;  ///< type of the step's operand, if the text states it
  friend bool operator==(const EpilogueStep&, const EpilogueStep&) = default;
};

/// Rule for the numbers of a step.
struct NumberRule {
  /// Minimum and maximum number of numbers in a text. Numbers omitted at the end have the values of usual().
  std::size_t least = 0, most = 0;
  bool whole = false;
  /// Numbers such as "(-1,6)" that are valid for each step with this rule.
  std::string_view example = {};
  /// Needs of the step, as part of a sentence; {} stands for an example of the step.
  std::string_view needs = {};
  bool (*are_right)(const StepNumbers& numbers) = nullptr;
  float (*usual)(const StepNumbers& numbers, std::size_t i) = nullptr;
  /// Further checks. Throws Error(kUser), one sentence about `text`.
  void (*check)(const EpilogueStep& step, std::string_view text) = nullptr;
};

/// The number of elements that an operand has: one per channel, one per element of the output, or one in all.
enum class OperandPer { kChannel, kElement, kTensor };

enum class OperandType {
  /// The type of the output. In an epilogue with a dequant, the type in which the step computes: s32 before
  /// the dequant, f32 after it.
  kUsual,
  kF32,
  kOutput,
  kOfStep  ///< EpilogueStep::type; if the text states no type, as kUsual
};

/// A tensor that a step reads.
struct EpilogueOperand {
  std::string_view name = {};  ///< "bias", "scale", "shift", "residual"
  OperandPer per = OperandPer::kChannel;
  OperandType type = OperandType::kUsual;
  /// How a check draws the operand, if not as usual. If the step computes in s32, the draw is in units of the
  /// sums' deviation; a scale is per such unit.
  std::optional<Draw> draw = std::nullopt;
};

/// The elements of a step's operands that are combined with one value.
using StepOperands = std::array<double, 3>;

/// Bounds for values: `off` for their errors, `largest` for their sizes.
struct ErrorBound {
  double off = 0, largest = 0;
};

/// A row of the table. A step has a value(), or combines two columns to one (`gate`), or the pixels of a
/// window to one (`pooled`).
struct EpilogueRow {
  EpilogueOp op{};
  std::string_view name;
  /// Name of the step in another program, which is accepted too.
  std::string_view alias = {};
  NumberRule numbers = {};
  /// Types that may be stated in the parentheses (EpilogueStep::type). Rows with the same name differ in
  /// these types. Only for the first of these rows the type may be omitted.
  std::span<const DType> types = {};
  bool needs_type = false;
  bool of_integers = false;  ///< whether it is a dequant, or a step that needs a dequant before it
  std::array<EpilogueOperand, 3> operands = {};
  double (*value)(double x, const StepNumbers& numbers, const StepOperands& operands) = nullptr;
  /// For a step that rounds to integers: the value before rounding, for arguments that are not exact.
  double (*before_rounding)(double x, const StepNumbers& numbers, const StepOperands& operands) = nullptr;
  /// For pairs of columns of a GEMM, the gate's column followed by the value's: output column j is this step
  /// applied to x[2 j], times x[2 j + 1]. The GEMM is two products in one kernel; its B holds their columns
  /// alternately.
  std::optional<EpilogueOp> gate = std::nullopt;
  /// For a convolution: combines window x window neighbours to one value (PoolWindows).
  double (*pooled)(std::span<const double> window) = nullptr;
  /// Whether the result is the same on every machine when it is computed in f32 with each operation rounded
  /// separately.
  bool exact = false;
  /// Returns the bound of the step's result for input values with the bound `of`, in arithmetic with this
  /// `epsilon`, and with operands from make_inputs(). For a gate, the bound follows from those of the two
  /// factors.
  ErrorBound (*bound)(ErrorBound of, const StepNumbers& numbers, double epsilon) = nullptr;

  constexpr std::size_t operand_count() const {
    std::size_t count = 0;
    while (count < operands.size() && !operands[count].name.empty()) ++count;
    return count;
  }
  /// Returns whether the step's output is smaller than its input. Only a quant may follow such a step.
  constexpr bool shrinks() const { return gate.has_value() || pooled != nullptr; }
};

inline constexpr std::int64_t kLeastWindow = 2, kMostWindow = 16;

/// Checks the rest of a pool's rule: strides, and pixels outside of the image.
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

/// Clamps a value; NaN stays NaN.
inline double clamped(double x, double low, double high) {
  return std::isnan(x) ? x : std::clamp(x, low, high);
}

/// Maximum error of the functions in units in the last place, of the argument or the result
/// (target/cpu/prelude_math.h).
inline constexpr double kUnits = 6;

/// Returns the bound of a step that does not increase errors.
inline ErrorBound bound_stays(ErrorBound of, const StepNumbers&, double) {
  return of;
}
inline ErrorBound times(ErrorBound of, double factor) {
  return {of.off * factor, of.largest * factor};
}
/// Returns the bound of a sum with an operand.
inline ErrorBound bound_of_sum(ErrorBound of, const StepNumbers&, double epsilon) {
  const double largest = of.largest + kLargestInput;
  return {of.off + epsilon * largest, largest};
}
/// Returns the bound of SiLU or GELU, whose slopes are never larger than 1.0998 and 1.1290.
inline ErrorBound bound_of_smooth(ErrorBound of, const StepNumbers&, double epsilon) {
  return {1.13 * of.off + kUnits * epsilon * of.largest, of.largest};
}
/// Returns the bound of a function that saturates at 1 and has no slope above 1.
inline ErrorBound bound_of_saturating(ErrorBound of, const StepNumbers&, double epsilon) {
  return {of.off + kUnits * epsilon, 1};
}

/// Deviations that a check gives to values computed from sums of integers. In f32 they are about those of
/// other steps' values. As quantized integers they sometimes reach both ends of u8 and s8. Residuals are
/// about as large as 1.
inline constexpr double kDequantized = 2, kQuantized = 24, kOfResidual = 0.02;
inline constexpr Draw::Kind kScale = Draw::Kind::kScale;
inline constexpr Draw kZeroPointDraw = {.kind = Draw::Kind::kZeroPoint};

/// Types that a residual after a dequant may have in addition to f32.
inline constexpr DType kFloatResiduals[] = {DType::kBF16}, kQuantizedResiduals[] = {DType::kU8, DType::kS8};

/// Returns `x` rounded to f32. A step that rounds more than once does so with this function. In f32 the
/// result is then the same bit for bit, since a sum or a product of two f32 that is rounded to f64 and then
/// to f32 is rounded once (Figueroa, "When is double rounding innocuous?", SIGNUM 1995).
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
     .alias = "gelu",  // the meaning in PyTorch and ONNX
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
    {.op = EpilogueOp::kAvgPool,  // for windows that lie in the image
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
     // The slope of the step is at most 3/2.
     .bound = [](ErrorBound of, auto&,
                 double epsilon) { return ErrorBound{1.5 * of.off + 3 * epsilon * of.largest, of.largest}; }},
    {.op = EpilogueOp::kDequant,  // converts sums in s32 to f32
     .name = "dequant",
     .of_integers = true,
     .operands = {{{"dequant_scale", OperandPer::kChannel, OperandType::kF32,
                    Draw{kScale, 0, kDequantized}}}},
     .value = [](double x, auto&, auto& with) { return in_f32(x) * with[0]; },
     .exact = true,
     .bound = [](ErrorBound of, auto&, double) { return times(of, kMostScaling * kDequantized); }},
    {.op = EpilogueOp::kQuant,  // converts to an output of u8 or s8, rounds half to even and saturates
     .name = "quant",
     .of_integers = true,
     .operands = {{{"quant_scale", OperandPer::kTensor, OperandType::kF32, Draw{kScale, 0, kQuantized}},
                   {"quant_zero", OperandPer::kTensor, OperandType::kOutput, kZeroPointDraw}}},
     .value = [](double x, auto&, auto& with) { return std::nearbyint(in_f32(x * with[0])) + with[1]; },
     .before_rounding = [](double x, auto&, auto& with) { return x * with[0] + with[1]; },
     .exact = true,
     // The product rounds. If it does not saturate it is below 512, and so is its sum with the zero point.
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
    // Applies to a value the effect of a quantized tensor between two operators.
    {.op = EpilogueOp::kFakeQuant,
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
     // Rounding to whole numbers adds an error of 1/2 to that of the product, which is below 512 if it does
     // not saturate.
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

/// Returns whether `rows` (whose elements have a member `op`) has one row for each step for which `is_asked`
/// is true.
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
