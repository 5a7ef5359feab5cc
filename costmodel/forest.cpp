// Reads XGBoost's model format (XGBoost 1.7 documentation, "Introduction to Model IO") and walks the trees.
#include "costmodel/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

using Json = nlohmann::json;

/// As a threshold it sends every row to the left: no number is equal to it or above it.
constexpr float kNever = std::numeric_limits<float>::quiet_NaN();

/// The nodes of one tree, as the format lists them.
struct Listed {
  explicit Listed(const Json& tree)
      : left(tree.at("left_children").get<std::vector<int>>()),
        right(tree.at("right_children").get<std::vector<int>>()),
        column(tree.at("split_indices").get<std::vector<std::uint32_t>>()),
        threshold(tree.at("split_conditions").get<std::vector<float>>()),
        default_left(tree.at("default_left").get<std::vector<int>>()) {}

  std::vector<int> left, right;  // -1: a leaf
  std::vector<std::uint32_t> column;
  std::vector<float> threshold;  // a leaf's value
  std::vector<int> default_left;
};

/// Reads a parameter. The format writes numbers as texts, independently of the program's locale.
float number(const Json& text) {
  const std::optional<float> value = parse_number(text.get<std::string>());
  CHECK(value.has_value(), "a booster's parameter is {}", text.dump());
  return *value;
}

}  // namespace

Forest::Forest(std::string_view bytes) {
  try {
    read(Json::from_ubjson(bytes.begin(), bytes.end()).at("learner"));
  } catch (const Json::exception& error) {
    throw_environment("XGBoost's model is not of the form that its documentation gives: {}", error.what());
  }
}

void Forest::read(const Json& learner) {
  const Json& parameters = learner.at("learner_model_param");
  const std::string objective = learner.at("objective").at("name").get<std::string>();
  logistic_ = objective == "binary:logistic";
  CHECK(logistic_ || objective == "rank:pairwise" || objective == "reg:squarederror", "objective {}",
        objective);
  columns_ = static_cast<std::size_t>(number(parameters.at("num_feature")));
  CHECK(columns_ <= std::numeric_limits<std::uint16_t>::max(), "{} columns", columns_);
  base_ = number(parameters.at("base_score"));
  if (logistic_) base_ = -std::log(1 / base_ - 1);
  for (const Json& tree : learner.at("gradient_booster").at("model").at("trees")) {
    const Listed listed(tree);
    const auto root = static_cast<std::uint32_t>(nodes_.size());
    // Nodes are numbered level by level, so that a node's position is known before those of its children.
    std::vector<int> order = {0};
    int depth = -1;
    for (std::size_t begin = 0; begin < order.size(); ++depth) {
      const std::size_t end = order.size();
      for (; begin < end; ++begin) {
        const auto i = static_cast<std::size_t>(order[begin]);
        const auto here = root + static_cast<std::uint32_t>(begin);
        if (listed.left.at(i) < 0) {
          nodes_.push_back({kNever, listed.threshold.at(i), here, 0, false});
          continue;
        }
        nodes_.push_back({listed.threshold.at(i), 0, root + static_cast<std::uint32_t>(order.size()),
                          static_cast<std::uint16_t>(listed.column.at(i)), listed.default_left.at(i) == 0});
        CHECK(listed.column[i] < columns_, "column {} of {}", listed.column[i], columns_);
        order.push_back(listed.left[i]);
        order.push_back(listed.right.at(i));
        CHECK(order.size() <= listed.left.size(), "a tree whose nodes meet again");
      }
    }
    trees_.push_back({root, depth});
  }
}

// Adds the values in the same order as XGBoost, in f32.
template <bool kMissing>
void Forest::add_trees(const std::array<const float*, kTogether>& rows,
                       std::array<float, kTogether>& sums) const {
  for (const Tree& tree : trees_) {
    std::array<std::uint32_t, kTogether> at;
    at.fill(tree.root);
    for (int step = 0; step < tree.depth; ++step) {
      for (std::size_t i = 0; i < kTogether; ++i) {
        const Node& node = nodes_[at[i]];
        const float x = rows[i][node.column];
        std::uint32_t right = x >= node.threshold;
        if (kMissing && std::isnan(x)) right = node.missing_right;
        at[i] = node.left + right;
      }
    }
    for (std::size_t i = 0; i < kTogether; ++i) sums[i] += nodes_[at[i]].value;
  }
}

std::vector<double> Forest::predict(const FeatureMatrix& rows) const {
  CHECK(rows.rows() == 0 || rows.columns() >= columns_, "rows of {} columns, trained with {}", rows.columns(),
        columns_);
  std::vector<float> sums(rows.rows(), base_);
  bool missing = false;
  for (const float x : std::span(rows.data(), rows.rows() * rows.columns())) missing |= std::isnan(x);
  for (std::size_t r = 0; r < sums.size(); r += kTogether) {
    const std::size_t count = std::min(kTogether, sums.size() - r);
    std::array<const float*, kTogether> some;
    for (std::size_t i = 0; i < kTogether; ++i) some[i] = rows.row(r + std::min(i, count - 1)).data();
    std::array<float, kTogether> sum;
    sum.fill(base_);
    missing ? add_trees<true>(some, sum) : add_trees<false>(some, sum);
    std::copy_n(sum.begin(), count, sums.begin() + static_cast<std::ptrdiff_t>(r));
  }
  std::vector<double> result(sums.begin(), sums.end());
  if (logistic_)
    for (double& each : result) each = 1 / (1 + std::exp(-each));
  return result;
}

}  // namespace lehr
