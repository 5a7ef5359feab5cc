// Asks log, other tasks and prior, in this order: see untuned.h.
#include "tune/untuned.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "costmodel/features.h"
#include "costmodel/roofline_model.h"
#include "measure/core/stats.h"
#include "tune/known_best.h"
#include "tune/past_tasks.h"
#include "tune/scorer.h"
#include "tune/stored_kernel.h"

namespace lehr {
namespace {

/// Number of rows of a fit: as many as can be learnt in a second.
constexpr std::size_t kMostRows = 192;
/// Maximum number of kernels that are made again to find one that has not changed. Each takes some
/// milliseconds.
constexpr std::size_t kMostAsked = 64;

/// Bounds that held in nine of ten cases of bench/untuned_loss (bench/results/untuned/table.md): the loss
/// after one trial, which falls with the fourth root of the number of trials, and the factor by which an
/// estimated time was off in either direction.
constexpr double kFirstLoss = 0.7;
constexpr double kTimeFactor = 3;
/// Advantage that the first default gets over other configs, in standard deviations of the other tasks'
/// model. Without it and the prior's score, the model's choice was worse than the default itself (same
/// table).
constexpr double kForTheDefault = 0.5;

/// Returns the best trial of the task in `log` that is still an answer.
std::optional<KnownBest> best_answer(const Database& log, const RecordFilter& own,
                                     const Candidates& candidates) {
  const auto fits = [&](const Record& record) {
    return candidates.space.find(record.config) && answers(record, own.device, candidates);
  };
  const std::vector<StoredVerdict> verdicts = log.verdicts(own);
  std::optional<KnownBest> best = known_best(log, own, verdicts);
  if (!best || fits(best->record)) return best;
  std::vector<Record> rows = log.all(own);
  std::erase_if(rows, [](const Record& row) { return !row.time_us(); });
  std::ranges::stable_sort(rows, {}, [](const Record& row) { return *row.time_us(); });
  if (rows.size() > kMostAsked) rows.resize(kMostAsked);
  const auto found = std::ranges::find_if(rows, fits);
  if (found == rows.end()) return std::nullopt;
  KnownBest answer;
  const Timing& timing = std::get<Timing>(found->outcome);
  answer.verdict.best = {timing.time_us, interval_of(timing)};
  answer.record = *found;
  return answer;
}

std::optional<Untuned> by_log(const Database& log, const Task& task, const Candidates& candidates) {
  const RecordFilter own = {task.problem.text, identity_of(task.device),
                            std::string(name_of(task.device.limits.target)), ""};
  const std::optional<KnownBest> best = best_answer(log, own, candidates);
  if (!best) return std::nullopt;
  Untuned result;
  result.belief = Belief::kLog;
  // The config as this version's space has it.
  result.config = candidates.space.config_of(*candidates.space.find(best->record.config));
  result.record = best->record.id;
  result.contested = best->contested;
  result.trials = log.timed(own);
  result.expected = best->verdict.best;
  result.source =
      fmt::format("{} trial{} of this workload on this device, {}", result.trials,
                  result.trials == 1 ? "" : "s", best->contested ? "and finals that it won" : "no finals");
  result.loss = loss_to_expect(Belief::kLog, result.trials);
  return result;
}

/// Returns the logarithm of the ratio of the times of `task` to the prior's estimates, averaged over the
/// faster half of its trials.
double log_over_prior(const PastTask& task, const RooflineModel& prior) {
  std::vector<std::pair<double, double>> by_time;
  for (std::size_t i = 0; i < task.times_us.size(); ++i)
    by_time.push_back({task.times_us[i], std::log(task.times_us[i] / prior.time_us(task.rows.row(i)))});
  std::ranges::sort(by_time);
  by_time.resize((by_time.size() + 1) / 2);
  double sum = 0;
  for (const auto& [us, ratio] : by_time) sum += ratio;
  return sum / static_cast<double>(by_time.size());
}

/// Returns the defaults, and configs that are fast in other tasks.
std::vector<Point> contenders(const Transfer& others, const Candidates& candidates) {
  std::vector<Point> points = candidates.defaults;
  for (const Point& point : others.first_picks(candidates.space, Transfer::kWarmStarts))
    if (std::ranges::find(points, point) == points.end()) points.push_back(point);
  return points;
}

/// Returns a config that was not timed on this device, with its estimated microseconds.
Untuned believed(Belief belief, const Candidates& candidates, const Point& point, double us) {
  Untuned result;
  result.belief = belief;
  result.config = candidates.space.config_of(point);
  result.loss = loss_to_expect(belief, 0);
  result.expected = {us, {us / kTimeFactor, us * kTimeFactor}};
  return result;
}

std::optional<Untuned> by_other_tasks(const Database& log, const Task& task, const Candidates& candidates,
                                      std::uint64_t seed) {
  if (!candidates.of_kernels) return std::nullopt;
  std::vector<PastTask> tasks =
      past_tasks(log, task, candidates, candidates.row_of, candidates.columns, true, kMostRows);
  if (tasks.empty()) return std::nullopt;
  const Transfer others(std::move(tasks), seed);
  const RooflineModel prior(task.device.limits);
  std::vector<Point> points;
  FeatureMatrix rows(candidates.columns);
  std::vector<float> row(candidates.columns);
  for (const Point& point : contenders(others, candidates)) {
    if (!candidates.row_of(point, row)) continue;
    points.push_back(point);
    rows.append(row);
  }
  if (points.empty()) return std::nullopt;
  // A factor of e in the prior's estimate counts as much as a standard deviation, as in a search.
  std::vector<double> scores = others.predict(rows);
  const std::vector<double> estimates = prior.predict(rows);
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] += estimates[i] + (points[i] == candidates.defaults[0] ? kForTheDefault : 0);
  const auto best = static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
  double weights = 0, logarithm = 0;
  for (const PastTask& past : others.tasks()) {
    weights += past.weight;
    logarithm += past.weight * log_over_prior(past, prior);
  }
  const double us = prior.time_us(rows.row(best)) * std::exp(logarithm / weights);
  Untuned result = believed(Belief::kOtherTasks, candidates, points[best], us);
  result.trials = static_cast<std::int64_t>(others.trials());
  result.source = describe(others);
  return result;
}

Untuned by_prior(const Task& task, const Candidates& candidates) {
  const Point& first = candidates.defaults[0];
  std::vector<float> row(candidates.columns);
  const bool estimated = candidates.of_kernels && candidates.row_of(first, row);
  Untuned result = believed(Belief::kPrior, candidates, first,
                            estimated ? RooflineModel(task.device.limits).time_us(row) : 0);
  result.source = "the default, by an analytic estimate alone";
  return result;
}

}  // namespace

std::string_view name_of(Belief belief) {
  switch (belief) {
    case Belief::kLog:
      return "log";
    case Belief::kOtherTasks:
      return "other tasks";
    case Belief::kPrior:
      return "prior";
  }
  return "";
}

double loss_to_expect(Belief belief, std::int64_t trials) {
  if (belief != Belief::kLog) return kFirstLoss;
  return kFirstLoss / std::pow(static_cast<double>(std::max<std::int64_t>(1, trials)), 0.25);
}

Untuned untuned(const Task& task, const Candidates& candidates, const UntunedOptions& options) {
  CHECK(!candidates.defaults.empty(), "a task without a default");
  if (options.own != nullptr)
    if (std::optional<Untuned> result = by_log(*options.own, task, candidates)) return *std::move(result);
  if (options.others != nullptr)
    if (std::optional<Untuned> result = by_other_tasks(*options.others, task, candidates, options.seed))
      return *std::move(result);
  return by_prior(task, candidates);
}

}  // namespace lehr
