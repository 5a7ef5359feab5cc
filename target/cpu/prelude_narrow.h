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
/// of `a` in memory, the same for all lanes, and as many neighbours of the vector b:
/// - bf16 and bf16, 2, into f32: vdpbf16ps (AVX512_BF16), which adds the product of odd number first, fused,
///   then the even one; to nearest even, denormal numbers in and out count as zero (Intel's Software
///   Developer's Manual, "VDPBF16PS");
/// - f32 and bf16, 2, into f32: multiply-adds of f32, by shifts;
/// - u8 and s8, 4, into s32: vpdpbusd (AVX512_VNNI);
/// - s16 and s16, 2, into s32: vpmaddwd and a sum; 8-bit integers that were widened, so it is exact.
/// If the compiler may not use the instruction, the text computes the same, bit for bit. AVX-VNNI's vpdpbusd
/// of 256 bits and AMX's tiles are not used yet: they would be new rows here and in
/// templates/shared/dot_form.cpp.
///
/// "dots_u8_s8x16": lehr_dots_u8_s8x16(c, a, b) does the same for two vectors: a is not repeated.
///
/// "quads_u8": lehr_quads_u8(to, from, other, step, first, end, count) puts four lines of 16 elements side by
/// side: (*to)[4 i + e] = from[e step + i], or other[i] unless first <= e < end; the first `count` are read.
/// s8 becomes u8 with 128 added.
///
/// "groups_s8_u8": lehr_groups_s8_u8(to, from, count, from_step, line_step, lines, to_step) makes `count`
/// groups of the neighbours that a dot multiplies at once, from elements of the first type. Element e of
/// group i is from[i from_step + e line_step], or zero from e = `lines` on. It goes to to[i to_step + e]. s8
/// becomes u8 with 128 added.
std::string narrow_snippet(const std::string& name);
/// Does the same as Dialect::snippets_needed_by. Empty if narrow_snippet() is.
std::vector<std::string> narrow_snippets_needed_by(const std::string& name);

}  // namespace lehr
