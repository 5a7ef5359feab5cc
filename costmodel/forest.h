// A boosted forest laid out for prediction. XGBoost's own call copies each row and sets itself up anew: 1.2
// to 2.2 us a row in batches of 128, where this walk takes 0.25 to 0.7 (bench/score_bench, PredictBatch).
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

/// What Booster::predict gives, to the last bit but for probabilities (1e-6). A value; any number of threads
/// may predict with it at one time.
class Forest {
 public:
  /// From Booster::to_bytes(), XGBoost's UBJSON. CHECKs that it holds trees with one output over
  /// numbers; throws Error(kEnvironment) where it is no such model.
  explicit Forest(std::string_view bytes);

  /// One value per row, which has at least the columns that it was trained with. A NaN goes where the tree
  /// sends what is missing.
  std::vector<double> predict(const FeatureMatrix& rows) const;

 private:
  void read(const nlohmann::json& learner);
  /// Children are neighbours: the right one follows the left one. A leaf is its own left child, and all go
  /// left there, so that a row may take as many steps as the deepest one needs.
  struct Node {
    float threshold;  // at and above it a row goes right; of a leaf: NaN
    float value;      // of a leaf
    std::uint32_t left;
    std::uint16_t column;
    bool missing_right;
  };
  struct Tree {
    std::uint32_t root;
    int depth;
  };

  /// Rows that walk side by side: each waits for its own loads only.
  static constexpr std::size_t kTogether = 8;
  template <bool kMissing>
  void add_trees(const std::array<const float*, kTogether>& rows, std::array<float, kTogether>& sums) const;

  std::vector<Node> nodes_;
  std::vector<Tree> trees_;
  float base_ = 0;         // what the sums begin with
  bool logistic_ = false;  // the sums are log odds
  std::size_t columns_ = 0;
};

/// A forest as it was trained and as it predicts.
struct Trained {
  explicit Trained(Booster trained) : booster(std::move(trained)), forest(booster.to_bytes()) {}
  Booster booster;
  Forest forest;
};

}  // namespace lehr
