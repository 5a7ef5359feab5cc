#include "workload/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "base/error.h"
#include "base/rng.h"
#include "base/small_float.h"
#include "workload/operator.h"
#include "workload/conv2d/output_rows.h"
#include "workload/reference_epilogue.h"
#include "workload/tolerance.h"
#include "workload/conv2d/winograd.h"

namespace lehr {
namespace {

struct MatrixView {
  const float* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
  double at(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }
};

MatrixView view(const float* data, Layout layout, std::int64_t rows, std::int64_t columns) {
  return layout == Layout::kRow ? MatrixView{data, columns, 1} : MatrixView{data, 1, rows};
}

// One row of C in double: a rank-1 update per k when B's rows are contiguous, else dot products, so that the
// inner loop always runs over contiguous memory.
void reference_row(const MatrixView& a, const MatrixView& b, std::int64_t n, std::int64_t k, std::int64_t row,
                   std::vector<double>& out) {
  std::fill(out.begin(), out.end(), 0.0);
  if (b.column_stride == 1) {
    for (std::int64_t p = 0; p < k; ++p) {
      const double x = a.at(row, p);
      const float* line = b.data + p * b.row_stride;
      for (std::int64_t j = 0; j < n; ++j) out[static_cast<std::size_t>(j)] += x * line[j];
    }
    return;
  }
  std::vector<double> a_row(static_cast<std::size_t>(k));
  for (std::int64_t p = 0; p < k; ++p) a_row[static_cast<std::size_t>(p)] = a.at(row, p);
  for (std::int64_t j = 0; j < n; ++j) {
    const float* line = b.data + j * b.column_stride;
    double partial[8] = {};  // independent sums: one chain of double additions would be 4x slower
    std::int64_t p = 0;
    for (; p + 8 <= k; p += 8) {
      for (int u = 0; u < 8; ++u) partial[u] += a_row[static_cast<std::size_t>(p + u)] * line[p + u];
    }
    double sum = 0;
    for (; p < k; ++p) sum += a_row[static_cast<std::size_t>(p)] * line[p];
    for (const double part : partial) sum += part;
    out[static_cast<std::size_t>(j)] = sum;
  }
}

// Rows to compare when all would take too long: the first and last of each matrix and evenly spread ones,
// each shifted by a pseudo-random offset so that a fault that hits every 64th row does not slip through the
// grid.
std::vector<std::int64_t> chosen_rows(std::int64_t m, std::int64_t count) {
  std::vector<std::int64_t> rows = {0, m - 1};
  Rng rng(0x5eed);
  const std::int64_t stride = std::max<std::int64_t>(1, m / count);
  for (std::int64_t base = 0; base < m; base += stride) {
    rows.push_back(std::min<std::int64_t>(
        m - 1, base + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(stride)))));
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

/// One output element. `full`: all are kept, each at its index; else those that are computed, one by one.
void keep(Reference& reference, bool full, std::int64_t index, float value) {
  if (full) {
    reference.values[static_cast<std::size_t>(index)] = value;
  } else {
    reference.indices.push_back(index);
    reference.values.push_back(value);
  }
}

// All rows of an output of `m` rows, or as many as `full_flops` pay for.
std::vector<std::int64_t> rows_to_compute(std::int64_t m, double flops, double full_flops) {
  if (flops > full_flops)
    return chosen_rows(m, std::max<std::int64_t>(
                              1, static_cast<std::int64_t>(full_flops / (flops / static_cast<double>(m)))));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(m));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Those of the epilogue come behind the others.
std::span<const std::vector<float>> epilogue_inputs(const Workload& workload,
                                                    const std::vector<std::vector<float>>& inputs) {
  return std::span(inputs).last(operands_of(workload.epilogue).size());
}

/// Sums of which `elements` elements of the output are made.
std::int64_t sums_of(const Epilogue& epilogue, std::int64_t elements) {
  const std::int64_t window = window_of(epilogue);
  return elements * window * window * (is_gated(epilogue) ? 2 : 1);
}

/// Of the result, where `sums` sums of `products` products each are off by `tolerance` and then scaled.
double tolerance_of(const Workload& workload, double tolerance, std::int64_t products, std::int64_t sums,
                    double scale = 1) {
  constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
  const double size = std::abs(scale), largest = largest_of_sums(products, sums);
  if (scale != 1) tolerance = size * (tolerance + kEpsilon * largest);
  return tolerance_behind(workload.epilogue, tolerance, size * largest, kEpsilon);
}

/// How far that many sums of a convolution may be off. Padding only takes products away.
double tolerance_of_sums(const Conv2d& conv, std::int64_t sums) {
  const double direct = tolerance_of_sums(Gemm{.k = conv.products(),
                                               .a = {conv.input, {}},
                                               .b = {conv.filter, {}},
                                               .c = {conv.output, {}},
                                               .accum = conv.accum,
                                               .math = conv.math},
                                          sums);
  return winograd_applies(conv) ? std::max(direct, winograd_tolerance(conv, sums)) : direct;
}

}  // namespace

Reference conv2d_reference(const Workload& workload, const std::vector<std::vector<float>>& inputs,
                           double full_flops) {
  const Conv2d& conv = workload.conv2d();
  const PoolWindows windows = windows_of(workload.epilogue);
  const std::int64_t width = windows.over(conv.out_w());
  const std::int64_t all = conv.n * conv.k * windows.over(conv.out_h());
  const std::vector<std::int64_t> rows = rows_to_compute(all, flops_of(workload), full_flops);
  const bool full = static_cast<std::int64_t>(rows.size()) == all;
  const std::span<const std::vector<float>> operands = epilogue_inputs(workload, inputs);
  Reference reference;
  if (full) reference.values.resize(static_cast<std::size_t>(all * width));
  for (const std::int64_t row : rows) {
    const OutputRow at = output_row(conv, windows, row);
    std::vector<std::vector<double>> lines(static_cast<std::size_t>(at.rows));
    for (std::int64_t i = 0; i < at.rows; ++i)
      reference_row(conv, inputs[0].data(), inputs[1].data(), at.first_row + i,
                    lines[static_cast<std::size_t>(i)]);
    for (std::int64_t column = 0; column < width; ++column) {
      const std::int64_t index = at.first_index + column * at.step;
      const PixelRange range = pixels_of_window(windows, column, conv.out_w());
      std::vector<double> pixels;
      for (const std::vector<double>& line : lines)
        for (std::int64_t i = range.first; i < range.first + range.count; ++i)
          pixels.push_back(reference_value(workload.epilogue, line[static_cast<std::size_t>(i)], operands,
                                           at.channel, index));
      const auto value =
          static_cast<float>(windows.window > 1 ? reference_pooled(workload.epilogue, pixels) : pixels[0]);
      keep(reference, full, index, value);
    }
  }
  return reference;
}

Reference make_reference(const Workload& workload, const std::vector<std::vector<float>>& inputs,
                         double full_flops) {
  CHECK(inputs.size() == tensors_of(workload).size());
  Reference reference = operator_of(workload).reference(workload, inputs, full_flops);
  reference.tolerance = tolerance_for(workload, static_cast<std::int64_t>(reference.values.size()));
  return reference;
}

double tolerance_for(const Workload& workload, std::int64_t elements) {
  return operator_of(workload).tolerance(workload, elements);
}

double gemm_tolerance(const Workload& workload, std::int64_t elements) {
  const Gemm& g = workload.gemm();
  const std::int64_t sums = sums_of(workload.epilogue, elements);
  return tolerance_of(workload, tolerance_of_sums(g, sums), g.k, sums, g.alpha);
}

double conv2d_tolerance(const Workload& workload, std::int64_t elements) {
  const Conv2d& conv = workload.conv2d();
  const std::int64_t sums = sums_of(workload.epilogue, elements);
  return tolerance_of(workload, tolerance_of_sums(conv, sums), conv.products(), sums);
}

Reference gemm_reference(const Workload& workload, const std::vector<std::vector<float>>& inputs,
                         double full_flops) {
  const Gemm& g = workload.gemm();
  const std::span<const std::vector<float>> operands = epilogue_inputs(workload, inputs);
  Reference reference;
  const bool full = flops_of(workload) <= full_flops;
  const std::vector<std::int64_t> rows = rows_to_compute(g.m, flops_of(workload), full_flops);
  const bool row_major = g.c.layout == Layout::kRow;
  const bool gated = is_gated(workload.epilogue);
  const std::int64_t columns = output_columns(workload);
  if (full) reference.values.resize(static_cast<std::size_t>(g.batch * g.m * columns));
  std::vector<double> line(static_cast<std::size_t>(g.n));
  for (std::int64_t batch = 0; batch < g.batch; ++batch) {
    const MatrixView a = view(inputs[0].data() + batch * g.m * g.k, g.a.layout, g.m, g.k);
    const MatrixView b = view(inputs[1].data() + batch * g.k * g.n, g.b.layout, g.k, g.n);
    for (const std::int64_t row : rows) {
      reference_row(a, b, g.n, g.k, row, line);
      const auto value_at = [&](std::int64_t column, std::int64_t index) {
        return reference_value(workload.epilogue, g.alpha * line[static_cast<std::size_t>(column)], operands,
                               column, index);
      };
      for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t index = batch * g.m * columns + (row_major ? row * columns + j : j * g.m + row);
        const auto value = static_cast<float>(
            gated ? reference_gated(workload.epilogue, value_at(2 * j, index), value_at(2 * j + 1, index))
                  : value_at(j, index));
        keep(reference, full, index, value);
      }
    }
  }
  return reference;
}

}  // namespace lehr
