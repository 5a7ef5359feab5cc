#include "workload/field_values.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

std::vector<std::int64_t> numbers_of(std::string_view name, std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view part : split(text, 'x')) {
    const auto number = parse_int(part);
    if (!number) throw_user("{}={}: '{}' is not a whole number", name, text, part);
    numbers.push_back(*number);
  }
  return numbers;
}

template <typename Value>
double kind_distance(const Value& a, const Value& b) {
  return a == b ? 0 : kOtherKind;
}

template <std::size_t kCount>
double mean_distance(const std::array<std::int64_t, kCount>& a, const std::array<std::int64_t, kCount>& b,
                     std::int64_t more) {
  double sum = 0;
  for (std::size_t i = 0; i < kCount; ++i) sum += value_distance(a[i] + more, b[i] + more);
  return sum / static_cast<double>(kCount);
}

}  // namespace

void append_value(std::string& text, std::int64_t size) {
  const fmt::format_int digits(size);
  text.append(digits.data(), digits.size());
}

void append_value(std::string& text, float number) {
  fmt::format_to(std::back_inserter(text), "{}", number);
}

void append_value(std::string& text, const Operand& operand) {
  text += to_text(operand);
}

void append_value(std::string& text, DType type) {
  text += name_of(type);
}

void append_value(std::string& text, ImageLayout layout) {
  text += layout == ImageLayout::kNchw ? "nchw" : "nhwc";
}

void append_value(std::string& text, Math math) {
  text += name_of(math);
}

void append_value(std::string& text, ZeroPoint zero) {
  text += name_of(zero);
}

void append_value(std::string& text, const Epilogue& epilogue) {
  text += to_text(epilogue);
}

void append_value(std::string& text, const Pair& pair) {
  fmt::format_to(std::back_inserter(text), "{}x{}", pair[0], pair[1]);
}

void append_value(std::string& text, const Padding& padding) {
  fmt::format_to(std::back_inserter(text), "{}", fmt::join(padding, "x"));
}

void read_value(const Field& field, std::string_view name, std::string_view value, std::int64_t& size) {
  const auto number = parse_sum(value);
  if (!number && field.unquoted) throw_user("{}={} is not a whole number", name, value);
  if (!number) throw_user("'{}={}' is not a whole number", name, value);
  size = *number;
}

void read_value(const Field&, std::string_view name, std::string_view value, float& number) {
  const auto parsed = parse_number(value);
  if (!parsed) throw_user("{}={} is not a finite number", name, value);
  number = *parsed;
}

void read_value(const Field&, std::string_view, std::string_view value, Operand& operand) {
  operand = parse_operand(value);
}

void read_value(const Field& field, std::string_view, std::string_view value, DType& type) {
  type = field.drops_layout ? parse_operand(value).type : parse_operand_type(value);
}

void read_value(const Field&, std::string_view, std::string_view value, ImageLayout& layout) {
  if (value != "nchw" && value != "nhwc") throw_user("unknown layout '{}'; known are nchw, nhwc", value);
  layout = value == "nchw" ? ImageLayout::kNchw : ImageLayout::kNhwc;
}

void read_value(const Field&, std::string_view, std::string_view value, Math& math) {
  math = parse_math(value);
}

void read_value(const Field&, std::string_view, std::string_view value, ZeroPoint& zero) {
  zero = parse_zero_point(value);
}

void read_value(const Field&, std::string_view, std::string_view value, Epilogue& epilogue) {
  epilogue = parse_epilogue(value);
}

void read_value(std::string_view name, std::string_view value, const std::array<std::int64_t*, 2>& pair) {
  const std::vector<std::int64_t> numbers = numbers_of(name, value);
  if (numbers.size() > 2) throw_user("{}={}: write one number, or two as in 2x1", name, value);
  *pair[0] = numbers.front();
  *pair[1] = numbers.back();
}

void read_value(std::string_view, std::string_view value, const std::array<std::int64_t*, 4>& padding) {
  const std::vector<std::int64_t> n = numbers_of("pad", value);
  if (n.size() != 1 && n.size() != 2 && n.size() != 4)
    throw_user("pad={}: write one number, two (vertical x horizontal) or four (top x bottom x left x right)",
               value);
  const std::size_t vertical = 0, horizontal = n.size() / 2;
  *padding[0] = n[vertical];
  *padding[1] = n[n.size() == 4 ? 1 : vertical];
  *padding[2] = n[horizontal];
  *padding[3] = n[n.size() == 4 ? 3 : horizontal];
}

double value_distance(std::int64_t a, std::int64_t b) {
  return std::fabs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
}

double value_distance(float a, float b) {
  return a == b ? 0 : kOtherEpilogue;
}

double value_distance(const Operand& a, const Operand& b) {
  if (a.type != b.type || a.layout != b.layout) return kOtherKind;
  return a.constant == b.constant ? 0 : kOtherEpilogue;
}

double value_distance(DType a, DType b) {
  return kind_distance(a, b);
}

double value_distance(ImageLayout a, ImageLayout b) {
  return kind_distance(a, b);
}

double value_distance(Math a, Math b) {
  return kind_distance(a, b);
}

double value_distance(ZeroPoint a, ZeroPoint b) {
  return a == b ? 0 : kOtherEpilogue;
}

double value_distance(const Epilogue& a, const Epilogue& b) {
  return a == b ? 0 : kOtherEpilogue;
}

double value_distance(const Pair& a, const Pair& b) {
  return mean_distance(a, b, 0);
}

double value_distance(const Padding& a, const Padding& b) {
  return mean_distance(a, b, 1);
}

}  // namespace lehr
