#include "network/onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <unordered_set>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/text.h"
#include "network/other_formats.h"
#include "network/protobuf.h"

namespace lehr {
namespace {

constexpr std::int64_t kOldestIrVersion = 3, kOldestOpset = 7;
constexpr std::uintmax_t kMostBytes = std::uintmax_t{2} << 30;  // size limit of a protocol buffer
constexpr std::int64_t kMostSparse = std::int64_t{1} << 26;

// Reads an entry of TensorProto.external_data.
void read_external(std::string_view entry, OnnxTensor& tensor) {
  std::string_view key, value;
  for (Wire wire(entry); wire.next();) {
    if (wire.field() == 1) key = wire.bytes();
    if (wire.field() == 2) value = wire.bytes();
  }
  const auto number = [&] {
    const std::optional<std::int64_t> parsed = parse_int(value);
    if (!parsed || *parsed < 0) throw_user("has a tensor in another file at '{}'", value);
    return static_cast<std::uint64_t>(*parsed);
  };
  if (key == "location") tensor.location = value;
  if (key == "offset") tensor.offset = number();
  if (key == "length") tensor.length = number();
}

OnnxTensor read_tensor(std::string_view message) {
  OnnxTensor tensor;
  for (Wire wire(message); wire.next();) {
    switch (wire.field()) {
      case 1:
        wire.append_to(tensor.dims);
        break;
      case 2:
        tensor.type = static_cast<OnnxType>(wire.whole());
        break;
      case 4:
        wire.append_to(tensor.floats);
        break;
      case 5:
      case 7:
        wire.append_to(tensor.wholes);
        break;
      case 8:
        tensor.name = wire.bytes();
        break;
      case 9:
        tensor.raw = wire.bytes();
        break;
      case 13:
        read_external(wire.bytes(), tensor);
        break;
      case 14:
        tensor.external = wire.number() == 1;
        break;
      default:
        break;
    }
  }
  for (const std::int64_t dim : tensor.dims)
    if (dim < 0) throw_user("has a tensor '{}' with a dimension of {}", tensor.name, dim);
  return tensor;
}

// Reads a SparseTensorProto: a tensor with the listed elements and the name, a tensor with the elements'
// positions, and the dims.
OnnxTensor read_sparse(std::string_view message) {
  OnnxTensor tensor, matches;
  std::vector<std::int64_t> dims;
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1) tensor = read_tensor(wire.bytes());
    if (wire.field() == 2) matches = read_tensor(wire.bytes());
    if (wire.field() == 3) wire.append_to(dims);
  }
  for (const std::int64_t dim : dims)
    if (dim < 0) throw_user("has a tensor '{}' with a dimension of {}", tensor.name, dim);
  if (tensor.dims.size() != 1 || matches.dims.empty() || matches.dims[0] != tensor.dims[0])
    throw_user("has a sparse tensor '{}' whose elements are not as many as their places", tensor.name);
  tensor.dims = std::move(dims);
  tensor.matches = std::make_shared<const OnnxTensor>(std::move(matches));
  return tensor;
}

OnnxAttribute read_attribute(std::string_view message) {
  OnnxAttribute attribute;
  for (Wire wire(message); wire.next();) {
    switch (wire.field()) {
      case 1:
        attribute.name = wire.bytes();
        break;
      case 2:
        attribute.number = wire.f32();
        break;
      case 3:
        attribute.whole = wire.whole();
        break;
      case 4:
        attribute.text = wire.bytes();
        break;
      case 5:
        attribute.tensor = read_tensor(wire.bytes());
        break;
      case 6:
      case 11:
        attribute.has_graph = true;
        break;
      case 7:
        wire.append_to(attribute.numbers);
        break;
      case 8:
        wire.append_to(attribute.wholes);
        break;
      case 20:
        attribute.type = wire.whole();
        break;
      case 22:
        attribute.tensor = read_sparse(wire.bytes());
        break;
      default:
        break;
    }
  }
  // A Constant may also have its value in one of these attributes.
  if (attribute.name == "value_float" || attribute.name == "value_floats") {
    OnnxTensor& tensor = attribute.tensor.emplace();
    tensor.type = OnnxType::kF32;
    tensor.floats = attribute.name == "value_float" ? std::vector{attribute.number} : attribute.numbers;
    if (attribute.name == "value_floats") tensor.dims = {std::ssize(attribute.numbers)};
  }
  return attribute;
}

