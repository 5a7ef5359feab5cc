// Rules for operators on sizes, whose results are known before the network runs.
#include <algorithm>
#include <cmath>

#include "network/shape_lists.h"

namespace lehr::rules {
namespace {

// Applies the function to two short lists, element by element. A list of one element is broadcast.
template <typename Function>
std::optional<Shape> computed(const ValueFacts& a, const ValueFacts& b, Function function) {
  if (!a.wholes || !b.wholes || a.wholes->empty() || b.wholes->empty()) return std::nullopt;
  const std::size_t count = std::max(a.wholes->size(), b.wholes->size());
  if ((a.wholes->size() != count && a.wholes->size() != 1) ||
      (b.wholes->size() != count && b.wholes->size() != 1))
    return std::nullopt;
  Shape result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Dim &x = (*a.wholes)[a.wholes->size() == 1 ? 0 : i],
              &y = (*b.wholes)[b.wholes->size() == 1 ? 0 : i];
    if (x && y) result[i] = function(*x, *y);
  }
  return result;
}

Dim checked_difference(std::int64_t x, std::int64_t y) {
  std::int64_t result;
  return __builtin_sub_overflow(x, y, &result) ? std::nullopt : Dim(result);
}

Dim checked_quotient(std::int64_t x, std::int64_t y) {
  return y == 0 || (y == -1 && x == INT64_MIN) ? std::nullopt : Dim(x / y);
}

}  // namespace

void arithmetic(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].shape = broadcast_all(site, 0);
  const std::string_view op = site.node.op;
  const auto fill = [&](Dim (*function)(std::int64_t, std::int64_t)) {
    site.outputs[0].wholes = computed(site.in(0), site.in(1), function);
  };
  if (op == "Add") fill(&checked_sum);
  if (op == "Sub") fill(&checked_difference);
  if (op == "Mul") fill(&checked_product);
  if (op == "Div") fill(&checked_quotient);
  if (op == "Max") fill([](std::int64_t x, std::int64_t y) { return Dim(std::max(x, y)); });
  if (op == "Min") fill([](std::int64_t x, std::int64_t y) { return Dim(std::min(x, y)); });
}

void comparison(ShapeSite& site) {
  site.outputs[0].type = OnnxType::kBool;
  site.outputs[0].shape = broadcast_all(site, 0);
  if (site.node.op == "Equal")
    site.outputs[0].wholes =
        computed(site.in(0), site.in(1), [](std::int64_t x, std::int64_t y) { return Dim(x == y); });
}

void where(ShapeSite& site) {
  site.outputs[0].type = site.in(1).type;
  site.outputs[0].shape = broadcast_all(site, 0);
  const auto &chosen = site.in(0).wholes, &yes = site.in(1).wholes, &no = site.in(2).wholes;
  if (!chosen || !yes || !no) return;
  const std::size_t count = std::max({chosen->size(), yes->size(), no->size()});
  Shape result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [&](const Shape& list) {
      return list.size() == 1 ? list[0] : i < list.size() ? list[i] : Dim();
    };
    if (at(*chosen)) result[i] = *at(*chosen) != 0 ? at(*yes) : at(*no);
  }
  site.outputs[0].wholes = result;
}

void shape_itself(ShapeSite& site) {
  site.outputs[0].type = OnnxType::kS64;
  const auto& shape = site.in(0).shape;
  if (!shape) return;
  const auto count = static_cast<std::int64_t>(shape->size());
  const Taken part = taken(count, site.node.whole("start", 0), site.node.whole("end", count), 1);
  site.outputs[0].shape = Shape{part.count};
  site.outputs[0].wholes = Shape(shape->begin() + part.begin, shape->begin() + part.begin + part.count);
}

void size_itself(ShapeSite& site) {
  site.outputs[0] = {OnnxType::kS64, Shape{}, {}, nullptr, false};
  if (site.in(0).shape)
    site.outputs[0].wholes = Shape{product(*site.in(0).shape, 0, site.in(0).shape->size())};
}

void constant(ShapeSite& site) {
  ValueFacts& output = site.outputs[0];
  const OnnxAttribute* value = nullptr;
  for (const char* const name : {"value", "sparse_value", "value_float", "value_floats"})
    if (value == nullptr) value = site.node.attribute(name);
  if (value && value->tensor) {
    output.type = value->tensor->type;
    output.constant = &*value->tensor;
    output.shape = Shape(value->tensor->dims.begin(), value->tensor->dims.end());
    if (const auto wholes = wholes_of(*value->tensor, kMostWholes))
      output.wholes = Shape(wholes->begin(), wholes->end());
  } else if (const OnnxAttribute* const one = site.node.attribute("value_int")) {
    output = {OnnxType::kS64, Shape{}, Shape{one->whole}, nullptr, false};
  } else if (const OnnxAttribute* const several = site.node.attribute("value_ints")) {
    output = {OnnxType::kS64, Shape{static_cast<std::int64_t>(several->wholes.size())},
              Shape(several->wholes.begin(), several->wholes.end()), nullptr, false};
  }
}

void constant_of_shape(ShapeSite& site) {
  ValueFacts& output = site.outputs[0];
  const OnnxAttribute* const value = site.node.attribute("value");
  output.type = value && value->tensor ? value->tensor->type : OnnxType::kF32;
  output.shape = site.in(0).wholes;
  if (!output.shape || !value || !value->tensor) return;
  const auto element = wholes_of(*value->tensor, 1);
  const Dim count = product(*output.shape, 0, output.shape->size());
  if (element && element->size() == 1 && count && *count >= 0 && *count <= std::int64_t{kMostWholes})
    output.wholes = Shape(static_cast<std::size_t>(*count), Dim((*element)[0]));
}

void range(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].shape = Shape(1);
  const auto begin = known(site.in(0)), end = known(site.in(1)), step = known(site.in(2));
  if (!begin || !end || !step || begin->size() != 1 || end->size() != 1 || step->size() != 1 ||
      (*step)[0] == 0)
    return;
  const double count = std::ceil((static_cast<double>((*end)[0]) - static_cast<double>((*begin)[0])) /
                                 static_cast<double>((*step)[0]));
  if (count > 1e15) return;
  (*site.outputs[0].shape)[0] = static_cast<std::int64_t>(std::max(count, 0.0));
  if (count > static_cast<double>(kMostWholes)) return;
  site.outputs[0].wholes.emplace();
  for (double i = 0; i < count; ++i)
    site.outputs[0].wholes->push_back((*begin)[0] + static_cast<std::int64_t>(i) * (*step)[0]);
}

}  // namespace lehr::rules
