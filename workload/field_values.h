// Kinds of values that a field may have: their text, and the distance of two values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "workload/field.h"
#include "workload/workload.h"

namespace lehr {

using Pair = std::array<std::int64_t, 2>;     ///< vertical, horizontal
using Padding = std::array<std::int64_t, 4>;  ///< top, bottom, left, right

void append_value(std::string& text, std::int64_t size);
void append_value(std::string& text, float number);
void append_value(std::string& text, const Operand& operand);
void append_value(std::string& text, DType type);
void append_value(std::string& text, ImageLayout layout);
void append_value(std::string& text, Math math);
void append_value(std::string& text, ZeroPoint zero);
void append_value(std::string& text, const Epilogue& epilogue);
void append_value(std::string& text, const Pair& pair);
void append_value(std::string& text, const Padding& padding);

/// Read the values as Field::read does. Sizes may be sums: n=4096+1024 is the product of layers that share A
/// and have their B side by side. One number stands for both numbers of a pair and for all sides of a
/// padding; two numbers stand for the vertical and the horizontal sides.
void read_value(const Field& field, std::string_view name, std::string_view value, std::int64_t& size);
void read_value(const Field& field, std::string_view name, std::string_view value, float& number);
void read_value(const Field& field, std::string_view name, std::string_view value, Operand& operand);
void read_value(const Field& field, std::string_view name, std::string_view value, DType& type);
void read_value(const Field& field, std::string_view name, std::string_view value, ImageLayout& layout);
void read_value(const Field& field, std::string_view name, std::string_view value, Math& math);
void read_value(const Field& field, std::string_view name, std::string_view value, ZeroPoint& zero);
void read_value(const Field& field, std::string_view name, std::string_view value, Epilogue& epilogue);
void read_value(std::string_view name, std::string_view value, const std::array<std::int64_t*, 2>& pair);
void read_value(std::string_view name, std::string_view value, const std::array<std::int64_t*, 4>& padding);

/// Return distances as Field::distance does. A scale, a zero point and whether an operand is constant count
/// like an epilogue. Numbers that belong together count with their mean. Numbers of a padding are increased
/// by one first, because they may be 0.
double value_distance(std::int64_t a, std::int64_t b);
double value_distance(float a, float b);
double value_distance(const Operand& a, const Operand& b);
double value_distance(DType a, DType b);
double value_distance(ImageLayout a, ImageLayout b);
double value_distance(Math a, Math b);
double value_distance(ZeroPoint a, ZeroPoint b);
double value_distance(const Epilogue& a, const Epilogue& b);
double value_distance(const Pair& a, const Pair& b);
double value_distance(const Padding& a, const Padding& b);

}  // namespace lehr
