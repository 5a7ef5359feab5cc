#include "plugin/plan.h"

#include <cstring>

#include "plugin/defaults.h"
#include "runtime/message.h"

namespace lehr::onnxruntime {

using runtime::Json;
using runtime::JsonKind;

std::int64_t Shape::bytes(OrtElementType type) const {
  std::int64_t bytes = bytes_of(type);
  for (std::size_t i = 0; i < rank; ++i)
    if (dims[i] < 0 || __builtin_mul_overflow(bytes, dims[i], &bytes)) return -1;
  return bytes;
}

namespace {

const PlanValue* value_of(const Plan& plan, const PlanNode& node, std::string_view name, OrtOpAttrType type) {
  for (std::uint32_t i = 0; i < node.attributes; ++i) {
    const PlanAttribute& attribute = plan.attributes[node.first_attribute + i];
    if (attribute.name == name && attribute.value.type == type) return &attribute.value;
  }
  return nullptr;
}

/// Each function returns false with the error set.
class PlanReader {
 public:
  PlanReader(Plan& plan, lehr_error& error) : plan_(plan), json_(plan.json), error_(error) {}

  bool read() {
    if (const char* wrong = plan_.json.read(plan_.text.data(), plan_.text.size())) return bad(wrong);
    if (!shapes(json_.member(0, "shapes"))) return false;
    if (!shape(json_.member(0, "output"), plan_.output)) return false;
    return input_types(json_.member(0, "types")) && made_type(json_.member(0, "makes"), plan_.makes) &&
           sizes() && constants(json_.member(0, "constant")) && vary(json_.member(0, "vary")) &&
           nodes(json_.member(0, "nodes"));
  }

 private:
  bool bad(const char* what) {
    runtime::fail(&error_, LEHR_BAD_ARGUMENT, "%s", what);
    return false;
  }
  bool no_memory() { return bad("there is no memory for it"); }

  bool is(std::uint32_t at, JsonKind kind) const { return at != Json::kNone && json_[at].kind == kind; }

  /// A whole number of either sign.
  bool whole(std::uint32_t at, std::int64_t& value) const {
    double number = 0;
    if (!json_.number(at, number) || number < -9007199254740992.0 || number > 9007199254740992.0)
      return false;
    value = static_cast<std::int64_t>(number);
    return static_cast<double>(value) == number;
  }

  bool shape(std::uint32_t at, Shape& shape) {
    if (!is(at, JsonKind::kArray)) return bad("a shape is no array");
    for (std::uint32_t dim = json_.first(at); dim != Json::kNone; dim = json_.after(at, dim)) {
      if (shape.rank == Shape::kMostRank) return bad("a shape has more than 8 dimensions");
      if (!whole(dim, shape.dims[shape.rank]) || shape.dims[shape.rank] < 1)
        return bad("a dimension is no positive whole number");
      ++shape.rank;
    }
    return true;
  }

  bool shapes(std::uint32_t at) {
    if (!is(at, JsonKind::kArray)) return bad("it has no 'shapes'");
    for (std::uint32_t one = json_.first(at); one != Json::kNone; one = json_.after(at, one)) {
      Shape read;
      if (!shape(one, read)) return false;
      if (plan_.shapes.size() == Plan::kMostInputs) return bad("it has more than 32 inputs");
      if (!plan_.shapes.add(read)) return no_memory();
    }
    return plan_.shapes.size() > 0 || bad("its 'shapes' are of no input");
  }

  bool type(std::uint32_t at, OrtElementType& type) {
    std::string_view word;
    type = json_.string(at, word) ? type_named(word) : OrtElementType::kUndefined;
    return type != OrtElementType::kUndefined || bad("a tensor has an unknown type");
  }

