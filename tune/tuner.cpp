// Tuners by name: see tuner.h.
#include "tune/tuner.h"

#include <algorithm>
#include <utility>

#include "costmodel/autotvm_model.h"
#include "costmodel/machine.h"
#include "costmodel/roofline_model.h"
#include "search/autotvm.h"
#include "tune/knob_features.h"

namespace lehr {

Tuner annealing_tuner(const Space& space, std::size_t max_scored) {
  Tuner tuner;
  auto anneal = std::make_unique<AnnealStrategy>(space, max_scored);
  tuner.anneal = anneal.get();
  tuner.strategy = std::move(anneal);
  return tuner;
}

Tuner make_tuner(std::string_view name, const Space& space, std::uint64_t seed) {
  Tuner tuner;
  if (name == "anneal") {
    tuner = annealing_tuner(space);
    tuner.model = std::make_unique<XgboostModel>(seed);
    tuner.validity = std::make_unique<ValidityModel>(seed);
    return tuner;
  }
  tuner.strategy = make_strategy(name, space);
  if (name != "autotvm") return tuner;
  constexpr std::size_t plan = AutotvmStrategy::kPlan;
  tuner.learner = {.first_fit = plan, .least_new = plan, .new_share = 0, .failures_are_slow = true};
  tuner.model = std::make_unique<AutotvmModel>();
  return tuner;
}

Tuner make_tuner(std::string_view name, const Candidates& candidates, const Limits& limits,
                 std::uint64_t seed) {
  Tuner tuner = make_tuner(name, candidates.space, seed);
  if (name == "autotvm") {
    const auto knobs = std::make_shared<const KnobFeatures>(candidates.space, KnobColumns::kRaw);
    tuner.row_of = [knobs, rows = knobs->rows()](const Point& point, std::span<float> row) {
      return rows(point, row);
    };
    tuner.columns = knobs->names().size();
    tuner.of_kernels = false;
    return tuner;
  }
  tuner.row_of = candidates.row_of;
  tuner.columns = candidates.columns;
  tuner.of_kernels = candidates.of_kernels;
  if (!tuner.of_kernels) return tuner;
  tuner.prior = std::make_unique<RooflineModel>(limits);
  const std::size_t first_picks = machine_of(limits.target).first_picks;
  tuner.learner.first_fit = std::max(tuner.learner.first_fit, first_picks);
  if (first_picks > 0) tuner.diversity.emplace(candidates.space);
  return tuner;
}

}  // namespace lehr
