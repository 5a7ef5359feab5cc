// Wiring of the toy session.
#include "support.h"

#include <limits>

namespace lehr::testing {

std::vector<double> NearestModel::predict(const FeatureMatrix& rows) const {
  std::vector<double> scores;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    double nearest = std::numeric_limits<double>::infinity(), score = 0;
    for (std::size_t j = 0; data_ && j < data_->size(); ++j) {
      double distance = 0;
      for (std::size_t c = 0; c < rows.columns(); ++c) {
        const double d = static_cast<double>(rows.row(i)[c]) - static_cast<double>(data_->rows.row(j)[c]);
        distance += d * d / (1 + rows.row(i)[c] * rows.row(i)[c]);
      }
      if (distance < nearest) {
        nearest = distance;
        score = data_->targets[j];
      }
    }
    scores.push_back(score);
  }
  return scores;
}

FakeMeasurer& fake(OpenDevice& device, FakeMeasurer::OutcomeOf outcome_of, FakeClock& clock) {
  auto measurer = std::make_unique<FakeMeasurer>(std::move(outcome_of), clock);
  FakeMeasurer& fake = *measurer;
  device.measurer = std::move(measurer);
  return fake;
}

SessionOptions toy_options() {
  SessionOptions options;
  options.stop.trials = 64;
  options.seed = 1;
  options.session_id = "session-1";
  return options;
}

Summary ToySession::run() {
  measurer = &fake(device, outcome_of, clock);
  device.stop = &interrupted;
  if (arrange) arrange(*measurer);
  Tuner tuner = options.strategy == "anneal" ? annealing_tuner(candidates.space, 400)
                                             : make_tuner(options.strategy, candidates.space, 1);
  tuner.model = nullptr;
  if (with_model) tuner.model = std::make_unique<NearestModel>();
  tuner.row_of = candidates.row_of;
  tuner.columns = candidates.columns;
  options.on_event = listener;
  options.now_s = [this] { return clock.now_s; };
  return Session(task, candidates, device, {database}, options, std::move(tuner)).run();
}

std::vector<Record> ToySession::rows(const std::string& session) const {
  std::vector<Record> mine;
  for (Record& row : database.all({}))
    if (row.session == session) mine.push_back(std::move(row));
  return mine;
}

}  // namespace lehr::testing
