// The part of the device-intrinsics header that rearranges f32 elements on the CPU: transpositions, and the
// separation of pairs.
#pragma once

#include <string>
#include <vector>

namespace lehr {

/// Returns the C++ text of snippet `name`; "" for an unknown name. L is the number of lanes, 4, 8 or 16.
///
/// lehr_transpose_L(to, from, to_stride, from_stride, rows, columns): for i < L and j < min(columns, L) sets
/// to[j to_stride + i] to from[i from_stride + j]. Rows i >= `rows` are not read, and count as zero.
///
/// lehr_split_pairs_L(even, odd, from, count): even[i] = from[2 i] and odd[i] = from[2 i + 1]. Only the first
/// min(count, 2 L) elements of `from` are read, and only their targets are written.
///
/// A count, or a number of rows or columns, below 0 counts as 0.
std::string shuffle_snippet(const std::string& name);
/// Returns the snippets that `name` calls; each sorts before it or is a vector type.
std::vector<std::string> shuffle_snippets_needed_by(const std::string& name);

}  // namespace lehr
