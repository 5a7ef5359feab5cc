// A toy session in which a test may change everything.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "database/database.h"
#include "fake_measurer.h"
#include "search/make_strategy.h"
#include "toy_task.h"
#include "tune/session.h"

namespace lehr::testing {

/// Predicts the target of the nearest training row: learns fast and is deterministic.
class NearestModel : public CostModel {
 public:
  void fit(const Dataset& data) override {
    data_ = data;
    ++fits;
  }
  std::vector<double> predict(const FeatureMatrix& rows) const override;

  int fits = 0;

 private:
  std::optional<Dataset> data_;
};

/// Makes `device` measure with `outcome_of` from now on.
FakeMeasurer& fake(OpenDevice& device, FakeMeasurer::OutcomeOf outcome_of, FakeClock& clock);

/// Returns 64 trials, seed 1, annealing, "session-1".
SessionOptions toy_options();

/// Runs toy sessions one after the other on one database.
struct ToySession {
  Task task = toy_task();
  Candidates candidates = toy_candidates();
  Database database = Database::open(":memory:");
  FakeClock clock;
  std::function<Outcome(const Source&)> outcome_of = [](const Source& source) { return toy_outcome(source); };
  SessionOptions options = toy_options();
  bool with_model = true;
  std::atomic<bool> interrupted = false;
  std::vector<Event> events;
  EventSink listener = [this](const Event& event) { events.push_back(event); };
  OpenDevice device;
  /// The measurer of the last run, which is `device`'s.
  FakeMeasurer* measurer = nullptr;
  /// Called with the new measurer before a run.
  std::function<void(FakeMeasurer&)> arrange;

  Summary run();
  /// Returns the rows of a session, in order.
  std::vector<Record> rows(const std::string& session) const;
};

}  // namespace lehr::testing