bool is_external(std::string_view tensor) {
  for (Wire wire(tensor); wire.next();)
    if (wire.field() == 14 && wire.number() == 1) return true;
  return false;
}

void append_attribute(std::string_view attribute, int depth, OnnxNode& owner);

// Adds to `owner`, the node that has the subgraph, all values that nodes of the subgraph read, and its
// external tensors. Goes down `depth` levels of nested subgraphs.
void append_subgraph(std::string_view graph, int depth, OnnxNode& owner) {
  if (depth == 0) throw_user("has subgraphs within each other, too many of them");
  for (Wire wire(graph); wire.next();) {
    if (wire.field() == 5 && is_external(wire.bytes())) owner.external.push_back(read_tensor(wire.bytes()));
    if (wire.field() == 12)  // an output may be a value of the surrounding graph
      for (Wire value(wire.bytes()); value.next();)
        if (value.field() == 1) owner.captured.push_back(value.bytes());
    if (wire.field() != 1) continue;
    for (Wire node(wire.bytes()); node.next();) {
      if (node.field() == 1) owner.captured.push_back(node.bytes());
      if (node.field() == 5) append_attribute(node.bytes(), depth - 1, owner);
    }
  }
}

void append_attribute(std::string_view attribute, int depth, OnnxNode& owner) {
  for (Wire wire(attribute); wire.next();) {
    if (wire.field() == 6 || wire.field() == 11) append_subgraph(wire.bytes(), depth, owner);
    if ((wire.field() == 5 || wire.field() == 10) && is_external(wire.bytes()))
      owner.external.push_back(read_tensor(wire.bytes()));
  }
}

OnnxNode read_node(std::string_view message) {
  constexpr int kMostDepth = 16;
  OnnxNode node;
  for (Wire wire(message); wire.next();) {
    switch (wire.field()) {
      case 1:
        node.inputs.push_back(wire.bytes());
        break;
      case 2:
        node.outputs.push_back(wire.bytes());
        break;
      case 3:
        node.name = wire.bytes();
        break;
      case 4:
        node.op = wire.bytes();
        break;
      case 5:
        node.attributes.push_back(read_attribute(wire.bytes()));
        append_attribute(wire.bytes(), kMostDepth, node);
        break;
      case 7:
        node.domain = wire.bytes();
        break;
      default:
        break;
    }
  }
  if (node.domain == "ai.onnx") node.domain = "";
  return node;
}

OnnxDim read_dim(std::string_view message) {
  OnnxDim dim;
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1) dim.size = wire.whole();
    if (wire.field() == 2) dim.name = wire.bytes();
  }
  if (dim.size && *dim.size < 0) dim.size.reset();  // some exporters write -1 for any size
  return dim;
}

// Reads a TypeProto.Tensor.
void read_tensor_type(std::string_view message, OnnxValueInfo& value) {
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1) value.type = static_cast<OnnxType>(wire.whole());
    if (wire.field() != 2) continue;
    value.dims.emplace();
    for (Wire shape(wire.bytes()); shape.next();)
      if (shape.field() == 1) value.dims->push_back(read_dim(shape.bytes()));
  }
}

OnnxValueInfo read_value(std::string_view message) {
  OnnxValueInfo value;
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1) value.name = wire.bytes();
    if (wire.field() != 2) continue;
    for (Wire type(wire.bytes()); type.next();)
      if (type.field() == 1) read_tensor_type(type.bytes(), value);
  }
  return value;
}

