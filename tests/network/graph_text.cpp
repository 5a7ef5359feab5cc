#include "graph_text.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "network/protobuf.h"

namespace lehr::testing {
namespace {

using Texts = std::vector<std::string_view>;

std::string f32_bits(float value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

/// Returns a repeated field of numbers, packed.
std::string packed_field(std::uint32_t field, const std::vector<std::int64_t>& values) {
  std::string packed;
  for (const std::int64_t value : values)
    packed += number_field(1, value).substr(1);  // without the field's number
  return bytes_field(field, packed);
}

Texts words_of(std::string_view line) {
  Texts words;
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) words.push_back(word);
  return words;
}

std::int64_t type_number(std::string_view name) {
  constexpr std::pair<std::string_view, std::int64_t> kTypes[] = {{"f32", 1},  {"u8", 2},   {"s8", 3},
                                                                  {"s32", 6},  {"s64", 7},  {"bool", 9},
                                                                  {"f16", 10}, {"f64", 11}, {"bf16", 16}};
  for (const auto& [known, value] : kTypes)
    if (name == known) return value;
  return 0;
}

// Returns a ValueInfoProto of NAME [TYPE [DIMS]].
std::string value_info(const Texts& words, std::size_t at) {
  std::string tensor = words.size() > at + 1 ? number_field(1, type_number(words[at + 1])) : "";
  if (words.size() > at + 2) {
    std::string shape;
    for (const std::string_view dim : split(words[at + 2], 'x')) {
      const auto size = parse_int(dim);
      shape += bytes_field(1, size ? number_field(1, *size) : dim == "?" ? "" : bytes_field(2, dim));
    }
    tensor += bytes_field(2, shape);
  }
  return bytes_field(1, words[at]) + bytes_field(2, bytes_field(1, tensor));
}

// Returns a TensorProto of NAME TYPE DIMS [= ELEMENTS]; DIMS is "-" for a scalar.
std::string tensor(const Texts& words, std::size_t at) {
  const std::int64_t type = type_number(words[at + 1]);
  std::string bytes = bytes_field(8, words[at]) + number_field(2, type);
  std::int64_t count = 1;
  if (words[at + 2] != "-")
    for (const std::string_view dim : split(words[at + 2], 'x')) {
      bytes += number_field(1, *parse_int(dim));
      count *= *parse_int(dim);
    }
  std::string floats;
  std::vector<std::int64_t> wholes;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t word = at + 4 + static_cast<std::size_t>(i);
    if (type == 1)
      floats += f32_bits(word >= words.size()   ? 0.5F
                         : words[word] == "nan" ? NAN
                                                : *parse_number(words[word]));
    else
      wholes.push_back(word < words.size() ? *parse_int(words[word]) : 1);
  }
  return bytes + (type == 1 ? bytes_field(4, floats) : packed_field(type == 7 ? 7 : 5, wholes));
}

// Returns a SparseTensorProto of NAME TYPE DIMS = PLACE:ELEMENT ...; PLACE is one number or one for each
// dimension.
std::string sparse_tensor(const Texts& words) {
  const std::string count = std::to_string(words.size() - 5);
  Texts listed = {words[1], words[2], count, "="};
  std::vector<std::int64_t> matches, dims;
  bool is_linear = true;
  for (std::size_t i = 5; i < words.size(); ++i) {
    const std::size_t colon = words[i].find(':');
    listed.push_back(words[i].substr(colon + 1));
    for (const std::string_view each : split(words[i].substr(0, colon), ','))
      matches.push_back(*parse_int(each));
    is_linear = is_linear && words[i].find(',') == std::string_view::npos;
  }
  for (const std::string_view dim : split(words[3], 'x')) dims.push_back(*parse_int(dim));
  std::string where = number_field(2, 7) + number_field(1, static_cast<std::int64_t>(words.size() - 5));
  if (!is_linear) where += number_field(1, static_cast<std::int64_t>(dims.size()));
  return bytes_field(1, tensor(listed, 0)) + bytes_field(2, where + packed_field(7, matches)) +
         packed_field(3, dims);
}

// Returns an AttributeProto of NAME="text", NAME=1,2,3 (several), NAME=1, NAME=0.5.
std::string attribute(std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view value = word.substr(equals + 1);
  std::string bytes = bytes_field(1, word.substr(0, equals));
  if (value.front() == '"')
    return bytes + bytes_field(4, value.substr(1, value.size() - 2)) + number_field(20, 3);
  if (value.find(',') != std::string_view::npos) {
    for (const std::string_view each : split(value, ','))
      if (!each.empty()) bytes += number_field(8, *parse_int(each));
    return bytes + number_field(20, 7);
  }
  if (const auto whole = parse_int(value)) return bytes + number_field(3, *whole) + number_field(20, 2);
  constexpr char kFloatTag = 2 << 3 | 5;  // field 2, of 32 bits
  return bytes + kFloatTag + f32_bits(static_cast<float>(*parse_number(value))) + number_field(20, 1);
}

// Returns a NodeProto of OUTPUT, ... = OP(INPUT, ...) ATTRIBUTES.
std::string node(std::string_view line) {
  const auto names = [](std::string_view list, int field) {
    std::string bytes;
    for (std::string_view name : split(list, ',')) {
      while (name.starts_with(' ')) name.remove_prefix(1);
      while (name.ends_with(' ')) name.remove_suffix(1);
      bytes += bytes_field(field, name);
    }
    return bytes;
  };
  const std::size_t equals = line.find('='), open = line.find('(', equals), close = line.find(')', open);
  std::string_view op = line.substr(equals + 1, open - equals - 1);
  while (op.starts_with(' ')) op.remove_prefix(1);
  std::string bytes = names(line.substr(0, equals), 2);
  if (close > open + 1) bytes += names(line.substr(open + 1, close - open - 1), 1);
  if (const std::size_t colons = op.find("::"); colons != std::string_view::npos) {
    bytes += bytes_field(7, op.substr(0, colons));
    op = op.substr(colons + 2);
  }
  bytes += bytes_field(4, op);
  for (const std::string_view word : words_of(line.substr(close + 1)))
    bytes += bytes_field(5, attribute(word));
  return bytes;
}

}  // namespace

std::string onnx_bytes(std::string_view text, std::int64_t opset, std::int64_t ir_version) {
  std::string graph;
  for (std::string_view line : split(text, '\n')) {
    const Texts words = words_of(line);
    if (words.empty()) continue;
    line.remove_prefix(static_cast<std::size_t>(words[0].data() - line.data()));
    if (words[0] == "input")
      graph += bytes_field(11, value_info(words, 1));
    else if (words[0] == "output")
      graph += bytes_field(12, value_info(words, 1));
    else if (words[0] == "value")
      graph += bytes_field(13, value_info(words, 1));
    else if (words[0] == "constant")
      graph += bytes_field(5, tensor(words, 1));
    else if (words[0] == "sparse")
      graph += bytes_field(15, sparse_tensor(words));
    else
      graph += bytes_field(1, node(line));
  }
  return number_field(1, ir_version) + bytes_field(2, "a test") + bytes_field(8, number_field(2, opset)) +
         bytes_field(7, graph);
}

OnnxModel onnx_model(std::string_view text, std::int64_t opset) {
  return parse_onnx(std::make_shared<std::string>(onnx_bytes(text, opset)), "it");
}

Network network_of(std::string_view text) {
  Network network;
  network.model = onnx_model(text);
  network.shapes = infer_shapes(network.model, {});
  network.matches = matches_of(network.model, network.shapes);
  return network;
}

}  // namespace lehr::testing
