// The minimal filtering algorithms F(m x m, 3 x 3) as matrices, and the largest error of their sums.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/conv2d/conv2d.h"

namespace lehr {

/// A minimal filtering algorithm. An m x m tile of outputs needs (m + 2)^2 inputs, and as many products per
/// channel instead of 9 m^2: y = A^T [(G g G^T) . (B^T d B)] A for a filter g and inputs d, where .
/// multiplies element by element (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016,
/// section 4, which has the matrices).
struct Winograd {
  using Matrix = std::vector<std::vector<double>>;
  std::int64_t tile = 2;  ///< m
  Matrix input;           ///< B^T, (m + 2) x (m + 2)
  Matrix filter;          ///< G, (m + 2) x 3
  Matrix output;          ///< A^T, m x (m + 2)

  std::int64_t inputs() const { return tile + 2; }
  std::int64_t products() const { return inputs() * inputs(); }
};

/// Returns F(2x2, 3x3) or F(4x4, 3x3): `tile` is 2 or 4 (CHECKed).
const Winograd& winograd(std::int64_t tile);

/// Returns whether a kernel may compute the convolution by Winograd's algorithm: everything is in f32,
/// filters are 3x3, and there is no stride, dilation or group.
bool winograd_applies(const Conv2d& conv);

/// Returns a bound on the error of each of `count` outputs of F(4x4, 3x3), for inputs from make_inputs() and
/// any order of summation. The error of F(2x2, 3x3) is smaller. Derivation in winograd.cpp.
double winograd_tolerance(const Conv2d& conv, std::int64_t count);

}  // namespace lehr
