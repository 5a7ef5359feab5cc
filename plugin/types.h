// Types and shapes of tensors. Libraries name the types by words such as "f32".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plugin/onnxruntime_api.h"

namespace lehr::onnxruntime {

/// Returns the type; kUndefined for a word that is not a type.
OrtElementType type_named(std::string_view word);
/// Returns the word for a type, such as "u8"; "another type" if libraries have no word for it.
const char* word_of(OrtElementType type);
/// Returns the bytes of one element; 0 if libraries have no word for its type.
std::int64_t bytes_of(OrtElementType type);

struct Shape {
  static constexpr std::size_t kMostRank = 8;
  std::size_t rank = 0;
  std::int64_t dims[kMostRank] = {};

  bool operator==(const Shape& other) const;
  /// Returns the bytes of a tensor of a type that bytes_of() knows; -1 if there are too many to count or a
  /// dimension is negative.
  std::int64_t bytes(OrtElementType type) const;
};

/// An operator of the domain ai.lehr that stands for several nodes of a model. Each output type has its own
/// operator, since the engine must know an operator's output type before a node exists.
struct FusedOperator {
  const char* name;
  OrtElementType makes;
};
inline constexpr FusedOperator kFusedOperators[] = {{"Fused", OrtElementType::kFloat},
                                                    {"FusedBf16", OrtElementType::kBfloat16},
                                                    {"FusedU8", OrtElementType::kUint8},
                                                    {"FusedS8", OrtElementType::kInt8}};

}  // namespace lehr::onnxruntime