  // Without them all are of f32.
  bool input_types(std::uint32_t at) {
    for (std::uint32_t one = json_.first(at); one != Json::kNone; one = json_.after(at, one)) {
      OrtElementType read = OrtElementType::kFloat;
      if (!type(one, read)) return false;
      if (!plan_.input_types.add(read)) return no_memory();
    }
    if (at != Json::kNone)
      return plan_.input_types.size() == plan_.shapes.size() ||
             bad("its 'types' are not as many as its 'shapes'");
    for (std::size_t i = 0; i < plan_.shapes.size(); ++i)
      if (!plan_.input_types.add(OrtElementType::kFloat)) return no_memory();
    return true;
  }

  bool made_type(std::uint32_t at, OrtElementType& makes) { return at == Json::kNone || type(at, makes); }

  bool sizes() {
    bool small = plan_.output.bytes(plan_.makes) >= 0;
    for (std::size_t i = 0; i < plan_.shapes.size(); ++i)
      small = small && plan_.shapes[i].bytes(plan_.input_types[i]) >= 0;
    return small || bad("a shape has too many elements");
  }

  bool input(std::uint32_t at, std::uint32_t& input) {
    std::uint64_t number = 0;
    if (!json_.whole(at, number) || number >= plan_.shapes.size()) return bad("a number is of no input");
    input = static_cast<std::uint32_t>(number);
    return true;
  }

  bool constants(std::uint32_t at) {
    if (!plan_.constant.resize(plan_.shapes.size())) return no_memory();
    for (std::uint32_t one = json_.first(at); one != Json::kNone; one = json_.after(at, one)) {
      std::uint32_t number = 0;
      if (!input(one, number)) return false;
      plan_.constant[number] = true;
    }
    return true;
  }

  bool vary(std::uint32_t at) {
    for (std::uint32_t field = json_.first(at); field != Json::kNone; field = json_.after(at, field)) {
      PlanField read{json_[field].key, static_cast<std::uint32_t>(plan_.dimensions.size()), 0};
      for (std::uint32_t pair = json_.first(field); pair != Json::kNone; pair = json_.after(field, pair)) {
        PlanDimension dimension;
        const std::uint32_t first = json_.first(pair);
        if (first == Json::kNone || !input(first, dimension.input))
          return bad("a dimension in 'vary' is no pair of an input and a dimension");
        std::uint64_t number = 0;
        if (!json_.whole(json_.after(pair, first), number) || number >= plan_.shapes[dimension.input].rank)
          return bad("a dimension in 'vary' is none of its input's");
        dimension.dimension = static_cast<std::uint32_t>(number);
        if (!plan_.dimensions.add(dimension)) return no_memory();
        ++read.count;
      }
      if (read.name.empty() || read.count == 0) return bad("a field in 'vary' follows no dimension");
      if (!plan_.vary.add(read)) return no_memory();
    }
    return true;
  }

  bool nodes(std::uint32_t at) {
    for (std::uint32_t one = json_.first(at); one != Json::kNone; one = json_.after(at, one)) {
      PlanNode read;
      if (!node(one, read)) return false;
      if (plan_.nodes.size() == Plan::kMostNodes) return bad("it has more than 64 nodes");
      if (!add_defaults(plan_, read) || !plan_.nodes.add(read)) return no_memory();
    }
    if (plan_.nodes.size() == 0) return bad("it has no 'nodes'");
    return plan_.nodes[plan_.nodes.size() - 1].makes == plan_.makes ||
           bad("its last node makes another type than it");
  }

  bool node(std::uint32_t at, PlanNode& read) {
    std::string_view op, domain;
    if (!json_.string(json_.member(at, "op"), op) || op.empty()) return bad("a node has no 'op'");
    if (const std::uint32_t said = json_.member(at, "domain"); said != Json::kNone) {
      if (!json_.string(said, domain)) return bad("a node's 'domain' is no text");
      read.domain = domain.data();
    }
    std::int64_t version = 0;
    if (!whole(json_.member(at, "version"), version) || version < 1 || version > 10000)
      return bad("a node has no 'version'");
    read.op = op.data();
    read.version = static_cast<int>(version);
    return made_type(json_.member(at, "makes"), read.makes) && operands(json_.member(at, "inputs"), read) &&
           types(json_.member(at, "types"), read) && attributes(json_.member(at, "attributes"), read);
  }

