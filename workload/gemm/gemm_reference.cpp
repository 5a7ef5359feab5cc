#include "workload/gemm/gemm_reference.h"

#include <algorithm>

#include "workload/reference_epilogue.h"
#include "workload/tolerance.h"

namespace lehr {
namespace {

struct MatrixView {
  const float* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
  double zero = 0;  ///< zero point, which is subtracted from each element
  double at(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * column_stride] - zero;
  }
};

MatrixView view(const float* data, Layout layout, std::int64_t rows, std::int64_t columns) {
  return layout == Layout::kRow ? MatrixView{data, columns, 1} : MatrixView{data, 1, rows};
}

// Computes one row of C in double precision. If B's rows are contiguous, it makes a rank-1 update per k,
// otherwise dot products, so that the inner loop always runs over contiguous memory.
void product_row(const MatrixView& a, const MatrixView& b, std::int64_t n, std::int64_t k, std::int64_t row,
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

}  // namespace

OutputLines reference_lines(const Gemm& g, const Epilogue&) {
  return {.matrices = g.batch, .rows = rows_of(g)};
}

void reference_line(const Gemm& g, const Epilogue& epilogue, std::span<const std::vector<float>> inputs,
                    std::int64_t matrix, std::int64_t row, std::span<OutputLine> outputs) {
  OutputLine& line = outputs[0];
  const std::int64_t rows = rows_of(g);
  MatrixView a = view(inputs[0].data() + matrix * rows * g.k, g.a.layout, rows, g.k);
  const MatrixView b = view(inputs[1].data() + matrix * g.k * g.n, g.b.layout, g.k, g.n);
  if (g.zero == ZeroPoint::kInput) a.zero = inputs[kZeroInput][0];
  std::vector<double> sums(static_cast<std::size_t>(g.n));
  product_row(a, b, g.n, g.k, row, sums);
  const std::int64_t columns = output_columns(g, epilogue);
  const bool row_major = g.c.layout == Layout::kRow;
  line.first = matrix * rows * columns + (row_major ? row * columns : row);
  line.step = row_major ? 1 : rows;
  const std::span<const std::vector<float>> operands = epilogue_inputs(epilogue, inputs);
  const bool gated = is_gated(epilogue);
  line.values.clear();
  for (std::int64_t j = 0; j < columns; ++j) {
    const auto value = [&](std::int64_t column) {
      return reference_value(epilogue, g.alpha * sums[static_cast<std::size_t>(column)], operands, column,
                             line.first + j * line.step);
    };
    line.values.push_back(reference_stored(
        g.c.type, gated ? reference_gated(epilogue, value(2 * j), value(2 * j + 1)) : value(j)));
  }
}

// Computes the definition a second time. It shares only the epilogue with the code for whole rows.
float reference_element(const Gemm& g, const Epilogue& epilogue, std::span<const MadeInput> inputs,
                        std::size_t, std::int64_t index) {
  const std::int64_t rows = rows_of(g), columns = output_columns(g, epilogue);
  const std::int64_t batch = index / (rows * columns), within = index % (rows * columns);
  const bool by_rows = g.c.layout == Layout::kRow;
  const std::int64_t row = by_rows ? within / columns : within % rows;
  const std::int64_t column = by_rows ? within % columns : within / rows;
  const bool a_by_rows = g.a.layout == Layout::kRow, b_by_rows = g.b.layout == Layout::kRow;
  InputLine a = {inputs[0], batch * rows * g.k + row * (a_by_rows ? g.k : 1), a_by_rows ? 1 : rows};
  if (g.zero == ZeroPoint::kInput) a.zero = inputs[kZeroInput][0];
  const auto value = [&](std::int64_t of_product) {
    const InputLine b = {inputs[1], batch * g.k * g.n + of_product * (b_by_rows ? 1 : g.k),
                         b_by_rows ? g.n : 1};
    return reference_value(epilogue, g.alpha * dot(a, b, g.k), epilogue_inputs(epilogue, inputs), of_product,
                           index);
  };
  return reference_stored(g.c.type, is_gated(epilogue)
                                        ? reference_gated(epilogue, value(2 * column), value(2 * column + 1))
                                        : value(column));
}

double reference_tolerance(const Gemm& g, const Epilogue& epilogue, std::int64_t elements) {
  const std::int64_t sums = sums_of(epilogue, elements);
  if (g.accum == DType::kS32) return tolerance_behind_integers(epilogue, product_sums(g), sums);
  const double tolerance = tolerance_of_sums(product_sums(g), sums);
  return tolerance_behind_sums(epilogue, tolerance, g.k, sums, g.alpha);
}

}  // namespace lehr
