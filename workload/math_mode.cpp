#include "workload/math_mode.h"

#include "base/error.h"

namespace lehr {

bool is_8_bit_float(DType type) {
  return type == DType::kE4M3 || type == DType::kE5M2;
}

std::string_view name_of(Math math) {
  switch (math) {
    case Math::kStrict:
      return "strict";
    case Math::k3xTf32:
      return "3xtf32";
    case Math::kTf32:
      return "tf32";
    case Math::kTwoLevel:
      return "two_level";
  }
  return "";
}

Math parse_math(std::string_view text) {
  for (const Math math : {Math::kStrict, Math::kTf32, Math::k3xTf32, Math::kTwoLevel})
    if (name_of(math) == text) return math;
  throw_user("unknown math '{}'; known are strict, tf32, 3xtf32, two_level", text);
}

void validate(Math math, DType a, DType b, DType accum) {
  if (math == Math::kStrict) return;
  const bool two_level = math == Math::kTwoLevel;
  for (const DType type : {a, b}) {
    if (two_level ? !is_8_bit_float(type) : type != DType::kF32)
      throw_user("math={} is for {} operands; with {} leave it at strict", name_of(math),
                 two_level ? "e4m3 and e5m2" : "f32", name_of(type));
  }
  if (accum != DType::kF32)
    throw_user("math={} is for sums in f32; with {} leave it at strict", name_of(math), name_of(accum));
}

}  // namespace lehr
