// The operations on the sums of a GEMM or a convolution before they are stored: an ordered list of steps,
// part of the workload.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workload/epilogue_steps.h"

namespace lehr {

/// The windows of a pool, with the same extents along height and width. Pixels after the last window are
/// dropped.
struct PoolWindows {
  std::int64_t window = 1;  ///< extent in pixels: kLeastWindow to kMostWindow, or 1 if there is no pool
  std::int64_t stride = 1;  ///< distance between the beginnings of windows, at most kMostWindow
  /// `before`: number of pixels of the first window that lie before the image. `after`: maximum number of
  /// pixels of the last window that lie after the image. A window ignores such pixels. Both are less than
  /// `window`, so that each window has a pixel; 0 for a mean.
  std::int64_t before = 0, after = 0;

  /// Returns the number of windows over `pixels` pixels; 0 if not even one fits.
  std::int64_t over(std::int64_t pixels) const {
    const std::int64_t free = pixels + before + after - window;
    return free < 0 ? 0 : free / stride + 1;
  }
  /// Returns whether the windows lie side by side in the image, so that no pixel belongs to two windows.
  bool are_apart() const { return stride == window && before == 0 && after == 0; }
  friend bool operator==(const PoolWindows&, const PoolWindows&) = default;
};

/// The steps in the order in which they are applied, each computed in the type of the sums. The channel is
/// the column of the product in a GEMM, the output channel in a convolution.
struct Epilogue {
  std::vector<EpilogueStep> steps;
  bool empty() const { return steps.empty(); }
  friend bool operator==(const Epilogue&, const Epilogue&) = default;
};

/// Returns "none", "bias+relu", "scale_shift+residual+clamp(-1,6)", "relu+maxpool(2)",
/// "dequant+bias+residual(u8)+relu+quant". A pool states its window, and what differs from windows that lie
/// side by side: "maxpool(3,2)" its stride, "maxpool(3,2,1)" also the number of pixels before and after the
/// image, "maxpool(3,2,0,1)" two different numbers of them.
std::string to_text(const Epilogue& epilogue);
/// Parses what to_text() writes, and aliases. Throws Error(kUser), one sentence, in these cases: an unknown
/// step or bad numbers; a second step that needs the same operand, or the same step twice in a row; a step
/// other than quant after a gate or a pool, or a residual before a gate or a pool; a step other than bias
/// before a dequant; a quant, or a residual with a type, without a dequant; any step after a quant.
Epilogue parse_epilogue(std::string_view text);

/// Returns the text of a step with example numbers: "relu", "clamp(-1,6)".
std::string example_of(const EpilogueRow& row);

/// Returns a pool over these windows.
EpilogueStep pool_over(EpilogueOp op, const PoolWindows& windows);

/// Returns the gate or pool that is the last step, or the last one before a quant; nullptr if there is
/// neither.
const EpilogueStep* shrinking_step(const Epilogue& epilogue);
/// Returns whether the epilogue has a gate, which combines two columns to one.
bool is_gated(const Epilogue& epilogue);

/// Returns the windows of the pool at the end of the epilogue (or before a quant at its end). Without a pool,
/// returns windows of one pixel.
PoolWindows windows_of(const Epilogue& epilogue);
/// Returns the extent of the windows that a pool at the end combines to one pixel; 1 without a pool.
inline std::int64_t window_of(const Epilogue& epilogue) {
  return windows_of(epilogue).window;
}

/// The reason why a family does not serve an epilogue with a gate.
inline constexpr const char* kNoGate = "stores every column of the product: it has no gates";

/// Return whether the epilogue converts sums in s32 to f32, and whether it ends with a conversion to u8 or
/// s8.
bool has_dequant(const Epilogue& epilogue);
bool has_quant(const Epilogue& epilogue);

/// Returns the default type of the output, for a first operand of `type`: `type` after a quant, f32 after a
/// dequant, else that of output_for(type).
DType output_for(DType type, const Epilogue& epilogue);

/// An operand of a step, with the number of the step.
struct StepOperand : EpilogueOperand {
  std::size_t step = 0;
};
/// Returns the operands in the order of the steps.
std::vector<StepOperand> operands_of(const Epilogue& epilogue);
/// Returns the type of an operand in a workload whose output has the type `output`.
DType type_of(const StepOperand& operand, const Epilogue& epilogue, DType output);
/// Returns the type in which step number `step` reads its input and computes: f32 after a dequant, else
/// `accum`, the type of the sums.
DType type_at(const Epilogue& epilogue, DType accum, std::size_t step);
/// Returns whether a step reads a tensor of the output's shape.
bool has_residual(const Epilogue& epilogue);

}  // namespace lehr
