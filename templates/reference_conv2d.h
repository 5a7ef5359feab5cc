// One output row of a convolution in double precision, for templates/reference.
#pragma once

#include <cstdint>
#include <vector>

#include "templates/conv2d.h"

namespace lehr {

/// Rows of the output: one per image, output channel and output line, in this order (whatever the layout).
inline std::int64_t output_rows(const Conv2d& conv) {
  return conv.n * conv.k * conv.out_h();
}

/// `sums` becomes the out_w() outputs of row `row` in [0, output_rows()). `x` and `f` are laid out as
/// `conv.layout` says.
void reference_row(const Conv2d& conv, const float* x, const float* f, std::int64_t row,
                   std::vector<double>& sums);

/// Output channel of that row.
std::int64_t output_channel(const Conv2d& conv, std::int64_t row);

/// Flat index of output `column` of that row in y.
std::int64_t output_index(const Conv2d& conv, std::int64_t row, std::int64_t column);

}  // namespace lehr
