// Writes nodes and attributes as fields of an ONNX graph, in bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

// Return attributes as fields of a node.
std::string text_attribute(std::string_view name, std::string_view text);
std::string int_attribute(std::string_view name, std::int64_t value);
std::string f32_attribute(std::string_view name, float value);
std::string ints_attribute(std::string_view name, const std::vector<std::int64_t>& values);

/// Returns a node of ONNX's own domain with one output, as a field of a graph.
std::string node_record(std::string_view op, const std::vector<std::string_view>& inputs,
                        std::string_view output, std::string_view attributes = {});
}  // namespace lehr
