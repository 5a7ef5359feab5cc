// What the tests of the CUDA families share: workloads, the answer in double precision, broken kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/rng.h"
#include "workload/workload.h"

namespace lehr::testing {

/// Layout number 0..7: bit 0 A, bit 1 B, bit 2 C stored by columns.
inline Workload gemm_of(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch, int layouts) {
  const auto layout = [&](int bit) { return (layouts >> bit & 1) != 0 ? Layout::kColumn : Layout::kRow; };
  Workload workload;
  workload.gemm().m = m;
  workload.gemm().n = n;
  workload.gemm().k = k;
  workload.gemm().batch = batch;
  workload.gemm().a.layout = layout(0);
  workload.gemm().b.layout = layout(1);
  workload.gemm().c.layout = layout(2);
  return workload;
}

inline std::vector<float> random_values(std::int64_t count, Rng& rng) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(2 * rng.uniform() - 1));
  return values;
}

inline std::int64_t element(const Operand& operand, std::int64_t rows, std::int64_t columns, std::int64_t row,
                            std::int64_t column) {
  return operand.layout == Layout::kRow ? row * columns + column : column * rows + row;
}

/// C as the workload lays it out.
inline std::vector<double> expected_of(const Gemm& g, const std::vector<float>& a,
                                       const std::vector<float>& b) {
  std::vector<double> c(static_cast<std::size_t>(g.batch * g.m * g.n));
  for (std::int64_t matrix = 0; matrix < g.batch; ++matrix) {
    for (std::int64_t row = 0; row < g.m; ++row) {
      for (std::int64_t column = 0; column < g.n; ++column) {
        double sum = 0;
        for (std::int64_t k = 0; k < g.k; ++k) {
          sum += static_cast<double>(
                     a[static_cast<std::size_t>(matrix * g.m * g.k + element(g.a, g.m, g.k, row, k))]) *
                 b[static_cast<std::size_t>(matrix * g.k * g.n + element(g.b, g.k, g.n, k, column))];
        }
        c[static_cast<std::size_t>(matrix * g.m * g.n + element(g.c, g.m, g.n, row, column))] = sum;
      }
    }
  }
  return c;
}

/// Bound on the rounding of a sum of k products of values in [-1, 1]: k additions, each within 2^-24 of a sum
/// of at most k.
inline double tolerance_of(const Gemm& g) {
  return 1e-7 * static_cast<double>(g.k + 8) * std::sqrt(static_cast<double>(g.k));
}

/// Largest error of the kernel's C; infinity where it is not a number.
inline double worst_error(const std::vector<double>& expected, const std::vector<float>& got) {
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(expected[i] - got[i]);
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst;
}

/// Replaces every `what` in `text`; the answer is how many there were.
inline int replace_all(std::string& text, const std::string& what, const std::string& instead) {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + instead.size())) {
    text.replace(at, what.size(), instead);
    ++count;
  }
  return count;
}

}  // namespace lehr::testing
