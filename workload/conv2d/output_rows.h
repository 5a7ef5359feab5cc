// One output row of a convolution in double precision, for workload/reference.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/conv2d/conv2d.h"
#include "workload/epilogue.h"

namespace lehr {

/// Rows of the sums: one per image, output channel and output line, in this order (whatever the layout).
inline std::int64_t output_rows(const Conv2d& conv) {
  return conv.n * conv.k * conv.out_h();
}

/// `sums` becomes the out_w() outputs of row `row` in [0, output_rows()). `x` and `f` are laid out as
/// `conv.layout` says.
void reference_row(const Conv2d& conv, const float* x, const float* f, std::int64_t row,
                   std::vector<double>& sums);

/// A row of the output, behind the windows of a pool: rows are numbered as those of the sums are.
struct OutputRow {
  std::int64_t image = 0, channel = 0, line = 0;
  std::int64_t first_row = 0, rows = 1;    ///< of the sums: those of the windows that lie in the image
  std::int64_t first_index = 0, step = 1;  ///< flat index of its first element in y; to the next one
};
OutputRow output_row(const Conv2d& conv, const PoolWindows& windows, std::int64_t row);

/// First pixel of window number `number` that lies in an image of so many, and how many of it do.
struct PixelRange {
  std::int64_t first = 0, count = 0;
};
PixelRange pixels_of_window(const PoolWindows& windows, std::int64_t number, std::int64_t pixels);

}  // namespace lehr
