// Helpers for shape rules: lists of dimensions, axes, and the known elements of short lists of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "network/shape_rules.h"

namespace lehr::rules {

using Shape = std::vector<Dim>;

/// Most elements that are kept of a value of integers, and most dimensions that such a list may add at once.
inline constexpr std::size_t kMostWholes = 1024, kMostDims = 64;

/// Returns the axis as a position, counted from the end if negative; nullopt if there is no such axis.
std::optional<std::size_t> axis_in(std::int64_t axis, std::size_t rank);

/// Marks the named axes; nullopt if one does not exist or is named twice.
std::optional<std::vector<bool>> marked(const std::vector<std::int64_t>& axes, std::size_t rank);

/// Returns the product of the dimensions from `begin` up to `end`; nullopt if one is not known, or it is too
/// large.
Dim product(const Shape& shape, std::size_t begin, std::size_t end);

/// Returns all elements of a value of integers; nullopt if one is not known.
std::optional<std::vector<std::int64_t>> known(const ValueFacts& facts);

/// Returns a list that newer opsets have as an input, and older ones as an attribute.
std::optional<std::vector<std::int64_t>> list_of(const ShapeSite& site, std::size_t input,
                                                 const char* attribute);

/// Broadcasts as NumPy does; nullopt if the shapes do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// Broadcasts all inputs from `first` on.
std::optional<Shape> broadcast_all(const ShapeSite& site, std::size_t first);

/// Return nullopt if the result is too large.
Dim checked_sum(std::int64_t x, std::int64_t y);
Dim checked_product(std::int64_t x, std::int64_t y);

/// Elements of one axis that a Slice takes.
struct Taken {
  std::int64_t begin, step, count;
};
/// Returns the elements taken of `size`. Negative `begin` and `end` count from the end; `step` is not 0.
Taken taken(std::int64_t size, std::int64_t begin, std::int64_t end, std::int64_t step);

/// Returns what each axis takes of a value whose elements are kept: the sum of begin + i step over all axes
/// is the position of an element. Returns nullopt if they are not kept.
std::optional<std::vector<Taken>> kept_axes(const ValueFacts& facts);
/// Returns the kept elements that these axes take, in the order of a value that has them; nullopt if they are
/// not kept.
std::optional<Shape> picked(const ValueFacts& facts, const std::vector<Taken>& axes);

}  // namespace lehr::rules
