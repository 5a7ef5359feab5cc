// Helpers for shape rules: lists of dimensions, axes, and the known elements of short lists of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "network/shape_rules.h"

namespace lehr::rules {

using Shape = std::vector<Dim>;

/// Upper limits: kMostWholes elements of an integer value are kept, and such a list may add kMostDims
/// dimensions at once.
inline constexpr std::size_t kMostWholes = 1024, kMostDims = 64;

/// Returns the axis as a position. A negative axis counts from the end. Returns nullopt if there is no such
/// axis.
std::optional<std::size_t> axis_in(std::int64_t axis, std::size_t rank);

/// Returns for each dimension whether `axes` contains it. Returns nullopt if an axis does not exist or occurs
/// twice.
std::optional<std::vector<bool>> marked(const std::vector<std::int64_t>& axes, std::size_t rank);

/// Returns the product of the dimensions [begin, end). Returns nullopt if a dimension is not known, or the
/// product is too large.
Dim product(const Shape& shape, std::size_t begin, std::size_t end);

/// Returns all elements of an integer value; nullopt if any element is not known.
std::optional<std::vector<std::int64_t>> known(const ValueFacts& facts);

/// Returns a list that is an input in newer opsets and an attribute in older opsets.
std::optional<std::vector<std::int64_t>> list_of(const ShapeSite& site, std::size_t input,
                                                 const char* attribute);

/// Returns the shape to which NumPy broadcasts `a` and `b`; nullopt if they do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// Returns the shape to which all inputs from number `first` on are broadcast.
std::optional<Shape> broadcast_all(const ShapeSite& site, std::size_t first);

/// Return nullopt if the result is too large.
Dim checked_sum(std::int64_t x, std::int64_t y);
Dim checked_product(std::int64_t x, std::int64_t y);

/// The elements that a Slice takes along one axis: `count` positions from `begin` on, `step` apart.
struct Taken {
  std::int64_t begin, step, count;
};
/// Returns the elements that a Slice takes of an axis with `size` elements. Negative `begin` and `end` count
/// from the axis's end. `step` must not be 0.
Taken taken(std::int64_t size, std::int64_t begin, std::int64_t end, std::int64_t step);

/// Returns, for each axis of a value whose elements are kept, its positions in the list of elements: the
/// element at indices i has the position sum(begin + i * step) over all axes. Returns nullopt if the elements
/// are not kept.
std::optional<std::vector<Taken>> kept_axes(const ValueFacts& facts);
/// Returns the kept elements at the positions that these axes give, in row-major order; nullopt if the
/// elements are not kept.
std::optional<Shape> picked(const ValueFacts& facts, const std::vector<Taken>& axes);

}  // namespace lehr::rules
