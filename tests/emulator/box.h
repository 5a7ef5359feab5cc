// Computes which elements of a tensor an instruction of the tensor memory accelerator moves.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "ir/kernel.h"

namespace lehr::emulator {

/// The operands of an instruction: the coordinates, innermost first, and for im2col the offsets along w and
/// h.
struct BoxPlace {
  std::array<int, ir::TensorMap::kMaxRank> first{};
  std::optional<std::array<int, 2>> offset;
};

/// Returns why the map does not fit the instruction, or why `place` does not fit the map. The text is made to
/// follow "a TMA load to".
std::optional<std::string> why_no_box(const ir::TensorMap& map, const BoxPlace& place);

/// Returns the flat index, in the tensor, of element `number` of the box. Elements are numbered in their
/// order in shared memory without swizzle. Returns nullopt if the element is outside of the tensor.
std::optional<std::int64_t> element_of_box(const ir::TensorMap& map, const BoxPlace& place,
                                           std::int64_t number);

}  // namespace lehr::emulator
