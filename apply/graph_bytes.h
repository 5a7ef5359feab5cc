// Tensors and some nodes as fields of an ONNX graph, as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "network/graph_records.h"
#include "network/onnx.h"
#include "network/places.h"

namespace lehr {

/// A Cast to a type.
std::string cast_record(std::string_view from, std::string_view to, OnnxType type);

/// A Transpose: dimension i of what it makes is dimension order[i] of what it reads.
std::string transpose_record(std::string_view from, std::string_view to,
                             const std::vector<std::int64_t>& order);

/// A TensorProto but for its name.
std::string unnamed_tensor(const PlaceConstant& constant);
/// Of values of f32, as they are or rounded.
PlaceConstant f32_constant(const std::vector<std::int64_t>& shape, const std::vector<float>& values);
PlaceConstant bf16_constant(const std::vector<std::int64_t>& shape, const std::vector<float>& values);

/// With its dimensions in another order, as transpose_record().
PlaceConstant transposed(const PlaceConstant& constant, const std::vector<std::int64_t>& order);

}  // namespace lehr
