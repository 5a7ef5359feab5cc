#include "plugin/plan.h"

#include "plugin/defaults.h"
#include "runtime/message.h"

namespace lehr::onnxruntime {

using runtime::Json;
using runtime::JsonKind;

std::int64_t Shape::bytes() const {
  std::int64_t bytes = sizeof(float);
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
    return constants(json_.member(0, "constant")) && vary(json_.member(0, "vary")) &&
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
    return shape.bytes() >= 0 || bad("a shape has too many elements");
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
    return plan_.nodes.size() > 0 || bad("it has no 'nodes'");
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
    return operands(json_.member(at, "inputs"), read) && types(json_.member(at, "types"), read) &&
           attributes(json_.member(at, "attributes"), read);
  }

  bool operands(std::uint32_t at, PlanNode& node) {
    node.first_operand = static_cast<std::uint32_t>(plan_.operands.size());
    for (std::uint32_t one = json_.first(at); one != Json::kNone; one = json_.after(at, one)) {
      PlanOperand operand;
      std::int64_t number = 0;
      if (is(one, JsonKind::kObject)) {
        PlanValue constant;
        if (!value(json_.member(one, "constant"), constant)) return false;
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

  bool types(std::uint32_t at, PlanNode& node) {
    constexpr struct {
      std::string_view name;
      OrtElementType type;
    } kTypes[] = {{"f32", OrtElementType::kFloat},  {"f16", OrtElementType::kFloat16},
                  {"f64", OrtElementType::kDouble}, {"s32", OrtElementType::kInt32},
                  {"s64", OrtElementType::kInt64},  {"bool", OrtElementType::kBool}};
    node.first_type = static_cast<std::uint32_t>(plan_.types.size());
    for (std::uint32_t one = json_.first(at); one != Json::kNone; one = json_.after(at, one)) {
      std::string_view said;
      PlanType type{json_[one].key.data(), OrtElementType::kUndefined};
      if (json_.string(one, said))
        for (const auto& known : kTypes)
          if (known.name == said) type.type = known.type;
      if (type.type == OrtElementType::kUndefined) return bad("a node has an unknown type");
      if (!plan_.types.add(type)) return no_memory();
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
