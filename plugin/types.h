// Types and shapes of tensors, by the words that libraries have for types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plugin/onnxruntime_api.h"

namespace lehr::onnxruntime {

/// kUndefined for a word that names none.
OrtElementType type_named(std::string_view word);
/// "u8"; "another type" where libraries have no word for it.
const char* word_of(OrtElementType type);
/// Of one element; 0 where libraries have no word for its type.
std::int64_t bytes_of(OrtElementType type);

struct Shape {
  static constexpr std::size_t kMostRank = 8;
  std::size_t rank = 0;
  std::int64_t dims[kMostRank] = {};

  bool operator==(const Shape& other) const;
  /// Bytes of a tensor of a type that bytes_of() knows; -1 where there are too many to count or a dimension
  /// is negative.
  std::int64_t bytes(OrtElementType type) const;
};

/// The operators of the domain ai.lehr that stand for several of a model's nodes: the engine has to know what
/// they make before it asks.
struct FusedOperator {
  const char* name;
  OrtElementType makes;
};
inline constexpr FusedOperator kFusedOperators[] = {{"Fused", OrtElementType::kFloat},
                                                    {"FusedBf16", OrtElementType::kBfloat16},
                                                    {"FusedU8", OrtElementType::kUint8},
                                                    {"FusedS8", OrtElementType::kInt8}};

}  // namespace lehr::onnxruntime