  bool operands(std::uint32_t at, PlanNode& node) {
    node.first_operand = static_cast<std::uint32_t>(plan_.operands.size());
    for (std::uint32_t one = json_.first(at); one != Json::kNone; one = json_.after(at, one)) {
      PlanOperand operand;
      std::int64_t number = 0;
      if (is(one, JsonKind::kObject)) {
        PlanConstant constant;
        if (!small_constant(json_.member(one, "constant"), constant) ||
            !constant_shape(json_.member(one, "shape"), constant))
          return false;
        operand = {PlanOperand::Kind::kConstant, static_cast<std::uint32_t>(plan_.constants.size())};
        if (!plan_.constants.add(constant)) return no_memory();
      } else if (!whole(one, number) || number < -1 ||
                 number >= static_cast<std::int64_t>(plan_.shapes.size() + plan_.nodes.size())) {
        return bad("a node's input is neither the fused node's nor computed before it");
      } else if (number >= 0) {
        operand = {PlanOperand::Kind::kValue, static_cast<std::uint32_t>(number)};
      }
      if (!plan_.operands.add(operand)) return no_memory();
      if (++node.operands > Plan::kMostInputs) return bad("a node has more than 32 inputs");
    }
    return node.operands > 0 || bad("a node has no 'inputs'");
  }

  /// {"u8": [0, 128]} and its like; f, floats, i and ints as in attributes.
  bool small_constant(std::uint32_t at, PlanConstant& read) {
    const std::uint32_t held = json_.first(at);
    if (!is(at, JsonKind::kObject) || held == Json::kNone) return bad("a value has no type");
    const std::string_view word = json_[held].key;
    const bool is_float = word == "f" || word == "floats", is_long = word == "i" || word == "ints";
    if (!is_float && !is_long && word != "u8" && word != "s8" && word != "s32")
      return bad("a constant's type is none of f, floats, i, ints, u8, s8 and s32");
    read.type = is_float ? OrtElementType::kFloat : is_long ? OrtElementType::kInt64 : type_named(word);
    const bool is_list =
        word == "floats" || word == "ints" || (is(held, JsonKind::kArray) && word != "f" && word != "i");
    read.first = static_cast<std::uint32_t>(plan_.words.size());
    if (!is_list) return constant_element(held, read);
    if (!is(held, JsonKind::kArray)) return bad("a list of a node is none");
    for (std::uint32_t one = json_.first(held); one != Json::kNone; one = json_.after(held, one))
      if (!constant_element(one, read)) return false;
    read.shape = {1, {read.count}};
    return read.count > 0 || bad("a list of a node is empty");
  }

  /// Without one a list has one dimension, a number none.
  bool constant_shape(std::uint32_t at, PlanConstant& constant) {
    if (at == Json::kNone) return true;
    constant.shape = {};
    if (!shape(at, constant.shape)) return false;
    const std::int64_t bytes = std::int64_t{bytes_of(constant.type)} * constant.count;
    return constant.shape.bytes(constant.type) == bytes ||
           bad("a constant has another number of elements than its shape");
  }

  // Of a whole number the low bytes come first, which are those of its type.
  bool constant_element(std::uint32_t at, PlanConstant& constant) {
    const auto bytes = static_cast<std::size_t>(bytes_of(constant.type));
    std::int64_t number = 0;
    double real = 0;
    if (constant.type == OrtElementType::kFloat) {
      if (!json_.number(at, real)) return bad("a number of a node is none");
      const auto rounded = static_cast<float>(real);
      std::memcpy(&number, &rounded, sizeof rounded);
    } else {
      if (!whole(at, number)) return bad("a whole number of a node is none");
      const bool is_signed = constant.type != OrtElementType::kUint8;
      const std::int64_t over = std::int64_t{1} << (8 * (bytes < 8 ? bytes : 7) - is_signed);
      if (bytes < 8 && (number >= over || number < (is_signed ? -over : 0)))
        return bad("a constant is out of its type's range");
    }
    const std::size_t begin = constant.count++ * bytes;
    if (begin % sizeof(std::uint64_t) == 0 && !plan_.words.add(0)) return no_memory();
    std::memcpy(reinterpret_cast<char*>(plan_.words.data() + constant.first) + begin, &number, bytes);
    return true;
  }

