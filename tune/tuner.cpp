// Tuners by name: see tuner.h.
#include "tune/tuner.h"

#include <algorithm>

#include "costmodel/autotvm_model.h"
#include "costmodel/ensemble_model.h"
#include "measure/worker/backends.h"

namespace lehr {

TunerOptions tuner_options(std::string_view name) {
  TunerOptions options;
  // Measuring a batch of 32 takes some seconds, lowering and features some 40 us per candidate on two cores:
  // so many scored configs keep the tuner's own share of the time below 15 %.
  options.strategy.anneal.max_scored = 8'000;
  if (name == "autotvm") {
    const std::size_t plan = options.strategy.autotvm.plan;
    options.learner = {
        .first_fit = plan, .least_new = plan, .new_share = 0, .process = false, .failures_are_slow = true};
    options.batches = {.first = plan, .step = 0, .largest = plan};
  }
  return options;
}

Tuner make_tuner(std::string_view name, const Space& space, std::uint64_t seed) {
  return make_tuner(name, space, seed, tuner_options(name));
}

Tuner make_tuner(std::string_view name, const Space& space, std::uint64_t seed, const TunerOptions& options) {
  Tuner tuner;
  tuner.options = options;
  tuner.strategy = make_strategy(name, space, options.strategy);
  tuner.uses_score = name == "anneal" || name == "autotvm";
  // One thread each: on a few hundred rows XGBoost's threads spend their time waiting for each other (200
  // rows, 2 cores beside other work: 9 s of CPU time on two threads, 0.2 s on one; measured 2026-11-21).
  if (name == "autotvm") {
    tuner.model = std::make_unique<AutotvmModel>();
    tuner.takes_prior = false;
    tuner.raw_knobs = true;
    return tuner;
  }
  tuner.options.model.seed = tuner.options.validity.seed = seed;
  if (options.members > 1)
    tuner.model = std::make_unique<EnsembleModel>(tuner.options.model, options.members, options.optimism);
  else
    tuner.model = std::make_unique<XgboostModel>(tuner.options.model);
  tuner.validity = std::make_unique<ValidityModel>(tuner.options.validity);
  return tuner;
}

LearnerOptions learner_options(const Tuner& tuner, Target target) {
  LearnerOptions options = tuner.options.learner;
  if (tuner.takes_prior) options.first_fit = std::max(options.first_fit, backend_of(target).prior_picks);
  return options;
}

}  // namespace lehr
