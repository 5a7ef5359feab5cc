// Config -> score: lowering, features and model over many candidates. The hot path of the search.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "costmodel/features.h"
#include "search/strategy.h"
#include "tune/pool.h"
#include "tune/task.h"

namespace lehr {

/// Feature rows -> one score each, higher is better. Called from several threads at once.
using Predict = std::function<std::vector<double>(const FeatureMatrix&)>;

/// Lowers, featurises and scores on `threads` threads, remembers the rows of this session, and asks a model.
/// Quiet between calls: no thread of its own runs while candidates are timed.
class Scorer {
 public:
  /// Borrows `candidates`, which must outlive it.
  Scorer(const Candidates& candidates, const Limits& limits, int threads);

  /// One row per config. A config that cannot be lowered gets a row of zeros.
  FeatureMatrix features(std::span<const Config> configs);
  /// `predict`'s score per config, higher is better; a config that cannot be lowered gets -infinity.
  std::vector<double> score(std::span<const Config> configs, const Predict& predict);

  std::uint64_t scored() const { return scored_; }  ///< configs that were scored
  std::uint64_t lowered() const {
    return lowered_;
  }  ///< configs that had to be lowered (the others were remembered)

 private:
  /// Positions in rows_, one per config; kNoKernel for one that cannot be lowered.
  std::vector<std::uint32_t> rows_of(std::span<const Config> configs);
  std::span<float> row(std::uint32_t index) const;

  static constexpr std::uint32_t kNoKernel = 0xffffffffu;
  const Candidates* candidates_;
  Limits limits_;
  std::size_t columns_;
  std::size_t capacity_;  // rows that may be remembered; all are forgotten when it is exceeded
  Pool pool_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;  // hash of a config -> row
  std::vector<std::unique_ptr<float[]>> chunks_;
  std::uint32_t used_ = 0;
  std::uint64_t scored_ = 0, lowered_ = 0;
};

}  // namespace lehr
