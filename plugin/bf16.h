// The computations of the operators between matches in bf16. A number in bf16 is passed as its 16 bits.
#pragma once

#include <cstdint>

#include "plugin/windows.h"

namespace lehr::onnxruntime {

/// The windows of a pool over a plane, in the vertical (`down`) and horizontal (`along`) direction.
struct PlaneWindows {
  Window down, along;
  std::int64_t height = 1, width = 1;          ///< size of the plane
  std::int64_t out_height = 1, out_width = 1;  ///< size of the output, which has one number per window
  bool counts_pads = false;                    ///< whether padding counts as zeros in a window's mean

  /// Returns the bytes of scratch memory that maxima_of_plane() needs; -1 if there are too many.
  std::int64_t scratch_bytes() const;
};

/// Computes the largest number of each window. A NaN counts as larger than all numbers. A window without
/// numbers gives -inf.
void maxima_of_plane(const PlaneWindows& windows, const std::uint16_t* from, std::uint16_t* to,
                     void* scratch);
/// Computes the mean of each window. It sums in f32, and rounds the mean once, half to even.
void means_of_plane(const PlaneWindows& windows, const std::uint16_t* from, std::uint16_t* to);
/// Returns the mean of `count` numbers, summed and rounded as in means_of_plane().
std::uint16_t mean_of(const std::uint16_t* from, std::int64_t count);
/// Adds `count` pairs of numbers, and rounds the sums half to even. `a_step` and `b_step` are 1, or 0 if the
/// operand is a single number that is added to all numbers of the other.
void add_rows(const std::uint16_t* a, std::int64_t a_step, const std::uint16_t* b, std::int64_t b_step,
              std::uint16_t* to, std::int64_t count);
/// Computes max(0, x); a NaN stays NaN.
void relu_row(const std::uint16_t* from, std::uint16_t* to, std::int64_t count);

}  // namespace lehr::onnxruntime
