// What rules for shapes are written with: lists of dimensions, axes, and what is known of short lists of
// numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "network/shape_rules.h"

namespace lehr::rules {

using Shape = std::vector<Dim>;

/// Elements that are kept of a value of whole numbers, and dimensions that a list of them may add at once.
inline constexpr std::size_t kMostWholes = 1024, kMostDims = 64;

/// An axis counted from the end where it is negative; nullopt where there is none such.
std::optional<std::size_t> axis_in(std::int64_t axis, std::size_t rank);

/// Which of so many axes are named; nullopt where one is not there, or is named twice.
std::optional<std::vector<bool>> marked(const std::vector<std::int64_t>& axes, std::size_t rank);

/// Of the dimensions from `begin` up to `end`; nullopt where one is not known, or where it is too large.
Dim product(const Shape& shape, std::size_t begin, std::size_t end);

/// All elements of a value of whole numbers; nullopt where one is not known.
std::optional<std::vector<std::int64_t>> known(const ValueFacts& facts);

/// What newer opsets have as an input, and older ones as an attribute.
std::optional<std::vector<std::int64_t>> list_of(const ShapeSite& site, std::size_t input,
                                                 const char* attribute);

/// As NumPy does it; nullopt where the shapes do not go together.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// Of all inputs from `first` on.
std::optional<Shape> broadcast_all(const ShapeSite& site, std::size_t first);

/// nullopt where they are too large.
Dim checked_sum(std::int64_t x, std::int64_t y);
Dim checked_product(std::int64_t x, std::int64_t y);

/// Elements of one axis that a Slice takes.
struct Taken {
  std::int64_t begin, step, count;
};
/// Of `size` of them; `begin` and `end` count from the end where they are negative, `step` is not 0.
Taken taken(std::int64_t size, std::int64_t begin, std::int64_t end, std::int64_t step);

/// Of a value of any shape whose elements are kept, what each axis takes of them: the sum of all axes' begin
/// + i step is the place of an element. nullopt where they are not kept.
std::optional<std::vector<Taken>> kept_axes(const ValueFacts& facts);
/// The kept elements that these axes take, in the order of a value that has them; nullopt where there are
/// none such.
std::optional<Shape> picked(const ValueFacts& facts, const std::vector<Taken>& axes);

}  // namespace lehr::rules
