// A boosted forest stored for fast prediction. XGBoost's own call copies each row and initialises itself
// anew: 1.2 to 2.2 us per row in batches of 128. This walk takes 0.25 to 0.7 us (bench/score_bench,
// PredictBatch).
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

/// Predicts the same values as Booster::predict, bit for bit, except that probabilities may differ by 1e-6. A
/// value. Several threads may predict with one forest at the same time.
class Forest {
 public:
  /// Reads XGBoost's UBJSON from Booster::to_bytes(). CHECKs that the trees have one output and numeric
  /// splits. Throws Error(kEnvironment) if the bytes are not such a model.
  explicit Forest(std::string_view bytes);

  /// Returns one value per row. A row must have at least the columns of the training data. A NaN takes the
  /// branch that the tree has for missing values.
  std::vector<double> predict(const FeatureMatrix& rows) const;

 private:
  void read(const nlohmann::json& learner);
  /// A node of a tree. Its right child follows its left child. A leaf is its own left child, and all rows go
  /// left there, so that a row may make as many steps as the deepest leaf needs.
  struct Node {
    float threshold;  // rows with this value or a higher one go right; NaN for a leaf
    float value;      // a leaf's value
    std::uint32_t left;
    std::uint16_t column;
    bool missing_right;
  };
  struct Tree {
    std::uint32_t root;
    int depth;
  };

  /// Number of rows that are walked at the same time, so that their loads overlap.
  static constexpr std::size_t kTogether = 8;
  template <bool kMissing>
  void add_trees(const std::array<const float*, kTogether>& rows, std::array<float, kTogether>& sums) const;

  std::vector<Node> nodes_;
  std::vector<Tree> trees_;
  float base_ = 0;         // initial value of the sums
  bool logistic_ = false;  // the sums are log odds
  std::size_t columns_ = 0;
};

/// A trained forest, and the same forest stored for prediction.
struct Trained {
  explicit Trained(Booster trained) : booster(std::move(trained)), forest(booster.to_bytes()) {}
  Booster booster;
  Forest forest;
};

}  // namespace lehr
