// Which elements of a tensor an instruction of the tensor memory accelerator moves.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "ir/kernel.h"

namespace lehr::emulator {

/// The operands of an instruction: coordinates, innermost first, and with im2col the offset along w and h.
struct BoxPlace {
  std::array<int, ir::TensorMap::kMaxRank> first{};
  std::optional<std::array<int, 2>> offset;
};

/// Returns why the map does not go with the instruction, or the place not with the map; to follow "a TMA load
/// to".
std::optional<std::string> why_no_box(const ir::TensorMap& map, const BoxPlace& place);

/// Returns the flat index of element `number` of the box, in its order in shared memory without swizzle;
/// nullopt outside of the tensor.
std::optional<std::int64_t> element_of_box(const ir::TensorMap& map, const BoxPlace& place,
                                           std::int64_t number);

}  // namespace lehr::emulator
