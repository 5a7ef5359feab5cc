#include "templates/conv2d/cuda/conv2d_wgmma.h"

#include <fmt/core.h>

#include <cstdint>

#include "templates/family.h"
#include "templates/gemm/cuda/gemm_wgmma.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "templates/shared/conv_view.h"
#include "templates/shared/image_view.h"

namespace lehr {
namespace {

// Largest block tile, and the largest extent along k of all tiles in flight.
constexpr std::int64_t kLargestTile = 512;

using ir::Im2col;

/// Explains why a load of pixels does not support one dimension; nullopt if it does.
std::optional<std::string> why_not_along(std::int64_t stride, std::int64_t before, std::int64_t after,
                                         std::int64_t reach) {
  if (stride > Im2col::kMostStep)
    return fmt::format("the tensor memory accelerator takes strides up to {}, not {}", Im2col::kMostStep,
                       stride);
  if (reach > Im2col::kMostOffset)
    return fmt::format("the last tap of a filter is {} pixels from the first one, not up to {}", reach,
                       Im2col::kMostOffset);
  for (const std::int64_t corner : {-before, after - reach})
    if (corner < Im2col::kLeastCorner || corner > Im2col::kMostCorner)
      return fmt::format(
          "padding of {} and {} and filters of {} pixels make a corner of {}; the tensor memory accelerator "
          "takes those in [{}, {}]",
          before, after, reach + 1, corner, Im2col::kLeastCorner, Im2col::kMostCorner);
  return std::nullopt;
}

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  const Conv2d conv = trimmed_view(workload).conv;
  if (conv.layout != ImageLayout::kNhwc || conv.groups > 1) return "it takes nhwc images without groups";
  if (auto reason = why_not_wgmma_operands(image_product(conv).gemm(), limits)) return reason;
  if (const std::int64_t bytes = conv.c * size_of(conv.input); bytes % 16 != 0)
    return fmt::format(
        "the channels of a pixel have {} bytes, and the tensor memory accelerator needs a multiple of 16",
        bytes);
  if (auto reason =
          why_not_along(conv.stride_h, conv.pad_top, conv.pad_bottom, (conv.r - 1) * conv.dilation_h))
    return reason;
  if (auto reason =
          why_not_along(conv.stride_w, conv.pad_left, conv.pad_right, (conv.s - 1) * conv.dilation_w))
    return reason;
  return why_no_view_indices(conv, kLargestTile);
}

}  // namespace

Template conv2d_wgmma_template() {
  return family<"conv2d_wgmma", gemm_wgmma_knobs, gemm_wgmma_wanted, lower_gemm_wgmma>(
      {.version = 5, .target = Target::kCuda, .why_not = why_not, .op = Operator::kConv2d});
}

}  // namespace lehr
