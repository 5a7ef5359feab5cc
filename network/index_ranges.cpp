#include "network/index_ranges.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace lehr {
namespace {

/// Bounds that a value must lie within.
struct Range {
  double low = -INFINITY, high = INFINITY;
};

Range both(Range a, Range b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

/// An input that indexes elements of another input, the table, along an axis. `axis` is the default for a
/// node without this attribute.
struct Index {
  std::string_view op;
  std::size_t index, table;
  std::int64_t axis;
};
constexpr Index kIndices[] = {{"Gather", 1, 0, 0},
                              {"GatherElements", 1, 0, 0},
                              {"ScatterElements", 1, 0, 0},
                              {"GatherBlockQuantized", 1, 0, 0},
                              {"EmbedLayerNormalization", 0, 2, 0},
                              {"EmbedLayerNormalization", 1, 4, 0},
                              {"EmbedLayerNormalization", 8, 3, 0}};
/// An input that is a number of elements or copies, which should be small and above 0.
struct Size {
  std::string_view op;
  std::size_t input;
};
constexpr Size kSizes[] = {{"TopK", 1}, {"Expand", 1}, {"Tile", 1}, {"ConstantOfShape", 0}};
constexpr Range kSize = {1, 2};

/// Operators whose output consists of elements of their first input.
constexpr std::string_view kMoving[] = {"Identity",  "Reshape",        "Squeeze", "Unsqueeze", "Flatten",
                                        "Transpose", "Slice",          "Expand",  "Tile",      "Split",
                                        "Gather",    "GatherElements", "Pad",     "Floor",     "ReduceMax",
                                        "ReduceMin", "Ceil",           "Round"};

class Walk {
 public:
  Walk(const OnnxModel& model, const GraphShapes& shapes) : model_(model), shapes_(shapes) {
    for (const OnnxNode& node : model.nodes)
      for (const std::string_view output : node.outputs) makers_[output] = &node;
  }

  /// Goes from the last node to the first, so that all readers of a value come before the node that makes it.
  std::unordered_map<std::string_view, Range> run() {
    for (std::size_t i = model_.nodes.size(); i-- > 0;) {
      const OnnxNode& node = model_.nodes[i];
      add_needs(node);
      for (const std::string_view output : node.outputs)
        if (const auto found = needs_.find(output); found != needs_.end()) pass(node, Range(found->second));
    }
    return std::move(needs_);
  }

 private:
  void need(std::string_view value, Range range) {
    if (value.empty() || shapes_.of(value).fixed) return;
    const auto [at, added] = needs_.try_emplace(value, range);
    if (!added) at->second = both(at->second, range);
  }

  Dim size_of(std::string_view value, std::int64_t axis) const {
    const auto& shape = shapes_.of(value).shape;
    if (!shape) return {};
    const auto rank = static_cast<std::int64_t>(shape->size());
    if (axis < 0) axis += rank;
    return axis >= 0 && axis < rank ? (*shape)[static_cast<std::size_t>(axis)] : Dim();
  }

  void add_needs(const OnnxNode& node) {
    const auto within = [&](std::size_t input, Dim size) {
      if (size && *size > 0)
        need(node.input(input), {static_cast<double>(-*size), static_cast<double>(*size - 1)});
    };
    for (const Index& each : kIndices)
      if (node.op == each.op)
        within(each.index, size_of(node.input(each.table), node.whole("axis", each.axis)));
    for (const Size& each : kSizes)
      if (node.op == each.op) need(node.input(each.input), kSize);
    if (node.op != "GatherND" && node.op != "ScatterND") return;
    // An index into several dimensions has one element per dimension.
    const std::int64_t first = node.whole("batch_dims", 0);
    for (std::int64_t i = 0; i < size_of(node.input(1), -1).value_or(0) && i < 8; ++i)
      within(1, size_of(node.input(0), first + i));
  }

  /// Returns the bounds of the elements of a short constant.
  std::optional<Range> constant(std::string_view name) const {
    constexpr std::int64_t kMost = 4096;
    const OnnxTensor* const tensor = shapes_.of(name).constant;
    if (tensor == nullptr || element_count(*tensor) < 1) return std::nullopt;
    const auto between = [](const auto& elements) {
      const auto [low, high] = std::ranges::minmax(elements);
      return Range{static_cast<double>(low), static_cast<double>(high)};
    };
    if (const auto floats = floats_of(*tensor, kMost)) return between(*floats);
    if (const auto wholes = wholes_of(*tensor, kMost)) return between(*wholes);
    return std::nullopt;
  }
  /// Returns the number if all elements of a constant are equal.
  std::optional<double> number(std::string_view name) const {
    const std::optional<Range> range = constant(name);
    return range && range->low == range->high ? std::optional(range->low) : std::nullopt;
  }

  /// Passes the bounds of a node's output on to its inputs.
  void pass(const OnnxNode& node, Range range) {
    const std::string_view op = node.op, x = node.input(0), y = node.input(1);
    if (std::ranges::find(kMoving, op) != std::end(kMoving)) return need(x, range);
    if (op == "Cast") return is_to_bool(node) ? void() : need(x, range);
    if (op == "Clip") return need(x, unclipped(range, number(y), number(node.input(2))));
    if (op == "Where") return pass_where(node, range);
    if (op == "Concat" || op == "Max" || op == "Min") return pass_all(node, range);
    if (op == "Neg") return need(x, {-range.high, -range.low});
    if (op == "Abs") return need(x, {-range.high, range.high});
    if (op == "Mod") return pass_mod(node, range);
    if (op == "CumSum")
      return pass_sum(x, range, size_of(x, static_cast<std::int64_t>(number(y).value_or(-1))));
    if (node.inputs.size() == 2) pass_arithmetic(node, range);
  }

  static bool is_to_bool(const OnnxNode& node) {
    return node.whole("to", 0) == static_cast<std::int64_t>(OnnxType::kBool);
  }

  /// Returns the range without the bounds that the node ensures itself, because its results lie between `low`
  /// and `high`.
  static Range unclipped(Range range, std::optional<double> low, std::optional<double> high) {
    if (low && *low >= range.low) range.low = -INFINITY;
    if (high && *high <= range.high) range.high = INFINITY;
    return range;
  }

  void pass_all(const OnnxNode& node, Range range) {
    for (const std::string_view input : node.inputs)
      if (const auto bound = number(input))
        range = unclipped(range, node.op == "Max" ? bound : std::nullopt,
                          node.op == "Min" ? bound : std::nullopt);
    for (const std::string_view input : node.inputs) need(input, range);
  }

  void pass_sum(std::string_view x, Range range, Dim count) {
    const auto terms = static_cast<double>(count.value_or(1));
    if (terms > 0) need(x, {range.low / terms, range.high / terms});
  }

  /// Passes the bounds on to the choice that has elements of an input, if the other choice is computed: in
  /// `ids < 0 ? ids + n : ids` only the second one counts. In all other cases both choices get the bounds.
  void pass_where(const OnnxNode& node, Range range) {
    const std::string_view one = origin(node.input(1)), other = origin(node.input(2));
    if (!one.empty() || other.empty()) need(node.input(1), range);
    if (!other.empty() || one.empty()) need(node.input(2), range);
  }

  /// Returns the input whose elements a value has; "" if the value is computed.
  std::string_view origin(std::string_view value) const {
    for (auto maker = makers_.find(value); maker != makers_.end(); maker = makers_.find(value)) {
      const OnnxNode& node = *maker->second;
      if (std::ranges::find(kMoving, node.op) == std::end(kMoving) && node.op != "Cast") return {};
      value = node.input(0);
    }
    return shapes_.of(value).fixed ? std::string_view() : value;
  }

  void pass_mod(const OnnxNode& node, Range range) {
    const std::optional<double> divisor = number(node.input(1));
    if (!divisor || *divisor <= 0) return need(node.input(0), range);
    const bool as_in_c = node.whole("fmod", 0) != 0;
    need(node.input(0), unclipped(range, as_in_c ? 1 - *divisor : 0, *divisor - 1));
  }

  void pass_arithmetic(const OnnxNode& node, Range range) {
    const std::string_view op = node.op, x = node.input(0), y = node.input(1);
    const std::optional<Range> left = constant(x), right = constant(y);
    const Range above = {std::max(range.low, 0.0), range.high};
    if (op == "Add" && (left || right)) {
      const Range by = left ? *left : *right;
      need(left ? y : x, {range.low - by.low, range.high - by.high});
    } else if (op == "Add") {
      for (const std::string_view each : {x, y}) need(each, {above.low / 2, above.high / 2});
    } else if (op == "Sub" && right) {
      need(x, {range.low + right->high, range.high + right->low});
    } else if (op == "Sub" && left) {
      need(y, {left->high - range.high, left->low - range.low});
    } else if (op == "Sub") {
      need(x, above);
      need(y, {0, std::max(0.0, -range.low)});
    } else if (op == "Mul" && (left || right)) {
      scale(left ? y : x, range, 1 / number(left ? x : y).value_or(0));
    } else if (op == "Mul") {
      for (const std::string_view each : {x, y})
        need(each, {std::sqrt(above.low), std::sqrt(std::max(above.high, 0.0))});
    } else if (op == "Div" && right) {
      scale(x, range, number(y).value_or(0));
    }
  }

  void scale(std::string_view value, Range range, double by) {
    if (!std::isfinite(by) || by == 0) return;
    need(value, by > 0 ? Range{range.low * by, range.high * by} : Range{range.high * by, range.low * by});
  }

  const OnnxModel& model_;
  const GraphShapes& shapes_;
  std::unordered_map<std::string_view, const OnnxNode*> makers_;
  std::unordered_map<std::string_view, Range> needs_;
};

/// Returns the least and the greatest integer to draw an input from. Negative integers are included only if
/// the range has no others. Returns nullopt for a range without bounds or without integers.
std::optional<std::pair<std::int64_t, std::int64_t>> wholes_in(Range range) {
  // kUsual: width of a range without an upper bound
  constexpr double kMost = 0x1p31, kUsual = 7;
  if (range.low == -INFINITY && range.high == INFINITY) return std::nullopt;
  if (range.low == -INFINITY) range.low = std::min(0.0, range.high);
  if (range.high == INFINITY) range.high = std::max(range.low, 0.0) + kUsual;
  if (range.low < 0 && range.high >= 0) range.low = 0;
  const double low = std::max(std::ceil(range.low), -kMost), high = std::min(std::floor(range.high), kMost);
  if (!(low <= high)) return std::nullopt;
  return std::pair(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high));
}

}  // namespace

std::map<std::string, std::pair<std::int64_t, std::int64_t>> index_ranges(const OnnxModel& model,
                                                                          const GraphShapes& shapes) {
  const std::unordered_map<std::string_view, Range> needs = Walk(model, shapes).run();
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges;
  for (const OnnxValueInfo& input : model.inputs)
    if (const auto found = needs.find(input.name); found != needs.end())
      if (const auto wholes = wholes_in(found->second)) ranges[std::string(input.name)] = *wholes;
  return ranges;
}

}  // namespace lehr