void read_graph(std::string_view message, OnnxModel& model) {
  for (Wire wire(message); wire.next();) {
    switch (wire.field()) {
      case 1:
        model.nodes.push_back(read_node(wire.bytes()));
        model.nodes.back().record = wire.record();
        break;
      case 2:
        model.graph_name = wire.bytes();
        break;
      case 5:
        model.constants.push_back(read_tensor(wire.bytes()));
        model.constants.back().record = wire.record();
        break;
      case 11:
        model.inputs.push_back(read_value(wire.bytes()));
        model.inputs.back().record = wire.record();
        break;
      case 12:
        model.outputs.push_back(read_value(wire.bytes()));
        model.outputs.back().record = wire.record();
        break;
      case 13:
        model.between.push_back(read_value(wire.bytes()));
        model.between.back().record = wire.record();
        break;
      case 15:
        model.constants.push_back(read_sparse(wire.bytes()));
        model.constants.back().record = wire.record();
        break;
      default:
        break;
    }
  }
}

void read_opset(std::string_view message, OnnxModel& model) {
  std::string_view domain;
  std::int64_t version = 0;
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1) domain = wire.bytes();
    if (wire.field() == 2) version = wire.whole();
  }
  model.opsets[domain == "ai.onnx" ? "" : domain] = version;
}

bool read_model(std::string_view message, OnnxModel& model) {
  bool has_graph = false;
  for (Wire wire(message); wire.next();) {
    switch (wire.field()) {
      case 1:
        model.ir_version = wire.whole();
        break;
      case 2:
        model.producer = wire.bytes();
        break;
      case 7:
        read_graph(wire.bytes(), model);
        has_graph = true;
        break;
      case 8:
        read_opset(wire.bytes(), model);
        break;
      case 25:
        ++model.functions;
        break;
      default:
        break;
    }
  }
  return has_graph;
}

void check_versions(OnnxModel& model) {
  if (model.ir_version < kOldestIrVersion)
    throw_user("is of IR version {}: {} and newer are read", model.ir_version, kOldestIrVersion);
  if (model.opset() < kOldestOpset)
    throw_user("is of opset {}: {} and newer are read", model.opset(), kOldestOpset);
  if (model.ir_version > kKnownIrVersion)
    model.warnings.push_back(fmt::format("its IR version {} is newer than {}, the newest known",
                                         model.ir_version, kKnownIrVersion));
  if (model.opset() > kKnownOpset)
    model.warnings.push_back(
        fmt::format("its opset {} is newer than {}, the newest known", model.opset(), kKnownOpset));
}

// Throws if a node reads a value that no earlier node makes. ONNX demands this order, and it rules out
// cycles.
void check_order(const OnnxModel& model) {
  std::unordered_set<std::string_view> made = {""};
  for (const OnnxValueInfo& input : model.inputs) made.insert(input.name);
  for (const OnnxTensor& constant : model.constants) made.insert(constant.name);
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const OnnxNode& node = model.nodes[i];
    for (const std::string_view input : node.inputs)
      if (!made.contains(input))
        throw_user("has {} reading '{}', which nothing before it makes", called(node, i), input);
    for (const std::string_view output : node.outputs)
      if (!output.empty() && !made.insert(output).second)
        throw_user("has two makers of '{}', the second is {}", output, called(node, i));
  }
  for (const OnnxValueInfo& output : model.outputs)
    if (!made.contains(output.name)) throw_user("gives '{}', which nothing makes", output.name);
}

// Marks the constants that are also inputs, so that callers may replace them. Models older than IR 4 list all
// constants as inputs, and engines do not let callers replace those.
void mark_overridable(OnnxModel& model) {
  constexpr std::int64_t kFirstWithDefaults = 4;
  if (model.ir_version < kFirstWithDefaults) return;
  std::unordered_set<std::string_view> inputs;
  for (const OnnxValueInfo& input : model.inputs) inputs.insert(input.name);
  std::size_t count = 0;
  for (OnnxTensor& constant : model.constants)
    if ((constant.overridable = inputs.contains(constant.name))) ++count;
  if (count > 0)
    model.warnings.push_back(fmt::format(
        "{} of its initializers are inputs as well, which callers may override: nothing of them is folded "
        "or prepacked; leave them out of the inputs where nobody does",
        count));
}

