// The computations of operators between matches in bf16. Numbers are given by their bits.
#pragma once

#include <cstdint>

#include "plugin/windows.h"

namespace lehr::onnxruntime {

/// Windows over a plane, and their numbers down and along.
struct PlaneWindows {
  Window down, along;
  std::int64_t height = 1, width = 1;          ///< of the plane
  std::int64_t out_height = 1, out_width = 1;  ///< one number per window
  bool counts_pads = false;                    ///< whether a window's pads count as zeros in its mean

  /// Returns the bytes of memory that maxima_of_plane() needs; -1: too many.
  std::int64_t scratch_bytes() const;
};

/// Computes the largest number of each window. A NaN counts as the largest. -inf if no number is in the
/// window.
void maxima_of_plane(const PlaneWindows& windows, const std::uint16_t* from, std::uint16_t* to,
                     void* scratch);
/// Computes the mean of each window: a sum in f32, rounded once, half to even.
void means_of_plane(const PlaneWindows& windows, const std::uint16_t* from, std::uint16_t* to);
/// Returns the mean of `count` numbers in the same way.
std::uint16_t mean_of(const std::uint16_t* from, std::int64_t count);
/// Adds numbers, rounded half to even. A step is 1, or 0 if one number is added to all of the other's.
void add_rows(const std::uint16_t* a, std::int64_t a_step, const std::uint16_t* b, std::int64_t b_step,
              std::uint16_t* to, std::int64_t count);
/// Computes max(0, x); a NaN stays NaN.
void relu_row(const std::uint16_t* from, std::uint16_t* to, std::int64_t count);

}  // namespace lehr::onnxruntime
