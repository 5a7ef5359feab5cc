// A boosted forest laid out for prediction. XGBoost's own call copies each row and initialises itself anew:
// 1.2 to 2.2 us a row in batches of 128. This walk takes 0.25 to 0.7 us (bench/score_bench, PredictBatch).
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/booster.h"
#include "costmodel/features.h"

namespace lehr {

/// Predicts the same values as Booster::predict: to the last bit, but for probabilities (1e-6). A value.
/// Several threads may predict with it at one time.
class Forest {
 public:
  /// Reads Booster::to_bytes(), XGBoost's UBJSON. CHECKs that it holds trees with one output over numbers.
  /// Throws Error(kEnvironment) if it is not such a model.
  explicit Forest(std::string_view bytes);

  /// Returns one value per row. A row has at least the columns of the training data. A NaN goes where the
  /// tree sends missing values.
  std::vector<double> predict(const FeatureMatrix& rows) const;

 private:
  void read(const nlohmann::json& learner);
  /// A node whose children are neighbours: the right one follows the left one. A leaf is its own left child,
  /// and all rows go left there, so that a row may take as many steps as the deepest one needs.
  struct Node {
    float threshold;  // at and above it a row goes right; NaN for a leaf
    float value;      // a leaf's value
    std::uint32_t left;
    std::uint16_t column;
    bool missing_right;
  };
  struct Tree {
    std::uint32_t root;
    int depth;
  };

  /// Number of rows that walk side by side: each waits for its own loads only.
  static constexpr std::size_t kTogether = 8;
  template <bool kMissing>
  void add_trees(const std::array<const float*, kTogether>& rows, std::array<float, kTogether>& sums) const;

  std::vector<Node> nodes_;
  std::vector<Tree> trees_;
  float base_ = 0;         // initial value of the sums
  bool logistic_ = false;  // the sums are log odds
  std::size_t columns_ = 0;
};

/// A forest in its trained and in its predicting form.
struct Trained {
  explicit Trained(Booster trained) : booster(std::move(trained)), forest(booster.to_bytes()) {}
  Booster booster;
  Forest forest;
};

}  // namespace lehr
