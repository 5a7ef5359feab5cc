// Places along a Hilbert curve: neighbours in time are neighbours in the square.
#pragma once

#include <cstdint>
#include <utility>

namespace lehr {

inline std::int64_t bit_xor(std::int64_t a, std::int64_t b) {
  return a ^ b;
}

/// Row and column of place `number` of the curve through a square of `side` x `side`, a power of two. `Value`
/// is an 64-bit integer or an ir::Expr; `name` is given what is used several times, and answers what to use
/// instead. (Hilbert, "Ueber die stetige Abbildung einer Linie auf ein Flaechenstueck", 1891; from the
/// smallest square outwards, each quarter turned as the curve enters and leaves it.)
template <typename Value, typename Name>
std::pair<Value, Value> hilbert_place(std::int64_t side, Value number, const Name& name) {
  Value row = number * 0;
  Value column = row;
  for (std::int64_t s = 1; s < side; s *= 2) {
    const Value right = name(number / 2 % 2);
    const Value lower = name(bit_xor(number % 2, right));
    if (s > 1) {  // the quarters of the upper half are mirrored at a diagonal, the right one upside down
      const Value upper = name(lower * -1 + 1);
      const Value mirrored = name(upper * right * (s - 1));
      const Value a = name(bit_xor(row, mirrored));
      const Value b = name(bit_xor(column, mirrored));
      const Value swapped = name(bit_xor(a, b) * upper);
      row = bit_xor(a, swapped);
      column = bit_xor(b, swapped);
    }
    row = name(row + right * s);
    column = name(column + lower * s);
    if (2 * s < side) number = name(number / 4);
  }
  return {row, column};
}

}  // namespace lehr
