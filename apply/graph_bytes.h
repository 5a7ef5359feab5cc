// Writes tensors and some nodes as fields of an ONNX graph, in bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "network/graph_records.h"
#include "network/matches.h"
#include "network/onnx.h"

namespace lehr {

/// Returns a Cast node that reads value `from` and makes value `to` of type `type`.
std::string cast_record(std::string_view from, std::string_view to, OnnxType type);

/// Returns a Transpose node. Dimension i of its output is dimension order[i] of its input.
std::string transpose_record(std::string_view from, std::string_view to,
                             const std::vector<std::int64_t>& order);

/// Returns a TensorProto without its name.
std::string unnamed_tensor(const MatchConstant& constant);
/// Return a constant with these values: f32_constant() in f32, bf16_constant() rounded to bf16.
MatchConstant f32_constant(const std::vector<std::int64_t>& shape, const std::vector<float>& values);
MatchConstant bf16_constant(const std::vector<std::int64_t>& shape, const std::vector<float>& values);

/// Returns the constant with its dimensions in another order, as in transpose_record().
MatchConstant transposed(const MatchConstant& constant, const std::vector<std::int64_t>& order);

}  // namespace lehr