// Returns the row-major position of each listed element of a sparse tensor.
std::optional<std::vector<std::size_t>> matches_of(const OnnxTensor& tensor) {
  const OnnxTensor& matches = *tensor.matches;
  const std::size_t rank = tensor.dims.size(), each = matches.dims.size() == 1 ? 1 : rank;
  if (matches.dims.size() > 2 ||
      (matches.dims.size() == 2 && matches.dims[1] != static_cast<std::int64_t>(rank)))
    return std::nullopt;
  const auto numbers = wholes_of(matches, kMostSparse);
  if (!numbers) return std::nullopt;
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i + each <= numbers->size() && each > 0; i += each) {
    std::int64_t at = (*numbers)[i];
    if (each == 1 && (at < 0 || at >= element_count(tensor))) return std::nullopt;
    for (std::size_t d = 0; each > 1 && d < each; ++d) {
      const std::int64_t index = (*numbers)[i + d];
      if (index < 0 || index >= tensor.dims[d]) return std::nullopt;
      at = d == 0 ? index : at * tensor.dims[d] + index;
    }
    result.push_back(static_cast<std::size_t>(at));
  }
  return result;
}

// Returns all elements of a tensor. Fills in the zeros that a sparse tensor does not list.
template <typename Value>
std::optional<std::vector<Value>> spread(const OnnxTensor& tensor, std::vector<Value> listed) {
  if (tensor.matches == nullptr) return listed;
  if (element_count(tensor) > kMostSparse) return std::nullopt;
  const auto matches = matches_of(tensor);
  if (!matches || matches->size() != listed.size()) return std::nullopt;
  std::vector<Value> values(static_cast<std::size_t>(element_count(tensor)));
  std::vector<bool> taken(values.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (taken[(*matches)[i]]) return std::nullopt;
    taken[(*matches)[i]] = true;
    values[(*matches)[i]] = listed[i];
  }
  return values;
}

// Returns the elements of a tensor, which are in `listed` or, as raw bytes of type `Raw`, in tensor.raw.
template <typename Raw, typename Value>
std::optional<std::vector<Value>> elements(const OnnxTensor& tensor, const std::vector<Value>& listed,
                                           std::int64_t most) {
  if (element_count(tensor) > most || tensor.external) return std::nullopt;
  const auto size = static_cast<std::size_t>(listed_count(tensor));
  if (tensor.raw.empty() && listed.size() == size) return spread(tensor, listed);
  if (tensor.raw.size() != size * sizeof(Raw)) return std::nullopt;
  std::vector<Value> values;
  for (std::size_t i = 0; i < size; ++i) {
    Raw value;
    std::memcpy(&value, tensor.raw.data() + i * sizeof(Raw), sizeof(Raw));
    values.push_back(static_cast<Value>(value));
  }
  return spread(tensor, std::move(values));
}

}  // namespace

namespace {

struct TensorType {
  OnnxType onnx;
  DType type;
};
constexpr TensorType kTensorTypes[] = {{OnnxType::kF32, DType::kF32}, {OnnxType::kF64, DType::kF64},
                                       {OnnxType::kF16, DType::kF16}, {OnnxType::kBf16, DType::kBF16},
                                       {OnnxType::kU8, DType::kU8},   {OnnxType::kS8, DType::kS8},
                                       {OnnxType::kS32, DType::kS32}, {OnnxType::kS8, DType::kS7}};

}  // namespace

std::optional<DType> dtype_of(OnnxType type) {
  for (const TensorType& each : kTensorTypes)
    if (each.onnx == type) return each.type;
  return std::nullopt;
}

OnnxType onnx_type_of(DType type) {
  for (const TensorType& each : kTensorTypes)
    if (each.type == type) return each.onnx;
  return OnnxType::kUnknown;
}

std::string name_of(OnnxType type) {
  switch (type) {
    case OnnxType::kUnknown:
      return "unknown";
    case OnnxType::kF32:
      return "f32";
    case OnnxType::kU8:
      return "u8";
    case OnnxType::kS8:
      return "s8";
    case OnnxType::kS32:
      return "s32";
    case OnnxType::kS64:
      return "s64";
    case OnnxType::kText:
      return "text";
    case OnnxType::kBool:
      return "bool";
    case OnnxType::kF16:
      return "f16";
    case OnnxType::kF64:
      return "f64";
    case OnnxType::kBf16:
      return "bf16";
  }
  return fmt::format("type {}", static_cast<std::int32_t>(type));
}

