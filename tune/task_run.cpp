#include "tune/task_run.h"

#include <utility>

namespace lehr {

TaskRun::TaskRun(Task task, SessionOptions options, SessionParts parts)
    : task_(std::move(task)),
      candidates_(candidates_for(task_)),
      tuner_(make_tuner(options.strategy, candidates_.space, options.seed)),
      raw_knobs_(candidates_.space, KnobColumns::kRaw),
      prior_(task_.device.limits),
      options_(std::move(options)),
      parts_(std::move(parts)) {
  options_.learner = learner_options(tuner_, task_.device.limits.target);
  options_.batches = tuner_.options.batches;
  if (tuner_.raw_knobs) {
    options_.row_of = raw_knobs_.rows();
    options_.columns = raw_knobs_.names().size();
  }
  parts_.strategy = tuner_.strategy.get();
  parts_.model = tuner_.model.get();
  parts_.validity = tuner_.validity.get();
  parts_.prior = tuner_.takes_prior ? &prior_ : nullptr;
  session_ = std::make_unique<Session>(task_, candidates_, options_, parts_);
}

}  // namespace lehr
