// Recalls earlier runs, measures the defaults, then proposes, measures and learns; at last come the finals.
#include "tune/session.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "tune/past_tasks.h"
#include "tune/resume.h"

namespace lehr {
namespace {

/// Picks of a round, as a multiple of Measurer::in_flight(). At the end of a round nothing is being compiled
/// ahead.
constexpr std::size_t kWindowsOfARound = 4;
constexpr int kKnownWell = 64;     // number of own timings from which on other tasks are ignored
constexpr double kSketchS = 0.04;  // seconds of a default's check and window if a few samples are enough

Roofline roofline_of(const Task& task) {
  const bool known = task.workload && task.problem.flops > 0 && task.problem.bytes > 0;
  return known ? Roofline(*task.workload, task.device.limits) : Roofline();
}

SessionOptions completed(SessionOptions options) {
  options.on_event = harmless(std::move(options.on_event));
  return options;
}

}  // namespace

Session::Session(Task task, Candidates candidates, const OpenDevice& device, Logs logs,
                 SessionOptions options, Tuner tuner)
    : task_(std::move(task)),
      candidates_(std::move(candidates)),
      device_(device),
      logs_(logs),
      options_(completed(std::move(options))),
      budget_(options_.stop.time_s, options_.before_s, options_.now_s, options_.shared,
              device.measurer.get()),
      roofline_(roofline_of(task_)),
      searcher_(tuner.strategy
                    ? std::move(tuner)
                    : make_tuner(options_.strategy, candidates_, task_.device.limits, options_.seed),
                options_.seed, options_.threads),
      evaluator_(
          candidates_, *device.measurer, logs.own, common_row(task_, options_, logs.own), trials_,
          [this](const Point& point, double time_us) {
            const auto own_flops = [&] {
              return candidates_.flops_of ? candidates_.flops_of(point) : task_.problem.flops;
            };
            return roofline_.why_implausible(time_us, own_flops, device_.bound);
          },
          [this](const Trial& trial, bool best) {
            const auto* failure = std::get_if<Failure>(&trial.outcome);
            if (!failure) roofline_.reached(trial.config.family, std::get<Timing>(trial.outcome));
            report(best ? EventKind::kNewBest : EventKind::kTrial,
                   failure ? std::string(first_line(failure->text)) : to_text(trial.config));
          }),
      finals_({task_, candidates_, device_, logs_, options_, budget_, trials_, roofline_, evaluator_,
               summary_, [this] { prepare(); }}) {
  CHECK(!candidates_.defaults.empty(), "a task without a default");
  static_cast<RunSummary&>(summary_) =
      begun_summary(task_.problem.text, task_.problem.flops, task_.device, options_);
  summary_.in_flight = device_.measurer->in_flight();
}

Summary Session::run() {
  begin();
  finals_.prepare_libraries(library_search_s(options_.stop, 0));
  while (round()) {
  }
  return end(*stop_);
}

void Session::begin() {
  prepare();
  recall_rows();
  measure_first_default();
  measure_earlier_winner();
}

Summary Session::end(StopReason reason, std::optional<double> finals_s) {
  if (!stop_) stop_ = reason;
  const Progress at_stop = progress();
  budget_.begin_finals(finals_s);
  const auto plan = stop_ == StopReason::kInterrupted ? std::nullopt : finals_.plan();
  if (plan && !interrupted()) {
    report(EventKind::kFinals, "");
    finals_.run(*plan);
  } else {
    finals_.conclude_from_trials();
  }
  finals_.check_determinism();
  if (!interrupted()) probe_roof();
  summarize(at_stop);
  append_verdict();
  logs_.own.expect_in_place();
  return std::move(summary_);
}

void Session::prepare() {
  if (budget_.set_up()) return;
  const double from_s = budget_.elapsed_s();
  report(EventKind::kSetup, summary_.workload);
  lehr::prepare(*device_.measurer, task_, options_.seed);
  evaluator_.begin_reference();
  budget_.spend(Purpose::kSetup, from_s);
}

void Session::recall_rows() {
  if (options_.reuse) {
    const std::vector<Record> rows =
        logs_.own.all({.workload = summary_.workload, .device = "", .target = summary_.target, .family = ""});
    EarlierRuns earlier = earlier_runs(rows, summary_.identity, candidates_, logs_.own.origins());
    summary_.resume_text = describe(earlier);
    summary_.reused = static_cast<int>(earlier.answers.size());
    evaluator_.remember(std::move(earlier.deaths));
    std::vector<std::size_t> positions;
    for (KnownTrial& trial : earlier.answers) positions.push_back(trials_.add(std::move(trial)));
    learn(positions);
    recall_spent(rows);
    if (options_.finalists > 0) finals_.recall_verdict();
  }
  if (!summary_.resume_text.empty()) report(EventKind::kResumed, summary_.resume_text);
}

/// Counts the trials of a command that was killed or interrupted, so that they are not granted a second time.
void Session::recall_spent(const std::vector<Record>& rows) {
  if (options_.stop.trials == 0 || !options_.resumes) return;
  const std::vector<StoredVerdict> last = logs_.own.verdicts(
      {.workload = summary_.workload, .device = summary_.identity, .target = "", .family = ""});
  // A run that was cut off while its winner was being proven has a provisional verdict.
  const std::string finished = last.empty() || last[0].provisional ? "" : last[0].session;
  spent_ = spent_by_cut_off_runs(rows, summary_.identity, options_.seed, finished, options_.stop.trials);
  if (spent_ > 0)
    summary_.resume_text +=
        fmt::format("{}{} of the {} trials were spent by a run that was cut off",
                    summary_.resume_text.empty() ? "" : "; ", spent_, options_.stop.trials);
}

/// Recalls other tasks, unless this task is well known already: then other tasks add nothing.
void Session::recall_tasks() {
  if (!searcher_.tuner().model || trials_.reused_timed() >= kKnownWell) return;
  const Tuner& tuner = searcher_.tuner();
  std::vector<PastTask> tasks = past_tasks(
      logs_.others ? *logs_.others : logs_.own, task_, candidates_, tuner.row_of, tuner.columns,
      tuner.of_kernels,
      hint_rows(options_.stop.trials, options_.shared_s > 0 ? options_.shared_s : options_.stop.time_s));
  if (tasks.empty()) return;
  transfer_.emplace(std::move(tasks), options_.seed);
  std::vector<Point> first = transfer_->first_picks(candidates_.space, Transfer::kWarmStarts);
  const bool with_prior = first.empty();
  searcher_.start_from(*transfer_, with_prior, std::move(first));
  summary_.evidence = static_cast<int>(transfer_->trials());
  tell_resumed("hints: " + describe(*transfer_));
}

void Session::tell_resumed(const std::string& text) {
  summary_.resume_text += (summary_.resume_text.empty() ? "" : "; ") + text;
  report(EventKind::kResumed, text);
}

void Session::learn(const std::vector<std::size_t>& positions) {
  const KnownTrial* best = trials_.best();
  std::vector<Measurement> results;
  for (const std::size_t at : positions) {
    const KnownTrial& trial = trials_.all()[at];
    results.push_back({trial.point, trial.time_us()});
  }
  searcher_.observe(results, best ? *best->time_us() : 0);
}

/// Measures the first default that is not quarantined. Every session measures it, whatever the budget and the
/// log: it is the measurer's reference kernel, and the finals compare with it. Configs that were asked for by
/// name are measured too. Other defaults are measured only if no earlier run has measured them.
void Session::measure_first_default() {
  const auto first = std::ranges::find_if(
      candidates_.defaults, [this](const Point& point) { return !evaluator_.quarantined(point); });
  std::vector<Proposal> picks;
  if (first != candidates_.defaults.end()) picks.push_back({*first, "default"});
  for (const Point& point : options_.wanted)
    if (picks.empty() || point != picks[0].point) picks.push_back({point, kPickedToRemeasure});
  const double begin_s = budget_.elapsed_s();
  // The default is measured however little time there is. Before a task's first turn a short window is
  // enough: its time is only compared with other tasks'.
  const double most_s = options_.shared ? kSketchS : kNoLimitS;
  learn(evaluator_.measure(picks, [this] { return interrupted(); },
                           {.wanted_s = std::min(time_left().wanted_s, most_s)}));
  budget_.spend(Purpose::kDefault, begin_s);
  finals_.choose_default();
}

void Session::measure_earlier_winner() {
  const Point* const winner = finals_.earlier_winner();
  const KnownTrial* const trial = winner ? trials_.find(*winner) : nullptr;
  if (!winner || (trial && trial->origin == Origin::kHere) || evaluator_.quarantined(*winner)) return;
  const Proposal pick = {*winner, kPickedToResume};
  const auto up = [this] { return interrupted() || time_left().most_s <= 0; };
  learn(evaluator_.measure({&pick, 1}, up, time_left()));
}

void Session::warm_up() {
  warmed_up_ = true;
  const double begin_s = budget_.elapsed_s();
  if (options_.reuse && options_.transfer) recall_tasks();
  budget_.spend(Purpose::kHints, begin_s);
  std::vector<Proposal> picks;
  for (const Point& point : candidates_.defaults)
    if (!trials_.find(point)) picks.push_back({point, "default"});
  prepare();
  learn(evaluator_.measure(picks, [this] { return out_of_budget(); }, time_left()));
  finals_.choose_default();
  probe_roof();
}

bool Session::round() {
  if (out_of_budget()) return false;
  if (time_left().most_s < seconds_per_trial() + budget_.inputs_s()) {  // it would be cut off
    stop_ = options_.shared ? StopReason::kShared : StopReason::kTime;
    return false;
  }
  if (!warmed_up_) {
    warm_up();
    return true;
  }
  prepare();
  const std::size_t known = trials_.all().size();
  std::size_t room = room_for(kWindowsOfARound * static_cast<std::size_t>(device_.measurer->in_flight()));
  bool exhausted = false;
  const auto next = [&]() -> std::optional<Proposal> {
    if (room == 0 || exhausted) return std::nullopt;
    --room;
    std::optional<Proposal> pick = propose();
    exhausted = !pick;
    return pick;
  };
  evaluator_.measure(
      next, [this](std::size_t at) { learn({at}); }, [this] { return out_of_budget(); }, time_left());
  if (exhausted && !stop_ && trials_.all().size() == known) {
    stop_ = StopReason::kExhausted;
    return false;
  }
  if (const KnownTrial* best = trials_.best()) model_expects_gain_ = searcher_.expects_gain_over(best->point);
  probe_roof();
  return true;
}

/// Probes a roof between two rounds, when none of our kernels runs.
void Session::probe_roof() {
  roofline_.probe(device_.prober, [this] { return budget_.elapsed_s(); });
}

/// Returns `wanted`, or the number of trials that the budget still allows if that is less. Proposing and
/// compiling more would be a waste.
std::size_t Session::room_for(std::size_t wanted) {
  double room = static_cast<double>(wanted);
  if (const int trials = options_.stop.trials; trials > 0)
    room = std::min<double>(room, trials - spent_ - trials_.measured());
  if (const double each_s = seconds_per_trial(); each_s > 0)
    room = std::min(room, time_left().wanted_s / each_s);
  return static_cast<std::size_t>(std::max(1.0, room));
}

TimeLeft Session::time_left() const {
  finals_.keep_time();
  return budget_.left();
}

std::optional<Proposal> Session::propose() {
  if (searcher_.refit_if_due()) report(EventKind::kFitted, "");
  std::optional<Proposal> pick = searcher_.next();
  if (pick && pick->picked_by.empty()) pick->picked_by = options_.strategy;
  return pick;
}

Progress Session::progress() const {
  finals_.keep_time();
  return {.trials = spent_ + trials_.measured(),
          .timed = trials_.timed() + trials_.reused_timed(),
          .trials_since_gain = trials_.since_gain(),
          .model_expects_gain = model_expects_gain_,
          .elapsed_s = budget_.elapsed_s(),
          .finals_s = budget_.kept_s()};
}

bool Session::out_of_budget() {
  if (!stop_ && interrupted()) stop_ = StopReason::kInterrupted;
  if (!stop_ && options_.shared && options_.shared->left().wanted_s <= 0) stop_ = StopReason::kShared;
  if (!stop_) stop_ = should_stop(options_.stop, progress());
  return stop_.has_value();
}

void Session::report(EventKind kind, std::string note) {
  const Progress now = progress();
  const double searching_s = now.elapsed_s - setup_s();
  const double rate = searching_s > 0 ? trials_.measured() / searching_s : 0;
  std::optional<double> eta;
  if (options_.stop.time_s > 0) eta = std::max(0.0, options_.stop.time_s - now.elapsed_s);
  if (options_.stop.trials > 0 && rate > 0) {
    const double left = std::max(0, options_.stop.trials - now.trials) / rate + now.finals_s;
    eta = eta ? std::min(*eta, left) : left;
  }
  const KnownTrial* best = trials_.best();
  const KnownTrial* base = trials_.find(candidates_.defaults[0]);
  const Time best_time =
      best ? roofline_.reported(best->config.family, std::get<Timing>(best->outcome)) : Time{};
  options_.on_event({.kind = kind,
                     .note = std::move(note),
                     .elapsed_s = now.elapsed_s,
                     .eta_s = eta,
                     .measured = now.trials,
                     .trial_limit = options_.stop.trials,
                     .failed = trials_.failed(),
                     .trials_per_s = rate,
                     .default_us = base ? base->time_us().value_or(0) : 0,
                     .best = best_time,
                     .best_gflops = gflops_of(summary_.flops, best_time.us)});
}

void Session::summarize(const Progress& at_stop) {
  summary_.measured = trials_.measured();
  summary_.timed = trials_.timed();
  summary_.failed = trials_.failed();
  summary_.first_failure = evaluator_.first_failure();
  summary_.fits = searcher_.learner().fits();
  summary_.scored = searcher_.scorer().scored();
  summary_.stop = *stop_;
  summary_.stop_text = stop_text(at_stop);
  if (summary_.best) {
    roofline_.reached(summary_.best->config.family, summary_.verdict.best.us);
    summary_.roofline_fraction = roofline_.share(summary_.verdict.best.us);
  }
  summary_.peaks = roofline_.peaks();
  summary_.elapsed = budget_.elapsed();
  const Spent spent = budget_.spent();
  summary_.compiling_s = spent.compiling_s;
  summary_.kernels = spent.kernels;
  summary_.retimed = spent.retimed;
  summary_.disturbed = spent.disturbed;
}

/// Explains why the session ended. If steps that cannot be shortened have exceeded the limit, they are named.
std::string Session::stop_text(const Progress& at_stop) const {
  const double limit_s = options_.stop.time_s, default_s = budget_.spent_s(Purpose::kDefault);
  if (limit_s <= 0 || default_s + setup_s() <= limit_s) return explain(*stop_, options_.stop, at_stop);
  const std::optional<Point>& base = finals_.the_default();
  const KnownTrial* const first = base ? trials_.find(*base) : nullptr;
  const std::string call =
      first && first->time_us() ? fmt::format("; one call takes {:.2g} s", *first->time_us() * 1e-6) : "";
  return fmt::format(
      "the limit of {:g} s was reached: set-up took {:.1f} s, and the default alone {:.1f} s (to compile, "
      "check and time it{})",
      limit_s, setup_s(), default_s, call);
}

/// Appends the verdict. Only a contest gives a verdict. Without it `best` shows the fastest row, and says so.
void Session::append_verdict() {
  if (!summary_.contested) return;
  StoredVerdict row;
  static_cast<Verdict&>(row) = summary_.verdict;
  row.workload = summary_.workload;
  row.device = summary_.identity;
  row.session = options_.session_id;
  row.record_id = summary_.best->id;
  row.json = to_json(summary_).dump();
  logs_.own.append(row);
}

}  // namespace lehr
