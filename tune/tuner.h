// What a searcher is made of, by a tuner's name: strategy, models, features, when it fits, how much it
// proposes.
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
  AnnealStrategy* anneal = nullptr;  ///< `strategy`, where trees and a process take turns; nullptr: where not
  std::unique_ptr<CostModel> model;  ///< fitted as trials arrive; nullptr: nothing is learnt
  std::unique_ptr<ValidityModel> validity;  ///< learns from failures; nullptr: nothing does
  std::unique_ptr<const CostModel> prior;   ///< scores before the first fit; nullptr: nothing does
  LearnerOptions learner;
  RowOf row_of;             ///< features
  std::size_t columns = 0;  ///< of `row_of`
  bool of_kernels = true;   ///< the features are feature_table() of lowered kernels
  /// What the prior alone picks is of several kinds.
  std::optional<TileDiversity> diversity;
};

/// Trees and a process in turns, which look at `max_scored` configs after each fit, at most. Without models,
/// features and prior. Borrows `space`.
Tuner annealing_tuner(const Space& space, std::size_t max_scored = AnnealStrategy::kMaxScored);
/// By the names of strategy_names(): "anneal" is the default, an annealing_tuner() with models; "random" is
/// the model-free comparison; "autotvm" reproduces AutoTVM's settings: its plan and annealing, its
/// model, a fit from scratch after every 64 trials, failures as rows of target 0, knobs as features, no
/// validity model. Without features and prior. Borrows `space`. Throws Error(kUser) for an unknown name.
Tuner make_tuner(std::string_view name, const Space& space, std::uint64_t seed);
/// A session's, with the features and the prior of its task: the models are fitted when Machine::first_picks
/// have a time, not before. Borrows `candidates`.
Tuner make_tuner(std::string_view name, const Candidates& candidates, const Limits& limits,
                 std::uint64_t seed);

}  // namespace lehr
