#include "network/row_regions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "network/problems.h"
#include "network/row_operators.h"
#include "workload/rowwise/row_expression.h"

namespace lehr {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// A tensor that is divided into rows. A row consists of all dimensions from `axis` on.
struct RowSpace {
  Sizes dims;
  std::size_t axis = 0;
  friend bool operator==(const RowSpace&, const RowSpace&) = default;
};
std::int64_t rows_of(const RowSpace& space) {
  return product(space.dims, 0, space.axis);
}
std::int64_t columns_of(const RowSpace& space) {
  return product(space.dims, space.axis, space.dims.size());
}
/// Returns the shape of a tensor with one value per row.
Sizes row_shape(const RowSpace& space) {
  Sizes sizes = space.dims;
  std::fill(sizes.begin() + static_cast<std::ptrdiff_t>(space.axis), sizes.end(), 1);
  return sizes;
}

/// Which line of a broadcast tensor a row reads. Each leading dimension of the tensor is either whole (as
/// large as that of the rows) or 1. Dimensions of one kind must be neighbours, so there are at most two
/// groups. Row r then reads line r, line 0, line r / last (the whole dimensions come first) or line r % last.
struct Lines {
  bool first_whole = false, last_whole = false;
  std::int64_t last = 1;  ///< product of the rows' dimensions in the last group
};
/// Returns how rows of the dimensions `whole` read a tensor of these sizes, by their first `count`
/// dimensions. Returns nullopt if there is another size or a third group.
std::optional<Lines> lines_of(const Sizes& sizes, const Sizes& whole, std::size_t count) {
  std::optional<Lines> lines;
  bool turned = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (whole[i] == 1 && sizes[i] == 1) continue;
    if (sizes[i] != whole[i] && sizes[i] != 1) return std::nullopt;
    const bool is_whole = sizes[i] == whole[i];
    if (!lines) {
      lines = Lines{is_whole, is_whole, 1};
    } else if (lines->last_whole != is_whole) {
      if (turned) return std::nullopt;
      turned = true;
      lines->last_whole = is_whole;
      lines->last = 1;
    }
    lines->last *= whole[i];
  }
  return lines ? lines : Lines{true, true, 1};
}

/// Returns how rows read a tensor of these sizes, in the notation of row expressions: "" (one value per
/// element), ":row" (one value per row), ":column", ":number", ":row%4" (row r reads value r % 4), ...
/// Returns nullopt if rows read the tensor in another way.
std::optional<std::string> kind_of(Sizes sizes, const RowSpace& space) {
  if (sizes.size() > space.dims.size()) return std::nullopt;
  sizes.insert(sizes.begin(), space.dims.size() - sizes.size(), 1);
  const auto at = static_cast<std::ptrdiff_t>(space.axis);
  const bool varies = std::equal(sizes.begin() + at, sizes.end(), space.dims.begin() + at);
  const bool is_one =
      std::all_of(sizes.begin() + at, sizes.end(), [](std::int64_t size) { return size == 1; });
  const auto lines = lines_of(sizes, space.dims, space.axis);
  if (varies == is_one || !lines) return std::nullopt;
  if (lines->first_whole && lines->last_whole) return varies ? "" : ":row";
  if (!lines->first_whole && !lines->last_whole) return varies ? ":column" : ":number";
  return fmt::format(":{}{}{}", varies ? "column" : "row", lines->first_whole ? '/' : '%', lines->last);
}

/// A node, or several nodes that compute one step of the epilogue's vocabulary.
struct Item {
  std::vector<std::size_t> nodes;
  std::vector<std::string_view> operands, outputs;
  RowSpace space;
  RowNodeForm form;
  std::optional<EpilogueStep> step;
};

class RegionFinder {
 public:
  RegionFinder(const OnnxModel& model, const GraphShapes& shapes, const Readers& readers,
               const std::vector<char>& taken)
      : model_(model),
        shapes_(shapes),
        readers_(readers),
        taken_(taken),
        item_of_(model.nodes.size(), kNone),
        step_of_(model.nodes.size(), kNone),
        stage_(model.nodes.size(), 0) {
    for (std::size_t i = 0; i < model.nodes.size(); ++i)
      for (const std::string_view output : model.nodes[i].outputs)
        if (!output.empty()) makers_.emplace(output, i);
  }

