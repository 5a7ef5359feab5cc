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

SessionOptions toy_options() {
  SessionOptions options;
  options.stop.trials = 64;
  options.seed = 1;
  options.session_id = "session-1";
  return options;
}

Summary ToySession::run() {
  measurer = std::make_unique<FakeMeasurer>(outcome_of, clock);
  if (arrange) arrange(*measurer);
  StrategyOptions small;
  small.anneal.max_scored = 400;
  const std::unique_ptr<Strategy> strategy = make_strategy(options.strategy, candidates.space, small);
  NearestModel model;
  return run_session(task, candidates, options,
                     {.measurer = measurer.get(),
                      .strategy = strategy.get(),
                      .database = &database,
                      .model = with_model ? &model : nullptr,
                      .validity = nullptr,
                      .prior = nullptr,
                      .interrupted = &interrupted,
                      .on_event = [this](const Event& event) { events.push_back(event); },
                      .now_s = [this] { return clock.now_s; },
                      .prober = prober,
                      .bound = bound});
}

std::vector<Record> ToySession::rows(const std::string& session) const {
  std::vector<Record> mine;
  for (Record& row : database.all({}))
    if (row.session == session) mine.push_back(std::move(row));
  return mine;
}

}  // namespace lehr::testing