std::int64_t element_count(const OnnxTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t dim : tensor.dims)
    if (__builtin_mul_overflow(count, dim, &count)) return std::numeric_limits<std::int64_t>::max();
  return count;
}

std::int64_t listed_count(const OnnxTensor& tensor) {
  return tensor.matches == nullptr ? element_count(tensor) : tensor.matches->dims[0];
}

std::optional<std::vector<std::int64_t>> wholes_of(const OnnxTensor& tensor, std::int64_t most) {
  if (tensor.type == OnnxType::kS64) return elements<std::int64_t>(tensor, tensor.wholes, most);
  if (tensor.type == OnnxType::kS32) return elements<std::int32_t>(tensor, tensor.wholes, most);
  if (tensor.type == OnnxType::kS8) return elements<std::int8_t>(tensor, tensor.wholes, most);
  if (tensor.type == OnnxType::kBool || tensor.type == OnnxType::kU8)
    return elements<std::uint8_t>(tensor, tensor.wholes, most);
  return std::nullopt;
}

std::optional<std::vector<float>> floats_of(const OnnxTensor& tensor, std::int64_t most) {
  if (tensor.type == OnnxType::kF32) return elements<float>(tensor, tensor.floats, most);
  return std::nullopt;
}

const OnnxAttribute* OnnxNode::attribute(std::string_view wanted) const {
  const auto found = std::ranges::find(attributes, wanted, &OnnxAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::int64_t OnnxNode::whole(std::string_view wanted, std::int64_t otherwise) const {
  const OnnxAttribute* const found = attribute(wanted);
  return found == nullptr ? otherwise : found->whole;
}

float OnnxNode::number(std::string_view wanted, float otherwise) const {
  const OnnxAttribute* const found = attribute(wanted);
  return found == nullptr ? otherwise : found->number;
}

std::string_view OnnxNode::text(std::string_view wanted, std::string_view otherwise) const {
  const OnnxAttribute* const found = attribute(wanted);
  return found == nullptr ? otherwise : found->text;
}

std::vector<std::int64_t> OnnxNode::wholes(std::string_view wanted) const {
  const OnnxAttribute* const found = attribute(wanted);
  return found == nullptr ? std::vector<std::int64_t>() : found->wholes;
}

std::string called(const OnnxNode& node, std::size_t index) {
  return node.name.empty() ? fmt::format("{} number {}", node.op, index + 1)
                           : fmt::format("{} '{}'", node.op, node.name);
}

std::int64_t OnnxModel::opset() const {
  const auto found = opsets.find("");
  return found == opsets.end() ? 0 : found->second;
}

OnnxModel parse_onnx(std::shared_ptr<const std::string> bytes, const std::string& shown) {
  OnnxModel model;
  model.bytes = std::move(bytes);
  try {
    if (!read_model(*model.bytes, model)) throw_user("is no ONNX model: it has no graph");
    check_versions(model);
    check_order(model);
    mark_overridable(model);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUser) throw;
    const std::string other = other_format(*model.bytes);
    throw_user("{} {}", shown, other.empty() ? error.what() : other);
  }
  return model;
}

OnnxModel read_onnx(const std::string& path) {
  if (const std::string_view kind = kind_if_no_file(path); !kind.empty())
    throw_user("{} is {}; a network is one file", path, kind);
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw_user("{} cannot be read: {}", path, error.message());
  if (size > kMostBytes) throw_user("{} has {} bytes: an ONNX file has at most 2 GiB", path, size);
  auto bytes = std::make_shared<std::string>(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes->data(), static_cast<std::streamsize>(size));
  if (!file) throw_user("{} cannot be read whole", path);
  OnnxModel model = parse_onnx(std::move(bytes), path);
  model.folder = std::filesystem::absolute(path).parent_path().string();
  if (std::filesystem::is_symlink(path, error))
    model.real_folder = std::filesystem::canonical(path, error).parent_path().string();
  return model;
}

}  // namespace lehr
