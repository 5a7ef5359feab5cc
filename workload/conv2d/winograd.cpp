#include "workload/conv2d/winograd.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "workload/tolerance.h"

namespace lehr {

const Winograd& winograd(std::int64_t tile) {
  static const Winograd two = {2,
                               {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
                               {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
                               {{1, 1, 1, 0}, {0, 1, -1, -1}}};
  static const Winograd four = {
      4,
      {{4, 0, -5, 0, 1, 0},
       {0, -4, -4, 1, 1, 0},
       {0, 4, -4, -1, 1, 0},
       {0, -2, -1, 2, 1, 0},
       {0, 2, -1, -2, 1, 0},
       {0, 4, 0, -5, 0, 1}},
      {{1.0 / 4, 0, 0},
       {-1.0 / 6, -1.0 / 6, -1.0 / 6},
       {-1.0 / 6, 1.0 / 6, -1.0 / 6},
       {1.0 / 24, 1.0 / 12, 1.0 / 6},
       {1.0 / 24, -1.0 / 12, 1.0 / 6},
       {0, 0, 1}},
      {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};
  CHECK(tile == 2 || tile == 4, "no F({0}x{0}, 3x3) here", tile);
  return tile == 2 ? two : four;
}

bool winograd_applies(const Conv2d& conv) {
  return conv.r == 3 && conv.s == 3 && conv.stride_h == 1 && conv.stride_w == 1 && conv.dilation_h == 1 &&
         conv.dilation_w == 1 && conv.groups == 1 && conv.input == DType::kF32 &&
         conv.filter == DType::kF32 && conv.output == DType::kF32 && conv.accum == DType::kF32;
}

// One sum over c channels, of terms with variance t, gathers rounding errors of at most rounding_bound(c)
// f32_rounding() sqrt(t) (tolerance.cpp). The term of product (i, j) is a transformed input times a
// transformed filter: t = t_i t_j, where t_i is the squared length of row i of B^T times that of row i of G.
// A^T adds up the sums: given the terms, the variance of the error of output (p, q) is the sum over (i, j) of
// A^T[p][i]^2 A^T[q][j]^2 times that of sum (i, j). The moments of such a mean are largest if all sums vary
// together: as if there were one sum, of terms with variance e_p^2 e_q^2, where e_p^2 = sum over i of
// A^T[p][i]^2 t_i. The largest e_p, of the last row, makes e_p^2 = 94.4, where a direct sum of 9 c products
// has 9. The transforms round, too: rows and columns of a filter add up 3 numbers, those of an input 4, those
// of the sums 6, so that each term has at most 26 roundings.
double winograd_tolerance(const Conv2d& conv, std::int64_t count) {
  const Winograd& four = winograd(4);
  const auto squares = [](const std::vector<double>& row) {
    return std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
  };
  double worst = 0;
  for (const std::vector<double>& row : four.output) {
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
      sum += row[i] * row[i] * squares(four.input[i]) * squares(four.filter[i]);
    worst = std::max(worst, sum);
  }
  const auto c = static_cast<double>(conv.c);
  const double rarity = rarity_of(count);
  return f32_rounding() * worst *
         (rounding_bound(c + 2, rarity) + std::sqrt(26.0) * gathered_bound(c, 1, rarity));
}

}  // namespace lehr
