#include "workload/draw.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/hash.h"
#include "base/small_float.h"

namespace lehr {

Draw usual_draw(DType type) {
  if (type == DType::kU8) return {.mean = 128, .deviation = 50};
  return {.deviation = is_integer(type) ? 25.0 : 1.0};
}

std::int64_t zero_point(DType type, std::int64_t number) {
  constexpr std::int64_t kOfU8[kZeroPoints] = {128, 0, 117, 255, 131, 1, 96, 254};
  CHECK(type == DType::kU8 || type == DType::kS8 || type == DType::kF32, "a zero point of {}", name_of(type));
  return kOfU8[number] - (type == DType::kS8 ? 128 : 0);
}

float drawn_in_row(DType type, float usual, std::uint64_t seed, std::int64_t row, std::int64_t index) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                  kLeast = -std::numeric_limits<float>::infinity();
  const std::int64_t number = index / row, column = index % row;
  // One column of a row is special: the last, the first, or one between them.
  const auto at = [&](std::int64_t places) {
    return column == (number / 16 % 3 == 0 ? row - 1 : number / 16 % 3 == 1 ? 0 : row / places);
  };
  switch ((number + static_cast<std::int64_t>(mix64(seed) % 16)) % 16) {
    case 1:
      return rounded_to(type, usual + 1000);
    case 3:
      return rounded_to(type, usual * 30);
    case 5:
      return at(2) ? 100 : usual;
    case 7:
      return rounded_to(type, usual * 0.001F);
    case 9:
      return kLeast;
    case 11:
      return column % 3 == 1 ? kLeast : usual;
    case 13:
      return at(3) ? kNan : usual;
    default:
      return usual;
  }
}

float drawn_value(DType type, const Draw& draw, std::int64_t step) {
  if (draw.kind == Draw::Kind::kZeroPoint) return static_cast<float>(zero_point(type, step % kZeroPoints));
  const double uniform = static_cast<double>(step) / 65536.0 - 2.0;  // -2 to 2
  const double part = draw.kind == Draw::Kind::kScale
                          ? (kMostScaling + kLeastScaling) / 2 + (kMostScaling - kLeastScaling) / 4 * uniform
                          : uniform * std::sqrt(3.0);
  return rounded_to(type, static_cast<float>(draw.mean + draw.deviation * part));
}

}  // namespace lehr