  std::vector<RowRegion> run() {
    for (const OnnxValueInfo& input : model_.inputs) find_step(input.name);
    for (const OnnxNode& node : model_.nodes)
      for (const std::string_view output : node.outputs) find_step(output);
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      if (item_of_[i] == kNone) find_item(i);
      find_stage(i);
    }
    std::vector<RowRegion> regions;
    for (const auto& [first, items] : components())
      if (auto region = region_of(items)) regions.push_back(std::move(*region));
    return regions;
  }

 private:
  std::optional<Sizes> shape(std::string_view name) const { return whole_shape(shapes_.of(name)); }

  const std::vector<std::size_t>& readers_of(std::string_view value) const {
    static const std::vector<std::size_t> kNobody;
    const auto found = readers_.find(value);
    return found == readers_.end() ? kNobody : found->second;
  }

  // Finds functions that exporters write as several nodes.
  void find_step(std::string_view value) {
    if (value.empty() || shapes_.of(value).type != OnnxType::kF32 || shapes_.of(value).fixed) return;
    const auto found = function_of_value(model_, shapes_, readers_, value);
    if (!found || found->nodes.size() < 2) return;
    for (const std::size_t node : found->nodes)
      if (taken_[node] || step_of_[node] != kNone) return;
    for (const std::size_t node : found->nodes) step_of_[node] = steps_.size();
    steps_.push_back({found->nodes, {value}, {found->output}, {}, {.alone = true}, found->step});
  }

  void find_item(std::size_t at) {
    if (taken_[at]) return;
    std::optional<Item> item = step_of_[at] != kNone ? step_item(at) : node_item(at);
    if (!item || rows_of(item->space) < 1 || columns_of(item->space) < 2 || !reads_rows(*item)) return;
    for (const std::size_t node : item->nodes) item_of_[node] = items_.size();
    items_.push_back(std::move(*item));
  }

  std::optional<Item> step_item(std::size_t at) const {
    Item item = steps_[step_of_[at]];
    if (item.nodes[0] != at) return std::nullopt;
    const auto space = space_of(item, item.outputs[0]);
    if (!space) return std::nullopt;
    item.space = *space;
    return item;
  }

  std::optional<Item> node_item(std::size_t at) const {
    const OnnxNode& node = model_.nodes[at];
    const auto first = shape(node.input(0));
    if (!first || shapes_.of(node.outputs.empty() ? "" : node.outputs[0]).fixed) return std::nullopt;
    std::optional<std::vector<std::int64_t>> axes;
    if (const std::string_view input = axes_input(node); !input.empty()) {
      axes.emplace();
      for (const Dim& dim : shapes_.of(input).wholes.value_or(std::vector<Dim>(1)))
        axes->push_back(dim.value_or(INT64_MAX));
    }
    const auto form = row_form(node, model_.opset(), first->size(), axes);
    if (!form) return std::nullopt;
    Item item{.nodes = {at},
              .operands = node.inputs,
              .outputs = node.outputs,
              .space = {},
              .form = *form,
              .step = {}};
    item.operands.resize(form->values);
    if (!form->axis) {
      const auto space = space_of(item, node.outputs[0]);
      if (!space) return std::nullopt;
      item.space = *space;
    } else {
      item.space = {*first, static_cast<std::size_t>(*form->axis)};
    }
    return item;
  }

  // Returns the rows of an element-wise item: the rows of its output. If the output has only one value per
  // row, returns the rows of the item's input.
  std::optional<RowSpace> space_of(const Item& item, std::string_view output) const {
    const auto sizes = shape(output);
    if (!sizes || sizes->empty()) return std::nullopt;
    for (const std::string_view operand : item.operands)
      if (const Item* const maker = maker_of(operand); maker != nullptr && row_shape(maker->space) == *sizes)
        return maker->space;
    return RowSpace{*sizes, sizes->size() - 1};
  }

  const Item* maker_of(std::string_view value) const {
    const auto found = makers_.find(value);
    return found == makers_.end() || item_of_[found->second] == kNone ? nullptr
                                                                      : &items_[item_of_[found->second]];
  }

  // Whether the value is made by an item of this space, with a shape in which other items of the space can
  // read it.
  bool is_within(std::string_view value, const RowSpace& space) const {
    const Item* const maker = maker_of(value);
    if (maker == nullptr || maker->space != space) return false;
    const auto sizes = shape(value);
    return sizes == space.dims || sizes == row_shape(space);
  }

  std::optional<float> number_of(std::string_view value) const {
    const OnnxTensor* const tensor = shapes_.of(value).constant;
    if (tensor == nullptr || element_count(*tensor) != 1) return std::nullopt;
    const auto values = floats_of(*tensor, 1);
    return values && std::isfinite((*values)[0]) ? std::optional((*values)[0]) : std::nullopt;
  }

  bool reads_rows(const Item& item) const {
    for (const std::string_view operand : item.operands) {
      if (operand.empty() || is_within(operand, item.space)) continue;
      const OnnxType type = shapes_.of(operand).type;
      const auto sizes = shape(operand);
      if ((type != OnnxType::kF32 && type != OnnxType::kBf16) || !sizes || !kind_of(*sizes, item.space))
        return false;
    }
    if (item.step) return true;
    RowStatements tried;
    std::vector<RowTerm> terms;
    for (const std::string_view operand : item.operands) terms.push_back(outer_term(operand, "x"));
    return row_terms(model_.nodes[item.nodes[0]], terms, tried).has_value();
  }

  RowTerm outer_term(std::string_view operand, std::string name) const {
    if (operand.empty()) return {};
    const auto number = number_of(operand);
    return number ? number_term(*number) : RowTerm{std::move(name)};
  }

  // Finds the stage of a node. Items of the same row space that read each other directly have the same stage.
  // A value that passes through a node outside of the space begins a later stage. A region has items of one
  // stage, so it never reads a value that depends on the region itself.
  void find_stage(std::size_t at) {
    const OnnxNode& node = model_.nodes[at];
    const auto follow = [&](std::string_view value) {
      const auto maker = makers_.find(value);
      if (maker == makers_.end()) return;
      const bool is_one = item_of_[at] != kNone && (item_of_[maker->second] == item_of_[at] ||
                                                    is_within(value, items_[item_of_[at]].space));
      stage_[at] = std::max(stage_[at], stage_[maker->second] + (is_one ? 0 : 1));
    };
    for (const std::string_view input : node.inputs) follow(input);
    for (const std::string_view input : node.captured) follow(input);
  }

  std::size_t root(std::vector<std::size_t>& parents, std::size_t item) const {
    while (parents[item] != item) item = parents[item] = parents[parents[item]];
    return item;
  }

  // Returns the groups of connected items in each stage, by their first item.
  std::map<std::size_t, std::vector<std::size_t>> components() const {
    std::vector<std::size_t> parents(items_.size());
    for (std::size_t i = 0; i < parents.size(); ++i) parents[i] = i;
    for (std::size_t i = 0; i < items_.size(); ++i)
      for (const std::string_view operand : items_[i].operands)
        if (is_within(operand, items_[i].space)) {
          const std::size_t maker = makers_.at(operand);
          if (stage_[maker] == stage_[items_[i].nodes[0]])
            parents[root(parents, item_of_[maker])] = root(parents, i);
        }
    std::unordered_map<std::size_t, std::vector<std::size_t>> by_root;
    for (std::size_t i = 0; i < items_.size(); ++i) by_root[root(parents, i)].push_back(i);
    std::map<std::size_t, std::vector<std::size_t>> result;
    for (auto& [at, items] : by_root) {
      const std::size_t first = items_[items[0]].nodes[0];
      result.emplace(first, std::move(items));
    }
    return result;
  }

  std::optional<RowRegion> region_of(const std::vector<std::size_t>& items) const;

  const OnnxModel& model_;
  const GraphShapes& shapes_;
  const Readers& readers_;
  const std::vector<char>& taken_;
  std::unordered_map<std::string_view, std::size_t> makers_;
  std::vector<Item> steps_, items_;
  /// Position of each node's item or step; kNone: the node is in none.
  std::vector<std::size_t> item_of_, step_of_;
  std::vector<std::size_t> stage_;  ///< stage of each node

  friend class RegionText;
};

