// Returns the elements that one instruction moves through a tensor map.
#pragma once

#include "ir/kernel.h"

namespace lehr::ir {

inline std::int64_t box_elements(const TensorMap& map) {
  if (map.im2col) return map.box[0] * map.im2col->pixels;
  std::int64_t elements = 1;
  for (int d = 0; d < map.rank; ++d) elements *= map.box[static_cast<std::size_t>(d)];
  return elements;
}

}  // namespace lehr::ir
