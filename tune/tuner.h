// A whole tuner by its name: strategy, models, when they are fitted, and how much is measured at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/model.h"
#include "costmodel/validity_model.h"
#include "costmodel/xgboost_model.h"
#include "search/make_strategy.h"
#include "tune/proposer.h"

namespace lehr {

/// The knobs of a tuner, with the values that `tune` uses; bench/replay_ablation shows what each gives.
struct TunerOptions {
  StrategyOptions strategy;
  XgboostOptions model;
  std::size_t members = 1;  ///< more than 1: an EnsembleModel of so many
  double optimism = 0;      ///< of the ensemble
  ValidityOptions validity;
  LearnerOptions learner;
  BatchSchedule batches;
};
/// "autotvm" for AutoTVM's, any other name for ours.
TunerOptions tuner_options(std::string_view name);

struct Tuner {
  std::unique_ptr<Strategy> strategy;
  std::unique_ptr<CostModel> model;         ///< nullptr: none
  std::unique_ptr<ValidityModel> validity;  ///< nullptr: none
  TunerOptions options;
  bool takes_prior = true;  ///< may score by a prior before the first fit
  bool uses_score = true;   ///< false: the strategy works without scores
  bool raw_knobs = false;   ///< its features are the knobs as they are, not the kernels
};

/// By the names of strategy_names(): "anneal" is the default; "random", "genetic" and "grid" are model-free
/// comparisons; "autotvm" reproduces AutoTVM's settings: its plan and annealing, its model, a fit from
/// scratch after every 64 trials, failures as rows of target 0, knobs as features, no validity model. Borrows
/// `space`. Throws Error(kUser) for an unknown name.
Tuner make_tuner(std::string_view name, const Space& space, std::uint64_t seed);
/// The same with other options.
Tuner make_tuner(std::string_view name, const Space& space, std::uint64_t seed, const TunerOptions& options);

/// When the models of `tuner` are fitted in a session on `target`: not before Machine::first_picks timings.
LearnerOptions learner_options(const Tuner& tuner, Target target);

}  // namespace lehr
