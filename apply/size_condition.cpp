#include "apply/size_condition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "apply/graph_bytes.h"
#include "network/protobuf.h"

namespace lehr {
namespace {

class Builder {
 public:
  Builder(const OnnxModel& model, const std::function<std::string(std::string_view)>& unique)
      : model_(model), unique_(unique) {}

  SizeCondition run(std::span<const SizeCheck> checks) {
    const std::string sizes = all_sizes(checks);
    std::vector<std::int64_t> matches = std::exchange(ranks_, {}), wanted = std::exchange(wanted_ranks_, {});
    std::vector<std::vector<SizeCheck>> ranges;
    for (const SizeCheck& check : checks) {
      if (check.least == check.most) {
        matches.push_back(match(check));
        wanted.push_back(check.least);
        continue;
      }
      const auto same = std::ranges::find_if(
          ranges, [&](const auto& range) { return !check.name.empty() && range[0].name == check.name; });
      (same == ranges.end() ? ranges.emplace_back() : *same).push_back(check);
    }
    if (!matches.empty()) truths_.push_back(node("Equal", {picked(sizes, matches), constant(wanted)}));
    count_ = matches.size();
    for (const auto& range : ranges) add_range(sizes, range);
    const std::string name = all_true();
    return {std::move(fields_), name};
  }

 private:
  std::string node(std::string_view op, const std::vector<std::string_view>& inputs,
                   std::string_view attributes = {}) {
    std::string name = unique_("lehr.size");
    fields_ += node_record(op, inputs, name, attributes);
    return name;
  }

  std::string constant(const std::vector<std::int64_t>& values) {
    std::string name = unique_("lehr.sizes");
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()),
                                 values.size() * sizeof(std::int64_t));
    fields_ += bytes_field(5, number_field(1, std::ssize(values)) +
                                  number_field(2, static_cast<std::int64_t>(OnnxType::kS64)) +
                                  bytes_field(9, bytes) + bytes_field(8, name));
    return name;
  }

  std::string together(const std::vector<std::string>& parts) {
    if (parts.size() == 1) return parts[0];
    return node("Concat", {parts.begin(), parts.end()}, int_attribute("axis", 0));
  }
  std::string picked(const std::string& sizes, const std::vector<std::int64_t>& matches) {
    return node("Gather", {sizes, constant(matches)});
  }

  /// Returns all sizes of the checked inputs in one list.
  std::string all_sizes(std::span<const SizeCheck> checks) {
    std::vector<std::string> parts;
    std::int64_t end = 0;
    for (const OnnxValueInfo& input : model_.inputs) {
      std::int64_t rank = 0;
      for (const SizeCheck& check : checks)
        if (check.input == input.name) rank = std::max(rank, static_cast<std::int64_t>(check.axis) + 1);
      if (rank == 0) continue;
      std::string sizes = node("Shape", {input.name});
      if (input.dims) {
        rank = std::ssize(*input.dims);
      } else {  // the rank is open: check the rank, too
        sizes = padded(sizes, rank);
        ranks_.push_back(end);
        wanted_ranks_.push_back(rank);
        ++end;
      }
      begins_[input.name] = end;
      parts.push_back(std::move(sizes));
      end += rank;
    }
    return together(parts);
  }

  /// Returns a list that begins with the number of sizes. The first `rank` sizes follow; missing sizes are
  /// written as 1.
  std::string padded(const std::string& sizes, std::int64_t rank) {
    const auto count = static_cast<std::size_t>(rank);
    const std::string all =
        together({node("Shape", {sizes}), sizes, constant(std::vector<std::int64_t>(count, 1))});
    std::vector<std::int64_t> matches;
    for (std::int64_t i = 0; i <= rank; ++i) matches.push_back(i);
    return picked(all, matches);
  }

  std::int64_t match(const SizeCheck& check) const {
    return begins_.at(check.input) + static_cast<std::int64_t>(check.axis);
  }

  /// Adds a check that the first size of `range` is within its bounds, and that the other sizes are equal to
  /// it.
  void add_range(const std::string& sizes, const std::vector<SizeCheck>& range) {
    const std::string first = picked(sizes, {match(range[0])});
    truths_.push_back(node("Less", {constant({range[0].least - 1}), first}));
    truths_.push_back(node("Less", {first, constant({range[0].most + 1})}));
    if (range.size() == 1) return;
    std::vector<std::int64_t> others;
    for (std::size_t i = 1; i < range.size(); ++i) others.push_back(match(range[i]));
    truths_.push_back(node("Equal", {picked(sizes, others), first}));
  }

  std::string all_true() {
    if (truths_.size() == 1 && count_ == 1) return truths_[0];
    const auto cast = [&](const std::string& value, OnnxType type) {
      return node("Cast", {value}, int_attribute("to", static_cast<std::int64_t>(type)));
    };
    const std::string numbers = cast(together(truths_), OnnxType::kS32);
    return cast(node("ReduceMin", {numbers}, int_attribute("keepdims", 0)), OnnxType::kBool);
  }

  const OnnxModel& model_;
  const std::function<std::string(std::string_view)>& unique_;
  std::string fields_;
  std::map<std::string_view, std::int64_t> begins_;  ///< position of an input's first size in `all_sizes`
  /// Positions and expected values of ranks, for inputs whose rank is open.
  std::vector<std::int64_t> ranks_, wanted_ranks_;
  std::vector<std::string> truths_;
  std::size_t count_ = 0;  ///< number of elements of truths_[0]
};

}  // namespace

std::string sizes_text(std::span<const SizeCheck> checks) {
  std::vector<std::string> all;
  for (const SizeCheck& check : checks) {
    const std::string size = check.least == check.most ? std::to_string(check.least)
                                                       : fmt::format("{}..{}", check.least, check.most);
    std::string text = check.name.empty()
                           ? fmt::format("dimension {} of {} = {}", check.axis + 1, check.input, size)
                           : fmt::format("{}={}", check.name, size);
    if (std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

std::vector<SizeCheck> size_checks(const OnnxModel& model, const GraphShapes& shapes,
                                   const GraphShapes* other_end) {
  std::vector<SizeCheck> checks;
  for (const OnnxValueInfo& input : model.inputs) {
    const auto own = shapes.of(input.name).shape,
               other = other_end == nullptr ? own : other_end->of(input.name).shape;
    if (shapes.of(input.name).constant != nullptr || !own || !other || own->size() != other->size()) continue;
    for (std::size_t i = 0; i < own->size(); ++i) {
      const OnnxDim stated = input.dims ? input.dims->at(i) : OnnxDim();
      const Dim one = (*own)[i], two = (*other)[i];
      if (!stated.size && one && two)
        checks.push_back({std::string(input.name), i, std::min(*one, *two), std::max(*one, *two),
                          std::string(stated.name)});
    }
  }
  return checks;
}

SizeCondition size_condition(const OnnxModel& model, std::span<const SizeCheck> checks,
                             const std::function<std::string(std::string_view)>& unique) {
  return Builder(model, unique).run(checks);
}

}  // namespace lehr
