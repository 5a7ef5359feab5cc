// The parts of a searcher, chosen by a tuner's name: strategy, models, features, when the models are fitted,
// and how many configs are proposed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "costmodel/model.h"
#include "costmodel/validity_model.h"
#include "costmodel/xgboost_model.h"
#include "search/anneal.h"
#include "search/make_strategy.h"
#include "tune/learner.h"
#include "tune/scorer.h"
#include "tune/tile_diversity.h"

namespace lehr {

struct Tuner {
  std::unique_ptr<Strategy> strategy;
  /// The same object as `strategy` if trees and a Gaussian process take turns; else nullptr.
  AnnealStrategy* anneal = nullptr;
  std::unique_ptr<CostModel> model;         ///< fitted as trials arrive; nullptr: nothing is learnt
  std::unique_ptr<ValidityModel> validity;  ///< learns from failures; nullptr: failures are ignored
  std::unique_ptr<const CostModel> prior;   ///< scores before the first fit; nullptr: there is no prior
  LearnerOptions learner;
  RowOf row_of;             ///< makes the features
  std::size_t columns = 0;  ///< values of a row
  bool of_kernels = true;   ///< whether the features are feature_table() of lowered kernels
  /// If set, it limits how many of the prior's own picks are alike.
  std::optional<TileDiversity> diversity;
};

/// Returns a tuner in which trees and a Gaussian process take turns. They look at no more than `max_scored`
/// configs after each fit. The tuner has no models, no features and no prior yet. Borrows `space`.
Tuner annealing_tuner(const Space& space, std::size_t max_scored = AnnealStrategy::kMaxScored);
/// Returns the tuner with this name (see strategy_names()). "anneal", the default, is an annealing_tuner()
/// with models. "random" has no model and serves for comparison. "autotvm" has AutoTVM's settings: its plan
/// and annealing, its model, a fit from scratch after every 64 trials, failures as rows of target 0, knobs as
/// features, no validity model. None of the tuners has features or a prior yet. Borrows `space`. Throws
/// Error(kUser) for an unknown name.
Tuner make_tuner(std::string_view name, const Space& space, std::uint64_t seed);
/// Returns a session's tuner, with the features and the prior of its task. Models are fitted for the first
/// time when Machine::first_picks trials have a time. Borrows `candidates`.
Tuner make_tuner(std::string_view name, const Candidates& candidates, const Limits& limits,
                 std::uint64_t seed);

}  // namespace lehr
