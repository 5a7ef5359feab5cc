#include "network/graph_records.h"

#include "network/protobuf.h"

namespace lehr {
namespace {

// AttributeProto's types.
constexpr std::int64_t kF32Attribute = 1, kIntAttribute = 2, kTextAttribute = 3, kIntsAttribute = 7;

}  // namespace

std::string text_attribute(std::string_view name, std::string_view text) {
  return bytes_field(5, bytes_field(1, name) + bytes_field(4, text) + number_field(20, kTextAttribute));
}

std::string int_attribute(std::string_view name, std::int64_t value) {
  return bytes_field(5, bytes_field(1, name) + number_field(3, value) + number_field(20, kIntAttribute));
}

std::string f32_attribute(std::string_view name, float value) {
  return bytes_field(5, bytes_field(1, name) + f32_field(2, value) + number_field(20, kF32Attribute));
}

std::string ints_attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  std::string attribute = bytes_field(1, name);
  for (const std::int64_t value : values) attribute += number_field(8, value);
  return bytes_field(5, attribute + number_field(20, kIntsAttribute));
}

std::string node_record(std::string_view op, const std::vector<std::string_view>& inputs,
                        std::string_view output, std::string_view attributes) {
  std::string node;
  for (const std::string_view input : inputs) node += bytes_field(1, input);
  node += bytes_field(2, output) + bytes_field(4, op);
  return bytes_field(1, node.append(attributes));
}

}  // namespace lehr
