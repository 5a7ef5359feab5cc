// The parts of the C++ prelude for vectors of types other than f32: types, loads and stores of some of the
// lanes, casts, and sums of products of neighbours.
#pragma once

#include <string>
#include <vector>

#include "base/dtype.h"

namespace lehr {

/// Returns the name of the snippet with this stem for vectors of this type: "masked16" for f32,
/// "masked_bf16x16" for bf16.
std::string snippet_for(const char* stem, DType type, int lanes);

/// "bf16_from_f32x16": to nearest even, denormal numbers become zeros (vcvtneps2bf16, AVX512_BF16).
///
/// "dot_bf16_bf16x16": lehr_dot_bf16_bf16x16(c, a, b) adds to each lane of c the products of a few neighbours
/// of `a` in memory (the same for all lanes) and the same number of neighbours in the vector b. The types,
/// the number of neighbours, the type of the sums and the instruction are:
/// - bf16 and bf16, 2, f32: vdpbf16ps (AVX512_BF16). It adds the product of the odd elements first, then that
///   of the even elements, both fused. Rounds to nearest even; denormal numbers in operands and results
///   become zero (Intel's Software Developer's Manual, "VDPBF16PS").
/// - f32 and bf16, 2, f32: multiply-adds of f32, to which bf16 is converted by shifts.
/// - u8 and s8, 4, s32: vpdpbusd (AVX512_VNNI).
/// - s16 and s16, 2, s32: vpmaddwd and an addition. The operands are widened 8-bit integers, so it is exact.
///
/// If the compiler may not use the instruction, the text computes the same result, bit for bit. vpdpbusd of
/// 256 bits (AVX-VNNI) and AMX's tiles are not used yet: they would be new rows here and in
/// templates/shared/dot_form.cpp.
///
/// "dots_u8_s8x16": lehr_dots_u8_s8x16(c, a, b) does the same, but a is a vector, too: each lane has its own
/// neighbours of a.
///
/// "quads_u8": lehr_quads_u8(to, from, other, step, first, end, count) puts four lines of 16 elements side by
/// side: (*to)[4 i + e] = from[e step + i] if first <= e < end, else other[i]. Only the first `count`
/// elements of a line are read. s8 becomes u8 by adding 128.
///
/// "groups_s8_u8": lehr_groups_s8_u8(to, from, count, from_step, line_step, lines, to_step) makes `count`
/// groups from elements of the first type. A group has the neighbours that a dot multiplies at once. Element
/// e of group i is from[i from_step + e line_step], or zero if e >= lines. It goes to to[i to_step + e]. s8
/// becomes u8 by adding 128.
std::string narrow_snippet(const std::string& name);
/// Does the same as Dialect::snippets_needed_by. Empty if narrow_snippet() is.
std::vector<std::string> narrow_snippets_needed_by(const std::string& name);

}  // namespace lehr