  bool types(std::uint32_t at, PlanNode& node) {
    node.first_type = static_cast<std::uint32_t>(plan_.types.size());
    for (std::uint32_t one = json_.first(at); one != Json::kNone; one = json_.after(at, one)) {
      PlanType read{json_[one].key.data(), OrtElementType::kUndefined};
      if (!type(one, read.type)) return false;
      if (!plan_.types.add(read)) return no_memory();
      ++node.types;
    }
    return true;
  }

  bool attributes(std::uint32_t at, PlanNode& node) {
    node.first_attribute = static_cast<std::uint32_t>(plan_.attributes.size());
    for (std::uint32_t one = json_.first(at); one != Json::kNone; one = json_.after(at, one)) {
      PlanAttribute attribute{json_[one].key, {}};
      if (!value(one, attribute.value)) return false;
      if (!plan_.attributes.add(attribute)) return no_memory();
      ++node.attributes;
    }
    return true;
  }

  /// {"ints": [1, 1]} and its like.
  bool value(std::uint32_t at, PlanValue& read) {
    const std::uint32_t held = json_.first(at);
    if (!is(at, JsonKind::kObject) || held == Json::kNone) return bad("a value has no type");
    const std::string_view type = json_[held].key;
    if (type == "s") {
      read.type = OrtOpAttrType::kString;
      return json_.string(held, read.text) || bad("a text of a node is none");
    }
    if (type == "i" || type == "ints") {
      read.type = type == "i" ? OrtOpAttrType::kInt : OrtOpAttrType::kInts;
      read.first = static_cast<std::uint32_t>(plan_.ints.size());
    } else if (type == "f" || type == "floats") {
      read.type = type == "f" ? OrtOpAttrType::kFloat : OrtOpAttrType::kFloats;
      read.first = static_cast<std::uint32_t>(plan_.floats.size());
    } else {
      return bad("a value's type is none of i, ints, f, floats and s");
    }
    if (type == "i" || type == "f") return element(held, read);
    if (!is(held, JsonKind::kArray)) return bad("a list of a node is none");
    for (std::uint32_t one = json_.first(held); one != Json::kNone; one = json_.after(held, one))
      if (!element(one, read)) return false;
    return true;
  }

  bool element(std::uint32_t at, PlanValue& read) {
    ++read.count;
    if (read.type == OrtOpAttrType::kInt || read.type == OrtOpAttrType::kInts) {
      std::int64_t number = 0;
      if (!whole(at, number)) return bad("a whole number of a node is none");
      return plan_.ints.add(number) || no_memory();
    }
    double number = 0;
    if (!json_.number(at, number)) return bad("a number of a node is none");
    return plan_.floats.add(static_cast<float>(number)) || no_memory();
  }

  Plan& plan_;
  const Json& json_;
  lehr_error& error_;
};

}  // namespace

const std::int64_t* Plan::ints_of(const PlanNode& node, std::string_view name, std::size_t& count) const {
  const PlanValue* const value = value_of(*this, node, name, OrtOpAttrType::kInts);
  count = value == nullptr ? 0 : value->count;
  return count == 0 ? nullptr : ints.data() + value->first;
}

std::int64_t Plan::int_of(const PlanNode& node, std::string_view name, std::int64_t otherwise) const {
  const PlanValue* const value = value_of(*this, node, name, OrtOpAttrType::kInt);
  return value == nullptr ? otherwise : ints[value->first];
}

std::string_view Plan::text_of(const PlanNode& node, std::string_view name,
                               std::string_view otherwise) const {
  const PlanValue* const value = value_of(*this, node, name, OrtOpAttrType::kString);
  return value == nullptr ? otherwise : value->text;
}

bool read_plan(Plan& plan, lehr_error& error) {
  return PlanReader(plan, error).read();
}

}  // namespace lehr::onnxruntime