/// Writes the text of a region.
class RegionText {
 public:
  RegionText(const RegionFinder& finder, const std::vector<std::size_t>& items) : finder_(finder) {
    for (const std::size_t item : items) {
      const Item& each = items_of(item);
      region_.nodes.insert(region_.nodes.end(), each.nodes.begin(), each.nodes.end());
    }
    std::ranges::sort(region_.nodes);
    for (const std::size_t item : items) {
      for (const std::string_view operand : items_of(item).operands) ++uses_[operand];
      for (const std::string_view output : items_of(item).outputs)
        if (is_read_outside(output)) region_.outputs.push_back(output);
    }
  }

  /// Returns the region; nullopt if no row expression can compute it.
  std::optional<RowRegion> write(const std::vector<std::size_t>& items) {
    if (region_.outputs.empty() || region_.outputs.size() > kMostRowOutputs) return std::nullopt;
    const RowSpace& space = items_of(items[0]).space;
    if (!take_first(items, space)) return std::nullopt;
    for (const std::size_t item : items)
      if (!write(items_of(item))) return std::nullopt;
    if (region_.inputs.size() > kMostRowInputs) return std::nullopt;
    std::vector<std::string> in, out;
    for (std::size_t i = 0; i < region_.inputs.size(); ++i)
      if (!add_tensor(in, fmt::format("x{}", i), region_.inputs[i], space)) return std::nullopt;
    for (std::size_t i = 0; i < region_.outputs.size(); ++i)
      if (!add_tensor(out, output_name(i), region_.outputs[i], space)) return std::nullopt;
    region_.workload =
        fmt::format("rowwise m={} n={} in={} out={} expr={}", rows_of(space), columns_of(space),
                    fmt::join(in, ","), fmt::join(out, ","), statements_.text());
    return std::move(region_);
  }

