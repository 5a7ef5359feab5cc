// One output row of a convolution in double precision, for workload/reference.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/conv2d.h"

namespace lehr {

/// Rows of the sums: one per image, output channel and output line, in this order (whatever the layout).
inline std::int64_t output_rows(const Conv2d& conv) {
  return conv.n * conv.k * conv.out_h();
}

/// `sums` becomes the out_w() outputs of row `row` in [0, output_rows()). `x` and `f` are laid out as
/// `conv.layout` says.
void reference_row(const Conv2d& conv, const float* x, const float* f, std::int64_t row,
                   std::vector<double>& sums);

/// A row of the output, which windows of `window` x `window` outputs shrink: rows are numbered as those of
/// the sums are.
struct OutputRow {
  std::int64_t image = 0, channel = 0, line = 0;
  std::int64_t first_row = 0;              ///< of the sums: `window` of them are this row's
  std::int64_t first_index = 0, step = 1;  ///< flat index of its first element in y; to the next one
};
OutputRow output_row(const Conv2d& conv, std::int64_t window, std::int64_t row);

}  // namespace lehr
