// When and on what the models are fitted during a session, and the score that they give together.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "costmodel/gaussian_process.h"
#include "costmodel/model.h"
#include "costmodel/validity_model.h"
#include "tune/transfer.h"

namespace lehr {

/// When a fit is due, and what is learnt from.
struct LearnerOptions {
  /// Rows before the first fit.
  std::size_t first_fit = 8;
  /// New rows before another fit, at least.
  std::size_t least_new = 4;
  /// And at least this share of the rows at the last fit: the total time of fitting stays proportional to the
  /// last fit.
  double new_share = 0.125;
  /// Trials after which what other tasks say counts half as much.
  double transfer_halving = 8;
  /// Own timings from which on other tasks are not asked any more: the model is then the one of a cold start.
  std::size_t transfer_rows = 32;
  /// Other tasks are not asked any more either when so many timings, counted from `first_fit` on, brought no
  /// config faster than the fastest by `transfer_least_gain`: where they lead on they lead on at once, and
  /// elsewhere they keep a search on a plateau that its own model leaves.
  std::size_t transfer_patience = 4;
  double transfer_least_gain = 0.01;
  /// Own timings, two at least, from which on other tasks are judged, at each fit and once more at the one
  /// after which they are not asked any more: they are dropped when their rank correlation with these timings
  /// is below the own model's with those that it has not seen, and further below 0 than chance makes it, by
  /// `transfer_doubt` standard deviations. Not at 0, because they picked these configs: among few that they
  /// all like even hints that hold may rank none, and those that mislead rank them the other way round.
  std::size_t transfer_judged = 8;
  double transfer_doubt = 1;
  /// A Gaussian process chooses among the best by score.
  bool process = true;
  /// What other tasks say, while they are asked, is the process's prior: it learns how much of that holds
  /// here and describes the rest. Otherwise it knows nothing of them.
  bool hints_as_prior = true;
  /// What a standard deviation of the process counts against one of the score.
  double exploration = 3;
  /// The same while other tasks are asked: they know where to look, and exploration leads away from there.
  double hinted_curiosity = 0;
  /// Failures count as rows, of target 0, as AutoTVM has it.
  bool failures_are_slow = false;
};

/// Collects feature rows with their outcomes and refits now and then. Counts, never clocks, decide: the same
/// trials give the same models.
class Learner {
 public:
  /// Rows of `columns` values. Borrows both models. `model` nullptr: nothing is ever learnt; `validity`
  /// nullptr: failures teach nothing.
  Learner(std::size_t columns, CostModel* model, ValidityModel* validity, const LearnerOptions& options = {});

  void add(std::span<const float> row, double time_us);
  void add_failure(std::span<const float> row);
  /// From now on the score starts from what other tasks say, and their word is one more column for the own
  /// model, which learns how far it holds here, until there are `transfer_rows` own timings or they bring no
  /// gain any more. Before the first row; borrows it.
  void start_from(const Transfer& transfer) { transfer_ = &transfer; }

  /// Fits the models when enough rows are new, and the process, which is cheap, at every call from
  /// `first_fit` timings on. Returns whether the models were fitted.
  bool refit_if_due();
  bool fitted() const { return fits_ > 0; }
  /// Whether there is anything to score by.
  bool ready() const { return fitted() || transfer_; }
  /// What the other tasks' word counts beside the own model's now: 1 at first, halved every
  /// `transfer_halving` timings; 0 once they are not asked any more.
  double transfer_weight() const;
  /// Whether other tasks were asked, and were found to rank this one worse than its own model does.
  bool transfer_dropped() const { return transfer_dropped_; }
  int fits() const { return fits_; }

  /// Whether a process is there to choose by.
  bool chooses() const { return process_.learnt(); }
  /// n of the rows (all if there are fewer), the most wanted first, one after the other: each the highest of
  /// its score, what the process expects of it, and the exploration times what the process does not know of
  /// it once those picked before are measured (upper confidence bound; Desautels, Krause and Burdick,
  /// "Parallelizing Exploration-Exploitation Tradeoffs in Gaussian Process Bandit Optimization", 2014).
  /// `scores` as predict() gives them. CHECKs chooses().
  std::vector<std::size_t> choose(const FeatureMatrix& rows, std::span<const double> scores,
                                  std::size_t n) const;

  /// Higher is better, comparable between the calls after one fit: the model's score in units of its standard
  /// deviation over the measured rows, plus the other tasks' score times transfer_weight(), plus ln P(valid).
  /// CHECKs ready().
  std::vector<double> predict(const FeatureMatrix& rows) const;

 private:
  bool uses_hints() const;
  void judge_transfer();
  std::size_t learnable() const { return options_.failures_are_slow ? valid_.size() : times_us_.size(); }

  CostModel* model_;
  ValidityModel* validity_;
  LearnerOptions options_;
  /// `row` with the other tasks' score as one column more, if there are other tasks.
  FeatureMatrix extended(const FeatureMatrix& rows) const;

  GaussianProcess process_;  // of all of rows_ at the last refit_if_due()
  FeatureMatrix rows_, failures_, tried_;
  std::vector<double> times_us_;
  double fastest_us_ = std::numeric_limits<double>::infinity();
  std::size_t fastest_at_ = 0;  // timings when it was found
  std::vector<bool> valid_;     // of tried_
  std::size_t rows_at_fit_ = 0;
  double scale_ = 1;  // standard deviation of the model's scores over rows_
  int fits_ = 0;
  const Transfer* transfer_ = nullptr;
  bool transfer_dropped_ = false;
  bool asks_transfer_ = false;  // the last fit had the other tasks' column
};

}  // namespace lehr
