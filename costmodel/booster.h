// XGBoost's C API, wrapped by two classes that own their handles. booster.cpp is the only file that includes
// XGBoost's header.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/features.h"

namespace lehr {

/// Rows and targets in XGBoost's own format. All functions in this file throw Error(kEnvironment) with
/// XGBoost's message.
class TrainingMatrix {
 public:
  /// `group_sizes` is for ranking: the sizes of the groups, in the order of the rows. Empty if the objective
  /// has no groups.
  TrainingMatrix(const FeatureMatrix& rows, std::span<const float> targets,
                 std::span<const std::uint32_t> group_sizes = {});
  ~TrainingMatrix();
  TrainingMatrix(const TrainingMatrix&) = delete;
  TrainingMatrix& operator=(const TrainingMatrix&) = delete;

  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

using BoosterParameters = std::vector<std::pair<std::string, std::string>>;
/// Returns the parameters with which the pairwise ranking objective draws `pairs` other rows for each row.
/// Their names are those of the linked version of the library, which silently ignores the names of other
/// versions.
BoosterParameters pairs_per_row(int pairs);

/// A boosted forest. Movable, not copyable.
class Booster {
 public:
  /// Makes an empty forest for `data`. It prints nothing, evaluates no metric of its own, and works on one
  /// thread.
  Booster(const TrainingMatrix& data, const BoosterParameters& parameters);
  ~Booster();
  Booster(Booster&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Booster& operator=(Booster&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  /// Adds round `round` (from 0).
  void update(int round, const TrainingMatrix& data);
  /// Returns one value per row, from all rounds: the margin for ranking, the target for squared errors, a
  /// probability for logistic.
  std::vector<double> predict(const FeatureMatrix& rows) const;
  std::size_t columns() const;
  /// Returns for each column how much all splits on it lowered the loss in training (importance type
  /// "total_gain"); 0 if no tree splits on the column.
  std::vector<double> total_gain() const;
  /// Returns the forest as UBJSON, XGBoost's portable format.
  std::string to_bytes() const;

 private:
  void* handle_ = nullptr;
};

struct Boosted {
  int rounds = 0;    ///< number of rounds with the best held-out score
  double score = 0;  ///< the best held-out score
};
/// Boosts for at most `most_rounds`. In every fifth round, `score` rates the predictions for `held_out`
/// (higher is better). Boosting stops when the score has not risen for 25 rounds. Among equal scores, the
/// latest round is kept: with few held-out rows the score is coarse, and a forest of a handful of trees ranks
/// poorly.
Boosted boost_until_held_out_stalls(const TrainingMatrix& data, const FeatureMatrix& held_out,
                                    const std::function<double(const std::vector<double>&)>& score,
                                    const BoosterParameters& parameters, int most_rounds);
/// Boosts a fixed number of rounds.
Booster boost(const TrainingMatrix& data, const BoosterParameters& parameters, int rounds);

}  // namespace lehr
