// What a fused node says of itself: the attribute `plan`, read with suspicion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "plugin/onnxruntime_api.h"
#include "plugin/types.h"
#include "runtime/json.h"
#include "runtime/lehr_bundle.h"
#include "runtime/memory.h"

namespace lehr::onnxruntime {

using runtime::Array;

struct Shape {
  static constexpr std::size_t kMostRank = 8;
  std::size_t rank = 0;
  std::int64_t dims[kMostRank] = {};

  bool operator==(const Shape& other) const {
    if (rank != other.rank) return false;
    for (std::size_t i = 0; i < rank; ++i)
      if (dims[i] != other.dims[i]) return false;
    return true;
  }
  /// Bytes of a tensor of a type that plans have a word for; -1 where there are too many to count or a
  /// dimension is negative.
  std::int64_t bytes(OrtElementType type) const;
};

/// A dimension of an input.
struct PlanDimension {
  std::uint32_t input = 0, dimension = 0;
};
/// A field of the workload that is the product of dimensions, [first, first + count) of Plan::dimensions.
struct PlanField {
  std::string_view name;
  std::uint32_t first = 0, count = 0;
};

/// A value of an attribute: as many of Plan::ints or Plan::floats from `first` on, or a text.
struct PlanValue {
  OrtOpAttrType type = OrtOpAttrType::kInt;
  std::uint32_t first = 0, count = 0;
  std::string_view text;
};
struct PlanAttribute {
  std::string_view name;  ///< with a 0 behind it
  PlanValue value;
};
struct PlanType {
  const char* name = "";  ///< of the operator's type constraint
  OrtElementType type = OrtElementType::kFloat;
};

/// A small constant, in Plan::words from `first` on.
struct PlanConstant {
  OrtElementType type = OrtElementType::kFloat;
  Shape shape;
  std::uint32_t first = 0, count = 0;
};

/// What an operator takes: a value (inputs of the fused node, then outputs of Plan::nodes), nothing, or a
/// constant of Plan::constants.
struct PlanOperand {
  enum class Kind : std::uint8_t { kValue, kLeftOut, kConstant } kind = Kind::kLeftOut;
  std::uint32_t index = 0;
};

/// One of the engine's own operators. Ranges are of the plan's arrays.
struct PlanNode {
  const char* op = "";
  const char* domain = "";
  int version = 1;  ///< of the domain's operators, as the model has it
  OrtElementType makes = OrtElementType::kFloat;
  std::uint32_t first_operand = 0, operands = 0;
  std::uint32_t first_type = 0, types = 0;
  std::uint32_t first_attribute = 0, attributes = 0;
};

struct Plan {
  static constexpr std::size_t kMostInputs = 32, kMostNodes = 64;

  Array<Shape> shapes;                            ///< of the inputs, for which the workload holds
  Array<OrtElementType> input_types;              ///< of each
  Shape output;                                   ///< of the output there
  OrtElementType makes = OrtElementType::kFloat;  ///< the output
  Array<bool> constant;                           ///< of each input: it is an initializer
  Array<PlanField> vary;
  Array<PlanDimension> dimensions;
  Array<PlanNode> nodes;  ///< at least one; the last one's output is the fused node's
  Array<PlanOperand> operands;
  Array<PlanType> types;
  Array<PlanAttribute> attributes;
  Array<PlanConstant> constants;
  Array<std::uint64_t> words;  ///< elements of constants, each constant's from a word of its own on
  Array<std::int64_t> ints;
  Array<float> floats;

  /// An attribute's ints, of which there are `count`; nullptr where there is none of that name.
  const std::int64_t* ints_of(const PlanNode& node, std::string_view name, std::size_t& count) const;
  std::int64_t int_of(const PlanNode& node, std::string_view name, std::int64_t otherwise) const;
  std::string_view text_of(const PlanNode& node, std::string_view name, std::string_view otherwise) const;

  Array<char> text;  ///< the document, which all texts above are parts of
  runtime::Json json;
};

/// Reads `plan.text`. False, with what is wrong as the end of a sentence.
bool read_plan(Plan& plan, lehr_error& error);

}  // namespace lehr::onnxruntime
