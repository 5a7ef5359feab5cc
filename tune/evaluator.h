// Picks in, trials out: emits, measures, and appends each outcome to the database as soon as it is known.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "database/database.h"
#include "measure/core/measurer.h"
#include "tune/resume.h"
#include "tune/searcher.h"
#include "tune/task.h"
#include "tune/trials.h"

namespace lehr {

class Evaluator {
 public:
  /// Why a time cannot be that of the config's kernel, a clause; "" where it can. A trial with such a time
  /// has failed.
  using WhyImplausible = std::function<std::string(const Point&, double time_us)>;

  /// Borrows everything. `row` is what the session's rows have in common; `on_trial(trial, is_new_best)` is
  /// called after the trial is stored.
  Evaluator(const Candidates& candidates, Measurer& measurer, Database& database, Record row, Trials& trials,
            WhyImplausible why_implausible, std::function<void(const Trial&, bool)> on_trial);

  /// A pick to measure, or nullopt: there is none now.
  using NextPick = std::function<std::optional<Proposal>()>;

  /// Measures what `next` gives until it gives nothing. It is asked as Measurer::measure() asks for sources,
  /// and once more for each pick that costs nothing: one that cannot be emitted has failed, and one whose
  /// source is equal to one that this session measures or has measured takes over its outcome. `known(at)` is
  /// told the position in trials.all() of each new trial, before the next pick is asked for. Asks `abandon`
  /// before each pick and after each trial, and gives up the rest when it says so.
  void measure(const NextPick& next, const std::function<void(std::size_t)>& known,
               const std::function<bool()>& abandon, TimeLeft left = {});
  /// The same of picks that are known beforehand: what `known` would have been told.
  std::vector<std::size_t> measure(std::span<const Proposal> picks, const std::function<bool()>& abandon,
                                   TimeLeft left = {});

  /// The source of a config that was measured with success. CHECKs that it can be emitted.
  Source source_of(const Point& point) const;

  /// From now on candidates are timed beside another reference kernel.
  void begin_reference() { beside_.clear(); }

  const std::string& first_failure() const { return first_failure_; }

  /// What earlier runs lost to each config. A row of this session that makes it two says that the config is
  /// quarantined.
  void remember(Deaths deaths) { deaths_ = std::move(deaths); }
  /// Whether `point` must not be run again.
  bool quarantined(const Point& point) const;
  /// A finalist failed in the finals: that is a row of its own, and takes the place of its timing.
  void record_failure(const Point& point, const Failure& failure);

 private:
  std::size_t record(const Proposal& pick, std::uint64_t source_hash, Outcome outcome);
  std::size_t record_twin(const Proposal& pick, std::size_t of);
  /// Whether it is the fastest of all that is known.
  bool is_best(std::size_t at) const { return trials_->best() == &trials_->all()[at]; }

  const Candidates* candidates_;
  Measurer* measurer_;
  Database* database_;
  Record row_;
  Trials* trials_;
  WhyImplausible why_implausible_;
  std::function<void(const Trial&, bool)> on_trial_;
  std::unordered_map<std::uint64_t, std::size_t>
      by_source_;                    // hash of a measured source -> position of its trial
  std::vector<std::size_t> beside_;  ///< trials timed beside the reference kernel of now, its own first
  Deaths deaths_;
  std::string first_failure_;
};

}  // namespace lehr
