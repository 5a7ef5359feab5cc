// PTX ISA 9.0, "Tensors: tiled mode" and "Tensors: im2col mode" (bounding box, traversal stride, out of
// boundary access).
#include "box.h"

#include <fmt/core.h>

namespace lehr::emulator {
namespace {

constexpr int kMostOffset = 255;  // maximum offset for a tensor of four dimensions

/// Returns the last coordinate of the bounding box along w (0) or h (1).
std::int64_t high_of(const ir::TensorMap& map, std::size_t d) {
  return map.dims[d + 1] - 1 + map.im2col->upper[d];
}

/// Moves `at` by `number` steps through the bounding box: first along w, then along h, then along the images.
void walk(const ir::TensorMap& map, std::array<std::int64_t, 4>& at, std::int64_t number) {
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t step = map.im2col->step[d], low = map.im2col->lower[d], high = high_of(map, d);
    const std::int64_t left = (high - at[d + 1]) / step;  // steps left in this line
    if (number <= left) {
      at[d + 1] += number * step;
      return;
    }
    const std::int64_t of_line = (high - low) / step + 1;
    at[d + 1] = low + (number - left - 1) % of_line * step;
    number = 1 + (number - left - 1) / of_line;
  }
  at[3] += number;
}

}  // namespace

std::optional<std::string> why_no_box(const ir::TensorMap& map, const BoxPlace& place) {
  if (map.im2col.has_value() != place.offset.has_value())
    return fmt::format("with {} tensor map", map.im2col ? "an im2col" : "a tiled");
  if (!map.im2col) return std::nullopt;
  for (std::size_t d = 0; d < 2; ++d) {
    const int offset = (*place.offset)[d], first = place.first[d + 1];
    if (offset < 0 || offset > kMostOffset) return fmt::format("at an offset of {}", offset);
    const std::int64_t low = map.im2col->lower[d], high = high_of(map, d);
    if (first < low || first > high)
      return fmt::format("from {}, outside of the bounding box from {} to {}", first, low, high);
  }
  return std::nullopt;
}

std::optional<std::int64_t> element_of_box(const ir::TensorMap& map, const BoxPlace& place,
                                           std::int64_t number) {
  std::array<std::int64_t, ir::TensorMap::kMaxRank> at{};
  for (std::size_t d = 0; d < at.size(); ++d) at[d] = place.first[d];
  if (map.im2col) {
    walk(map, at, number / map.box[0]);
    at[0] += number % map.box[0];
    at[1] += (*place.offset)[0];
    at[2] += (*place.offset)[1];
  } else {
    for (std::size_t d = 0; d < static_cast<std::size_t>(map.rank); ++d) {
      at[d] += number % map.box[d];
      number /= map.box[d];
    }
  }
  std::int64_t element = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(map.rank); ++d) {
    if (at[d] < 0 || at[d] >= map.dims[d]) return std::nullopt;
    element += at[d] * map.strides[d];
  }
  return element;
}

}  // namespace lehr::emulator
