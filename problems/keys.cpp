#include "problems/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

bool is_among(std::string_view word, std::string_view words) {
  const std::vector<std::string_view> known = split(words, ' ');
  return std::ranges::find(known, word) != known.end();
}

template <typename Row>
const Row* find_row(std::span<const Row> rows, std::string_view name) {
  const auto found = std::ranges::find_if(rows, [&](const Row& row) { return is_among(name, row.names); });
  return found == rows.end() ? nullptr : &*found;
}

/// Throws unless the limit accepts the value. Values are compared as text and as numbers.
void check(const Limit& limit, const GivenValue& argument) {
  if (limit.only.empty() || is_among(argument.value, limit.only)) return;
  const auto number = parse_number(argument.value);
  for (const std::string_view each : split(limit.only, ' '))
    if (number && parse_number(each) == number) return;
  throw_user("{} {}", argument.shown, limit.why);
}

void refuse_lists(const GivenValue& argument) {
  const bool range = std::isdigit(static_cast<unsigned char>(argument.value[0])) != 0 &&
                     argument.value.find(':') != std::string::npos;
  if (range || argument.value.find(',') != std::string::npos)
    throw_user("{} is several: write a line for each", argument.shown);
}

bool is_transposed(std::string_view text) {
  const std::string word = lower_case(text);
  if (word == "1" || word == "true" || word == "t") return true;
  if (word == "0" || word == "false" || word == "n") return false;
  throw_user("'{}' does not say whether a matrix is transposed; write 1, true, T or 0, false, N", text);
}

/// Returns a type or a layout as it is written in a workload's text.
std::string our_word(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"i8", "s8"}, {"*", "f32"},    {"fe4m3", "e4m3"}, {"fe5m2", "e5m2"},
      {"t", "row"}, {"n", "column"}, {"col", "column"}};
  const std::string word = lower_case(text);
  for (const auto& [theirs, ours] : kWords)
    if (word == theirs) return std::string(ours);
  return word;
}

struct Tensor {
  std::string type, layout;
};

/// Removes the type and layout of a tensor from the fields, and returns them. They are one field like
/// "f16:row", or separate fields.
Tensor taken_tensor(Fields& fields, const std::string& name) {
  const std::string text = taken(fields, name), layout = taken(fields, name + "_layout");
  const std::size_t colon = std::min(text.find(':'), text.size());
  return {our_word(std::string_view(text).substr(0, colon)),
          our_word(colon < text.size() ? std::string_view(text).substr(colon + 1) : layout)};
}

/// Sets missing types of tensors according to the given types.
void complete_types(Fields& fields, std::span<Tensor> tensors) {
  const std::string dtype = our_word(taken(fields, "dtype"));
  if (tensors[0].type == "tf32") fields["math"] = "tf32";
  for (Tensor& tensor : tensors) {
    if (tensor.type == "tf32") tensor.type = "f32";
    if (tensor.type.empty() && &tensor == &tensors.back())
      tensor.type = name_of(output_for(parse_operand_type(tensors[0].type)));
    if (tensor.type.empty()) tensor.type = dtype.empty() ? "f32" : dtype;
  }
  fields.try_emplace("accum", name_of(sums_for(parse_operand_type(tensors[0].type))));
}

void complete_product(Fields& fields) {
  static const std::string kNames[] = {"a", "b", "c"};
  Tensor tensors[] = {taken_tensor(fields, "a"), taken_tensor(fields, "b"), taken_tensor(fields, "c")};
  complete_types(fields, tensors);
  const bool by_rows = tensors[2].layout != "column";
  for (std::size_t i = 0; i < std::size(tensors); ++i) {
    if (const std::string trans = taken(fields, kNames[i] + "_trans"); !trans.empty())
      tensors[i].layout = is_transposed(trans) == by_rows ? "column" : "row";
    fields[kNames[i]] = tensors[i].type + (tensors[i].layout.empty() ? "" : ":") + tensors[i].layout;
  }
}

void complete_convolution(Fields& fields) {
  Tensor tensors[] = {taken_tensor(fields, "x"), taken_tensor(fields, "f"), taken_tensor(fields, "y")};
  complete_types(fields, tensors);
  for (const Tensor& tensor : tensors) {
    if (tensor.layout.empty()) continue;
    const std::string& layout = fields.try_emplace("layout", tensor.layout).first->second;
    if (tensor.layout != layout)
      throw_user("layout {} differs from {}: filters and output follow the input's", tensor.layout, layout);
  }
  for (std::size_t i = 0; i < std::size(tensors); ++i) fields[std::string(1, "xfy"[i])] = tensors[i].type;
  for (const char* name : {"pad", "stride", "dilation"})
    if (const std::string tall = taken(fields, std::string(name) + "_h"); !tall.empty())
      fields[name] = tall + "x" + taken(fields, std::string(name) + "_w");
  if (const auto r = fields.find("r"); r != fields.end()) fields.try_emplace("s", r->second);
}

}  // namespace

Fields read_keys(const Notation& notation, const GivenValues& arguments) {
  std::map<std::string_view, const GivenValue*> given;
  for (const GivenValue& argument : arguments) {
    const Key* key = find_row(notation.keys, argument.name);
    const Limit* limit = key ? nullptr : find_row(notation.limits, argument.name);
    if (!key && !limit && notation.thing.empty()) continue;
    if (!key && !limit) throw_user("'{}' is no {}", argument.shown, notation.thing);
    const bool is_read = key || !limit->only.empty();
    const auto [first, is_new] = given.emplace(key       ? key->names
                                               : is_read ? limit->names
                                                         : std::string_view(argument.name),
                                               &argument);
    if (!is_new) throw_user("'{}' and '{}' say the same twice", first->second->shown, argument.shown);
    if (is_read) refuse_lists(argument);
    if (limit) check(*limit, argument);
  }
  Fields fields;
  for (const Key& key : notation.keys)
    if (const auto found = given.find(key.names); found != given.end() || !key.usual.empty())
      fields[std::string(key.field)] = found != given.end() ? found->second->value : key.usual;
  return fields;
}

Workload workload_of(std::string_view op, Fields fields) {
  op == "gemm" ? complete_product(fields) : complete_convolution(fields);
  std::string text(op);
  for (const auto& [name, value] : fields) text += fmt::format(" {}={}", name, value);
  return parse_workload(text);
}

GivenValues options_of(std::span<const std::string_view> words, std::vector<std::string_view>& others) {
  GivenValues options;
  for (const std::string_view word : words) {
    const std::size_t equals = word.find('=');
    if (word.starts_with("--") && equals < word.size() - 1)
      options.push_back(
          {std::string(word.substr(2, equals - 2)), std::string(word.substr(equals + 1)), std::string(word)});
    else
      others.push_back(word);
  }
  return options;
}

std::string taken(Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : std::move(fields.extract(found).mapped());
}

std::optional<std::int64_t> size_in(const Fields& fields, std::string_view name, std::int64_t least) {
  constexpr std::int64_t kMostSize = (std::int64_t{1} << 31) - 1;
  const auto found = fields.find(name);
  if (found == fields.end()) return std::nullopt;
  const std::optional<std::int64_t> size = parse_int(found->second);
  if (!size || *size < least || *size > kMostSize)
    throw_user("{}={} is out of range: it is a whole number from {} to {}", name, found->second, least,
               kMostSize);
  return size;
}

}  // namespace lehr
