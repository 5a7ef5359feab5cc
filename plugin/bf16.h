// What operators between places compute of bf16, whose numbers are told by their bits.
#pragma once

#include <cstdint>

#include "plugin/windows.h"

namespace lehr::onnxruntime {

/// Windows over a plane, and how many there are down and along.
struct PlaneWindows {
  Window down, along;
  std::int64_t height = 1, width = 1;          ///< of the plane
  std::int64_t out_height = 1, out_width = 1;  ///< one number for each window
  bool counts_pads = false;                    ///< what a window has of the pads are zeros of its mean

  /// Bytes of memory that maxima_of_plane() needs; -1: too many.
  std::int64_t scratch_bytes() const;
};

/// The largest number of each window, where a NaN is the largest; -inf where no number is in it.
void maxima_of_plane(const PlaneWindows& windows, const std::uint16_t* from, std::uint16_t* to,
                     void* scratch);
/// The mean of each window: a sum of f32, rounded once, half to even.
void means_of_plane(const PlaneWindows& windows, const std::uint16_t* from, std::uint16_t* to);
/// The mean of `count` numbers, the same way.
std::uint16_t mean_of(const std::uint16_t* from, std::int64_t count);
/// Sums, rounded half to even. A step is 1, or 0 where one number goes with all of the other's.
void add_rows(const std::uint16_t* a, std::int64_t a_step, const std::uint16_t* b, std::int64_t b_step,
              std::uint16_t* to, std::int64_t count);
/// max(0, x); a NaN stays.
void relu_row(const std::uint16_t* from, std::uint16_t* to, std::int64_t count);

}  // namespace lehr::onnxruntime
