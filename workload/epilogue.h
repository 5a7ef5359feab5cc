// The operations on the sums of a GEMM or a convolution before they are stored: an ordered list of steps,
// part of the workload.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workload/epilogue_steps.h"

namespace lehr {

/// The windows of a pool, alike along the height and the width of an image. Pixels behind the last window are
/// dropped.
struct PoolWindows {
  std::int64_t window = 1;  ///< pixels; kLeastWindow to kMostWindow, or 1 if there is no pool
  std::int64_t stride = 1;  ///< from one window to the next; kMostWindow at most
  /// Pixels of the first window that lie before the image, and most pixels of the last window that lie behind
  /// it. A window leaves them out. Less than `window`, so that each window has a pixel; 0 for a mean.
  std::int64_t before = 0, after = 0;

  /// Returns the number of windows over `pixels` pixels; 0 if not even one fits.
  std::int64_t over(std::int64_t pixels) const {
    const std::int64_t free = pixels + before + after - window;
    return free < 0 ? 0 : free / stride + 1;
  }
  /// Returns whether the windows lie side by side in the image, so that no pixel is in two of them.
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
/// "dequant+bias+residual(u8)+relu+quant". A pool states its window, and its differences from windows side by
/// side: "maxpool(3,2)" with its stride, "maxpool(3,2,1)" with as many pixels before and behind the image,
/// "maxpool(3,2,0,1)" with different numbers of them.
std::string to_text(const Epilogue& epilogue);
/// Parses what to_text() writes, and aliases. Throws Error(kUser), one sentence, for an unknown step, bad
/// numbers, a second step that needs the same operand, a step twice in a row, anything behind a gate or a
/// pool but a quant, a residual before one, anything but a bias before a dequant, a quant or a residual of a
/// type without a dequant, anything behind a quant.
Epilogue parse_epilogue(std::string_view text);

/// Returns the text of a step with example numbers: "relu", "clamp(-1,6)".
std::string example_of(const EpilogueRow& row);

/// Returns a pool over these windows.
EpilogueStep pool_over(EpilogueOp op, const PoolWindows& windows);

/// Returns the gate or the pool at the end or before a quant, else nullptr.
const EpilogueStep* shrinking_step(const Epilogue& epilogue);
/// Returns whether the last step makes one column out of two.
bool is_gated(const Epilogue& epilogue);

/// Returns the windows of the last step, or of the one before a quant; windows of one pixel if it is not a
/// pool.
PoolWindows windows_of(const Epilogue& epilogue);
/// Returns how many neighbours, vertically and horizontally, the last step combines: 1 if it is not a pool.
inline std::int64_t window_of(const Epilogue& epilogue) {
  return windows_of(epilogue).window;
}

/// Why a family does not serve a gated epilogue.
inline constexpr const char* kNoGate = "stores every column of the product: it has no gates";

/// Returns whether it converts sums in s32 to f32, and whether it converts to an output of u8 or s8 at its
/// end.
bool has_dequant(const Epilogue& epilogue);
bool has_quant(const Epilogue& epilogue);

/// Returns the output type of output_for() after an epilogue, for a first operand of `type`: f32 after a
/// dequant, `type` after a quant.
DType output_for(DType type, const Epilogue& epilogue);

/// An operand of a step, by the step's number.
struct StepOperand : EpilogueOperand {
  std::size_t step = 0;
};
/// Returns the operands in the order of the steps.
std::vector<StepOperand> operands_of(const Epilogue& epilogue);
/// Returns the type of an operand of a workload with this type of output.
DType type_of(const StepOperand& operand, const Epilogue& epilogue, DType output);
/// Returns the type in which the step of that number computes, and of its input: f32 behind a dequant, else
/// `accum`, the type of the sums.
DType type_at(const Epilogue& epilogue, DType accum, std::size_t step);
/// Returns whether a step reads a tensor of the output's shape.
bool has_residual(const Epilogue& epilogue);

}  // namespace lehr
