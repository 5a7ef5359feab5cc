// An ONNX file as values. Names and numbers of fields are those of
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

/// TensorProto.DataType, those that are asked for.
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
/// "f32", "s64", ...; "type 23" for others.
std::string name_of(OnnxType type);
/// Of those types that tensors of workloads have.
std::optional<DType> dtype_of(OnnxType type);
OnnxType onnx_type_of(DType type);

/// A constant. Its elements are in one of the places that the format has for them; element_count() of them.
struct OnnxTensor {
  std::string_view name;
  OnnxType type = OnnxType::kUnknown;
  std::vector<std::int64_t> dims;
  std::string_view raw;              ///< little-endian, row-major
  std::vector<float> floats;         ///< f32
  std::vector<std::int64_t> wholes;  ///< integers of any size, bool; f16 and bf16 as their bits
  bool external = false;             ///< its elements are in a file of their own
  std::string_view location;         ///< that file's path, as the model has it
  std::uint64_t offset = 0, length = 0;
  /// Of a sparse tensor, whose other elements are 0: where the elements are that are listed, as s64, one
  /// number each or one for each dimension. nullptr: all are listed.
  std::shared_ptr<const OnnxTensor> places = nullptr;
  bool overridable = false;  ///< it is an input, too, which callers may give (IR 4 and newer): a default
  std::string_view record;   ///< the field of the graph that it is, as the file has it; "" for an attribute's
};
/// Product of the dims; 1 for a scalar. Saturates.
std::int64_t element_count(const OnnxTensor& tensor);
/// Of those the ones that the file lists.
std::int64_t listed_count(const OnnxTensor& tensor);
/// The elements of a tensor of s64, s32, s8, u8 or bool within the file; nullopt for others, and where there
/// are more than `most`.
std::optional<std::vector<std::int64_t>> wholes_of(const OnnxTensor& tensor, std::int64_t most);
/// Those of f32; the same.
std::optional<std::vector<float>> floats_of(const OnnxTensor& tensor, std::int64_t most);

struct OnnxAttribute {
  std::string_view name;
  std::int64_t whole = 0;
  float number = 0;
  std::string_view text;
  std::vector<std::int64_t> wholes;
  std::vector<float> numbers;
  std::optional<OnnxTensor> tensor;
  bool has_graph = false;  ///< a subgraph, as If and Loop have; it is not read
  /// AttributeProto.AttributeType: 1 a float, 2 an integer, 3 text, 6 floats, 7 integers; 0: the file does
  /// not tell.
  std::int64_t type = 0;
};

struct OnnxNode {
  std::string_view name, op, domain;
  std::vector<std::string_view> inputs, outputs;  ///< "": left out
  std::vector<OnnxAttribute> attributes;
  std::vector<std::string_view>
      captured;                      ///< what nodes of its subgraphs read, the graph's own values among it
  std::vector<OnnxTensor> external;  ///< of its attributes and subgraphs, those in files of their own
  std::string_view record;           ///< the field of the graph that it is, as the file has it

  /// nullptr where there is none of that name.
  const OnnxAttribute* attribute(std::string_view wanted) const;
  std::int64_t whole(std::string_view wanted, std::int64_t otherwise) const;
  float number(std::string_view wanted, float otherwise) const;
  std::string_view text(std::string_view wanted, std::string_view otherwise) const;
  /// Empty where there is none.
  std::vector<std::int64_t> wholes(std::string_view wanted) const;
  /// "" where there are fewer.
  std::string_view input(std::size_t i) const { return i < inputs.size() ? inputs[i] : std::string_view(); }
};
/// The domain of operators that are ONNX Runtime's own.
inline constexpr std::string_view kMicrosoftDomain = "com.microsoft";
/// "Conv 'layer1.0'", "Conv number 7" where it has no name; `index` counts from 0.
std::string called(const OnnxNode& node, std::size_t index);

/// A dimension: its size, or the name that stands for it ("" for one without).
struct OnnxDim {
  std::optional<std::int64_t> size;
  std::string_view name;
};

/// What is said of an input, an output or something between.
struct OnnxValueInfo {
  std::string_view name;
  OnnxType type = OnnxType::kUnknown;  ///< kUnknown for what is no tensor
  std::optional<std::vector<OnnxDim>> dims;
  std::string_view record = {};  ///< the field of the graph that it is
};

struct OnnxModel {
  std::shared_ptr<const std::string> bytes;  ///< the file's, which all views are of
  std::string folder;                        ///< of the file
  std::string real_folder;                   ///< of what the file is a link to; "": it is none
  std::int64_t ir_version = 0;
  std::string_view producer;
  std::map<std::string_view, std::int64_t> opsets;  ///< by domain; "" is ONNX's own
  std::string_view graph_name;
  std::vector<OnnxNode> nodes;  ///< each behind those whose outputs it reads
  std::vector<OnnxTensor> constants;
  std::vector<OnnxValueInfo> inputs, outputs, between;
  std::size_t functions = 0;          ///< operators that the model defines itself; they are not read
  std::vector<std::string> warnings;  ///< sentences about what is newer than what was known

  std::int64_t opset() const;  ///< of ONNX's own domain
};

/// The newest versions that are known: what is newer is read, with a warning.
inline constexpr std::int64_t kKnownIrVersion = 13, kKnownOpset = 26;

/// Reads a file: Error(kUser), one sentence, for what cannot be opened, is no ONNX model, is cut, is older
/// than IR 3 or opset 7, or has nodes that read what nothing before them makes (a cycle among them).
OnnxModel read_onnx(const std::string& path);
/// The same from its bytes; `shown` begins the sentences.
OnnxModel parse_onnx(std::shared_ptr<const std::string> bytes, const std::string& shown);

}  // namespace lehr
