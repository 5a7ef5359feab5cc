// What is done to the sums of a GEMM or a convolution before they are stored: an ordered list of steps, part
// of the workload.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workload/epilogue_steps.h"

namespace lehr {

/// Where the windows of a pool lie, along the height and along the width of an image alike. What behind the
/// last window remains of the image is left out.
struct PoolWindows {
  std::int64_t window = 1;  ///< pixels; kLeastWindow to kMostWindow, or 1 where there is no pool
  std::int64_t stride = 1;  ///< from one window to the next; kMostWindow at most
  /// So many pixels of the first window lie before the image, and of the last one behind it at most: they are
  /// no neighbours of any pixel. Less than `window`, so that each window has a pixel; 0 of a mean.
  std::int64_t before = 0, after = 0;

  /// Windows over so many pixels; 0 where there is no room for one.
  std::int64_t over(std::int64_t pixels) const {
    const std::int64_t free = pixels + before + after - window;
    return free < 0 ? 0 : free / stride + 1;
  }
  /// Whether the windows lie side by side in the image, so that no pixel is in two of them.
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

/// "none", "bias+relu", "scale_shift+residual+clamp(-1,6)", "relu+maxpool(2)",
/// "dequant+bias+residual(u8)+relu+quant". A pool says its window, and
/// what differs from windows side by side: "maxpool(3,2)" with its stride, "maxpool(3,2,1)" with as many
/// pixels before and behind the image, "maxpool(3,2,0,1)" with other numbers of them.
std::string to_text(const Epilogue& epilogue);
/// Inverse of to_text(); aliases are read, too. Throws Error(kUser), one sentence: an unknown step, bad
/// numbers, a second step that needs the same operand, a step twice in a row, anything behind a gate or a
/// pool but a quant, a residual before one, anything but a bias before a dequant, a quant or a residual of a
/// type without one, anything behind a quant.
Epilogue parse_epilogue(std::string_view text);

/// The text of a step with such numbers: "relu", "clamp(-1,6)".
std::string example_of(const EpilogueRow& row);

/// A pool over such windows.
EpilogueStep pool_over(EpilogueOp op, const PoolWindows& windows);

/// The gate or the pool at the end, or before a quant; nullptr where there is none.
const EpilogueStep* shrinking_step(const Epilogue& epilogue);
/// Whether the last step makes one column of two.
bool is_gated(const Epilogue& epilogue);

/// Of the last step, or of that before a quant: windows of one pixel where it is no pool.
PoolWindows windows_of(const Epilogue& epilogue);
/// How many neighbours, vertically and horizontally, the last step makes one of: 1 where it is no pool.
inline std::int64_t window_of(const Epilogue& epilogue) {
  return windows_of(epilogue).window;
}

/// Why a family does not serve a gated epilogue.
inline constexpr const char* kNoGate = "stores every column of the product: it has no gates";

/// Whether sums in s32 become f32 in it, and whether these become an output of u8 or s8 at its end.
bool has_dequant(const Epilogue& epilogue);
bool has_quant(const Epilogue& epilogue);

/// output_for() operands of which the first is of `type`, behind an epilogue: f32 behind a dequant, `type`
/// behind a quant.
DType output_for(DType type, const Epilogue& epilogue);

/// An operand of a step, by the step's number.
struct StepOperand : EpilogueOperand {
  std::size_t step = 0;
};
/// In the order of the steps.
std::vector<StepOperand> operands_of(const Epilogue& epilogue);
/// The type of an operand of a workload with such an output.
DType type_of(const StepOperand& operand, const Epilogue& epilogue, DType output);
/// In which the step of that number computes, and what it is given: f32 behind a dequant, else `accum`, that
/// of the sums.
DType type_at(const Epilogue& epilogue, DType accum, std::size_t step);
/// Whether a step reads a tensor of the output's shape.
bool has_residual(const Epilogue& epilogue);

}  // namespace lehr