 private:
  const Item& items_of(std::size_t item) const { return finder_.items_[item]; }

  bool is_read_outside(std::string_view value) const {
    return !value.empty() && std::ranges::any_of(finder_.readers_of(value), [&](std::size_t reader) {
      return !std::ranges::binary_search(region_.nodes, reader);
    });
  }

  std::string output_name(std::size_t i) const {
    return region_.outputs.size() == 1 ? "y" : fmt::format("y{}", i);
  }

  bool add_tensor(std::vector<std::string>& tensors, const std::string& name, std::string_view value,
                  const RowSpace& space) const {
    const auto type = dtype_of(finder_.shapes_.of(value).type);
    const auto sizes = finder_.shape(value);
    if (!sizes || (type != DType::kF32 && type != DType::kBF16)) return false;
    // The output of a reduction may lack the last dimension.
    const bool is_short = finder_.maker_of(value) != nullptr && sizes->size() == space.axis;
    const auto kind =
        is_short && value_is_made(value) ? std::optional<std::string>(":row") : kind_of(*sizes, space);
    if (!kind) return false;
    tensors.push_back(fmt::format("{}:{}{}", name, name_of(*type), *kind));
    return true;
  }
  bool value_is_made(std::string_view value) const {
    return std::ranges::find(region_.outputs, value) != region_.outputs.end();
  }

  RowTerm term_of(std::string_view operand) {
    if (const auto known = terms_.find(operand); known != terms_.end()) return known->second;
    RowTerm term = finder_.outer_term(operand, fmt::format("x{}", region_.inputs.size()));
    if (!term.text.empty() && !term.number) region_.inputs.push_back(operand);
    return terms_.emplace(operand, std::move(term)).first->second;
  }

  /// Chooses the first input, whose shape gives the number of rows of a call. It must have a value per
  /// element or per row.
  bool take_first(const std::vector<std::size_t>& items, const RowSpace& space) {
    for (const std::size_t item : items)
      for (const std::string_view operand : items_of(item).operands) {
        if (operand.empty() || finder_.number_of(operand) || is_made(operand)) continue;
        const auto sizes = finder_.shape(operand);
        const auto kind = sizes ? kind_of(*sizes, space) : std::nullopt;
        if (!kind || (!kind->empty() && *kind != ":row")) continue;
        term_of(operand);
        return true;
      }
    return false;
  }
  bool is_made(std::string_view value) const {
    const auto maker = finder_.makers_.find(value);
    return maker != finder_.makers_.end() && std::ranges::binary_search(region_.nodes, maker->second);
  }

  bool write(const Item& item) {
    std::vector<RowTerm> in;
    for (const std::string_view operand : item.operands) in.push_back(term_of(operand));
    std::vector<RowTerm> made;
    if (item.step) {
      made = {step_term(*item.step, in[0])};
    } else {
      auto terms = row_terms(finder_.model_.nodes[item.nodes[0]], std::move(in), statements_);
      if (!terms) return false;
      made = std::move(*terms);
    }
    for (std::size_t i = 0; i < item.outputs.size(); ++i) {
      const std::string_view output = item.outputs[i];
      const auto at = std::ranges::find(region_.outputs, output);
      const bool is_output = !output.empty() && at != region_.outputs.end();
      if (!is_output && !uses_.contains(output)) continue;
      if (i >= made.size() || made[i].text.empty()) return false;
      const auto number = static_cast<std::size_t>(at - region_.outputs.begin());
      terms_[output] = is_output           ? statements_.assign(output_name(number), made[i])
                       : uses_[output] > 1 ? statements_.named(made[i])
                                           : made[i];
    }
    return true;
  }

  const RegionFinder& finder_;
  RowRegion region_;
  RowStatements statements_;
  std::unordered_map<std::string_view, RowTerm> terms_;
  /// For each value, the number of operands that read it.
  std::unordered_map<std::string_view, std::size_t> uses_;
};

std::optional<RowRegion> RegionFinder::region_of(const std::vector<std::size_t>& items) const {
  // Checked before the text is written: a hostile file may have a very long region.
  if (items.size() > kMostRowNodes) return std::nullopt;
  std::size_t nodes = 0;
  bool alone = false;
  for (const std::size_t item : items) {
    nodes += items_[item].nodes.size();
    alone = alone || items_[item].form.alone;
  }
  return nodes < 2 && !alone ? std::nullopt : RegionText(*this, items).write(items);
}

}  // namespace

std::vector<RowRegion> row_regions(const OnnxModel& model, const GraphShapes& shapes, const Readers& readers,
                                   const std::vector<char>& taken) {
  return RegionFinder(model, shapes, readers, taken).run();
}

}  // namespace lehr
