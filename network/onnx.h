// Reads an ONNX file into values. Names and numbers of fields are those of
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace lehr {

/// The values of TensorProto.DataType that are used.
enum class OnnxType : std::int32_t {
  kUnknown = 0,
  kF32 = 1,
  kU8 = 2,
  kS8 = 3,
  kS32 = 6,
  kS64 = 7,
  kText = 8,
  kBool = 9,
  kF16 = 10,
  kF64 = 11,
  kBf16 = 16
};
/// Returns "f32", "s64", ...; "type 23" for others.
std::string name_of(OnnxType type);
/// Returns the type of a workload's tensors, if it is one; else nullopt.
std::optional<DType> dtype_of(OnnxType type);
OnnxType onnx_type_of(DType type);

/// A constant. Its elements are in `raw`, `floats` or `wholes`, or in a file of their own.
struct OnnxTensor {
  std::string_view name;
  OnnxType type = OnnxType::kUnknown;
  std::vector<std::int64_t> dims;
  std::string_view raw;              ///< little-endian, row-major
  std::vector<float> floats;         ///< f32
  std::vector<std::int64_t> wholes;  ///< integers of any size, bool; f16 and bf16 as their bits
  bool external = false;             ///< whether its elements are in a file of their own
  std::string_view location;         ///< path of that file, as the model states it
  std::uint64_t offset = 0, length = 0;
  /// Positions of the listed elements of a sparse tensor, as s64: one number per element, or one number per
  /// element and dimension. All other elements are 0. nullptr: the tensor is not sparse.
  std::shared_ptr<const OnnxTensor> matches = nullptr;
  /// Whether the constant is also an input, so that callers may replace it (IR 4 and newer).
  bool overridable = false;
  std::string_view record;  ///< bytes of the tensor's field in the graph; "" for a tensor of an attribute
};
/// Returns the product of the dims; 1 for a scalar. Saturates.
std::int64_t element_count(const OnnxTensor& tensor);
/// Returns the number of elements that the file lists.
std::int64_t listed_count(const OnnxTensor& tensor);
/// Returns the elements of a tensor of s64, s32, s8, u8 or bool within the file; nullopt for other tensors,
/// and if there are more than `most` elements.
std::optional<std::vector<std::int64_t>> wholes_of(const OnnxTensor& tensor, std::int64_t most);
/// Returns the elements of a tensor of f32 within the file; nullopt for other tensors, and if there are more
/// than `most` elements.
std::optional<std::vector<float>> floats_of(const OnnxTensor& tensor, std::int64_t most);

struct OnnxAttribute {
  std::string_view name;
  std::int64_t whole = 0;
  float number = 0;
  std::string_view text;
  std::vector<std::int64_t> wholes;
  std::vector<float> numbers;
  std::optional<OnnxTensor> tensor;
  bool has_graph = false;  ///< whether it holds a subgraph, as in If and Loop; subgraphs are not read
  /// AttributeProto.AttributeType: 1 a float, 2 an integer, 3 text, 6 floats, 7 integers; 0: not in the file.
  std::int64_t type = 0;
};

struct OnnxNode {
  std::string_view name, op, domain;
  std::vector<std::string_view> inputs, outputs;  ///< "": left out
  std::vector<OnnxAttribute> attributes;
  /// Values that the node's subgraphs read, including values of the graph itself.
  std::vector<std::string_view> captured;
  /// Tensors of its attributes and subgraphs that are in files of their own.
  std::vector<OnnxTensor> external;
  std::string_view record;  ///< its field of the graph, as the file has it

  /// Returns the attribute of that name; nullptr if the node does not have it.
  const OnnxAttribute* attribute(std::string_view wanted) const;
  std::int64_t whole(std::string_view wanted, std::int64_t otherwise) const;
  float number(std::string_view wanted, float otherwise) const;
  std::string_view text(std::string_view wanted, std::string_view otherwise) const;
  /// Returns an attribute's integers; empty if there is no such attribute.
  std::vector<std::int64_t> wholes(std::string_view wanted) const;
  /// Returns the input's name; "" if the node has fewer inputs.
  std::string_view input(std::size_t i) const { return i < inputs.size() ? inputs[i] : std::string_view(); }
};
/// The domain of ONNX Runtime's own operators.
inline constexpr std::string_view kMicrosoftDomain = "com.microsoft";
/// Returns "Conv 'layer1.0'", or "Conv number 7" if it has no name; `index` counts from 0.
std::string called(const OnnxNode& node, std::size_t index);

/// A dimension: its size, or the name that stands for it ("" if it has no name).
struct OnnxDim {
  std::optional<std::int64_t> size;
  std::string_view name;
};

/// The file's statement about an input, an output or a value between them.
struct OnnxValueInfo {
  std::string_view name;
  OnnxType type = OnnxType::kUnknown;  ///< kUnknown if it is not a tensor
  std::optional<std::vector<OnnxDim>> dims;
  std::string_view record = {};  ///< its field of the graph
};

struct OnnxModel {
  std::shared_ptr<const std::string> bytes;  ///< the file's bytes, which all views refer to
  std::string folder;                        ///< the file's folder
  std::string real_folder;                   ///< folder of the link's target if the file is a link; else ""
  std::int64_t ir_version = 0;
  std::string_view producer;
  /// Versions of operator sets, by domain; "" is ONNX's own domain.
  std::map<std::string_view, std::int64_t> opsets;
  std::string_view graph_name;
  /// The nodes, each after the nodes whose outputs it reads.
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> constants;
  std::vector<OnnxValueInfo> inputs, outputs, between;
  std::size_t functions = 0;  ///< number of operators that the model defines itself; they are not read
  std::vector<std::string> warnings;  ///< sentences about parts newer than the known versions

  std::int64_t opset() const;  ///< version of the operator set of ONNX's own domain
};

/// Newest versions that the reader knows. Newer files are read with a warning.
inline constexpr std::int64_t kKnownIrVersion = 13, kKnownOpset = 26;

/// Reads a file. Throws Error(kUser) with one sentence if it cannot be opened, is not an ONNX model, is cut,
/// is older than IR 3 or opset 7, or has a node that reads a value that no earlier node makes (as in a
/// cycle).
OnnxModel read_onnx(const std::string& path);
/// Reads a model from the file's bytes. `shown` begins the sentences of errors.
OnnxModel parse_onnx(std::shared_ptr<const std::string> bytes, const std::string& shown);

}  // namespace lehr
