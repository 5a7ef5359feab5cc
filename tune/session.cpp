// The session's beginning and its rounds: what earlier runs know, the defaults, then propose, measure, learn.
#include "tune/session.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "measure/worker/backends.h"
#include "tune/known_best.h"
#include "tune/past_tasks.h"
#include "tune/resume.h"
#include "tune/stored_kernel.h"

namespace lehr {
namespace {

/// A round is so many times what the measurer has in hand at once: at its end that runs dry.
constexpr std::size_t kWindowsOfARound = 4;
constexpr int kKnownWell = 64;  // own timings from which on other tasks are not asked
constexpr int kBounds = 3;
constexpr double kSketchS = 0.04;        // of a default's check and window, where a few samples do
constexpr double kUsualCompileS = 1;     // however late it is, a compilation may take so long
constexpr double kProbingShare = 0.005;  // of the session's time, that probes of the roofs may take

/// As it was timed: the correction by the reference kernel is no speed that was reached.
double raw_us(const Timing& timing) {
  return timing.samples_us.empty() ? timing.time_us : estimate(timing.samples_us);
}

Roofline roofline_of(const Task& task) {
  const bool known = task.workload && task.problem.flops > 0 && task.problem.bytes > 0;
  return known ? Roofline(*task.workload, task.device.limits) : Roofline();
}

SessionOptions completed(SessionOptions options) {
  options.on_event = harmless(std::move(options.on_event));
  return options;
}

}  // namespace

Record common_row(const Task& task, const SessionOptions& options, Database& log) {
  Record row;
  row.workload = task.problem.text;
  row.device = identity_of(task.device);
  row.target = name_of(task.device.limits.target);
  row.arch = task.device.limits.arch;
  row.session = options.session_id;
  row.session_began_unix_ms = options.began_unix_ms;
  row.seed = options.seed;
  row.tool_version = kVersion;
  row.device_hash = log.append(stored_device(task.device));
  return row;
}

Session::Session(Task task, Candidates candidates, const OpenDevice& device, Logs logs,
                 SessionOptions options, Tuner tuner)
    : task_(std::move(task)),
      candidates_(std::move(candidates)),
      device_(device),
      logs_(logs),
      options_(completed(std::move(options))),
      budget_(options_.stop.time_s, options_.before_s, options_.now_s),
      spent_before_(device.measurer->spent()),
      roofline_(roofline_of(task_)),
      searcher_(tuner.strategy
                    ? std::move(tuner)
                    : make_tuner(options_.strategy, candidates_, task_.device.limits, options_.seed),
                options_.seed, options_.threads),
      evaluator_(
          candidates_, *device.measurer, logs.own, common_row(task_, options_, logs.own), trials_,
          [this](const Point& point, double time_us) { return why_implausible(point, time_us); },
          [this](const Trial& trial, bool best) {
            const auto* failure = std::get_if<Failure>(&trial.outcome);
            if (!failure) roofline_.reached(trial.config.family, raw_us(std::get<Timing>(trial.outcome)));
            report(best ? EventKind::kNewBest : EventKind::kTrial,
                   failure ? std::string(first_line(failure->text)) : to_text(trial.config));
          }),
      setup_s_(options_.before_s) {
  CHECK(!candidates_.defaults.empty(), "a task without a default");
  summary_.workload = task_.problem.text;
  summary_.device = task_.device.name;
  summary_.identity = identity_of(task_.device);
  summary_.target = name_of(task_.device.limits.target);
  summary_.caches = cache_policy(task_.device);
  summary_.session = options_.session_id;
  summary_.strategy = options_.strategy;
  summary_.seed = options_.seed;
  summary_.slots = device_.measurer->slots();
  summary_.flops = task_.problem.flops;
}

/// Probes on a busy machine may be anything: only what no burst comes near is a kernel's fault.
std::string Session::why_implausible(const Point& point, double time_us) {
  const auto own_flops = [&] { return candidates_.flops_of ? candidates_.flops_of(point) : summary_.flops; };
  std::string why = roofline_.why_implausible(time_us, own_flops);
  for (int again = 0; !why.empty() && device_.bound && again < kBounds; ++again) {
    roofline_.bounded(device_.bound());
    why = roofline_.why_implausible(time_us, own_flops);
  }
  return why;
}

Summary Session::run() {
  begin();
  prepare_libraries(library_search_s(options_.stop, 0));
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

void Session::pause() {
  spent_here_ = spent();
  budget_.pause();
  prepared_ = false;
}

Spent Session::spent() const {
  return budget_.paused() ? spent_here_ : spent_here_ + (device_.measurer->spent() - spent_before_);
}

void Session::resume() {
  budget_.resume();
  spent_before_ = device_.measurer->spent();
}

Summary Session::end(StopReason reason, std::optional<double> finals_s) {
  if (!stop_) stop_ = reason;
  const Progress at_stop = progress();
  finals_from_s_ = elapsed_s();
  spent_by_search_ = spent();
  setup_by_search_s_ = setup_s_;
  if (finals_s) finals_until_s_ = finals_from_s_ + *finals_s;
  if (stop_ == StopReason::kInterrupted)
    conclude_from_trials();
  else
    finals();
  check_determinism();
  if (!interrupted()) probe_roof();
  summarize(at_stop);
  append_verdict();
  logs_.own.expect_in_place();
  return std::move(summary_);
}

void Session::prepare() {
  if (prepared_) return;
  prepared_ = true;
  const double before_s = elapsed_s();
  report(EventKind::kSetup, summary_.workload);
  lehr::prepare(*device_.measurer, task_, options_.seed);
  libraries_prepared_ = false;
  evaluator_.begin_reference();
  inputs_s_ = elapsed_s() - before_s;
  setup_s_ += inputs_s_;
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
    if (options_.finalists > 0) earlier_ = standing_verdict(task_, candidates_, logs_.own);
  }
  if (!summary_.resume_text.empty()) report(EventKind::kResumed, summary_.resume_text);
}

/// The same command after a kill or an interrupt goes on: it does not get its trials a second time.
void Session::recall_spent(const std::vector<Record>& rows) {
  if (options_.stop.trials == 0 || !options_.resumes) return;
  const std::vector<StoredVerdict> last = logs_.own.verdicts(
      {.workload = summary_.workload, .device = summary_.identity, .target = "", .family = ""});
  // A run that was cut off while its winner was proven has a provisional verdict.
  const std::string finished = last.empty() || last[0].provisional ? "" : last[0].session;
  spent_ = spent_by_cut_off_runs(rows, summary_.identity, options_.seed, finished, options_.stop.trials);
  if (spent_ > 0)
    summary_.resume_text +=
        fmt::format("{}{} of the {} trials were spent by a run that was cut off",
                    summary_.resume_text.empty() ? "" : "; ", spent_, options_.stop.trials);
}

/// Where this task is well known already, other tasks have nothing to add.
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

void Session::measure(std::span<const Proposal> picks) {
  prepare();
  learn(evaluator_.measure(picks, [this] { return out_of_budget(); }, time_left()));
}

/// The first default that is not quarantined is measured in every session, known or not, and whatever the
/// budget: it is the measurer's reference kernel, and what the finals compare with. So are the configs that
/// were asked for by name. The other defaults only when no earlier run knows them.
void Session::measure_first_default() {
  const auto first = std::ranges::find_if(
      candidates_.defaults, [this](const Point& point) { return !evaluator_.quarantined(point); });
  std::vector<Proposal> picks;
  if (first != candidates_.defaults.end()) picks.push_back({*first, "default"});
  for (const Point& point : options_.wanted)
    if (picks.empty() || point != picks[0].point) picks.push_back({point, kPickedToRemeasure});
  const double begin_s = elapsed_s();
  // However little time there is, the default is measured. Before a task's first turn it only has to be told
  // from others'.
  const double most_s = options_.shared ? kSketchS : kNoLimitS;
  learn(evaluator_.measure(picks, [this] { return interrupted(); },
                           {.wanted_s = std::min(time_left().wanted_s, most_s)}));
  first_default_s_ = elapsed_s() - begin_s;
  choose_default();
  swaps_ = device_.measurer->swaps();
}

void Session::measure_earlier_winner() {
  if (!earlier_) return;
  earlier_winner_ = candidates_.space.point_of(logs_.own.find(earlier_->record_id)->config);
  const KnownTrial* const trial = trials_.find(earlier_winner_);
  if ((trial && trial->origin == Origin::kHere) || evaluator_.quarantined(earlier_winner_)) return;
  const Proposal pick = {earlier_winner_, kPickedToResume};
  const auto up = [this] { return interrupted() || time_left().most_s <= 0; };
  learn(evaluator_.measure({&pick, 1}, up, time_left()));
}

/// The first that ran.
void Session::choose_default() {
  for (const Point& point : candidates_.defaults) {
    const KnownTrial* trial = trials_.find(point);
    if (!default_ && trial && trial->time_us()) default_ = point;
  }
}

void Session::warm_up() {
  warmed_up_ = true;
  const double begin_s = elapsed_s();
  if (options_.reuse && options_.transfer) recall_tasks();
  hints_s_ = elapsed_s() - begin_s;
  std::vector<Proposal> picks;
  for (const Point& point : candidates_.defaults)
    if (!trials_.find(point)) picks.push_back({point, "default"});
  measure(picks);
  choose_default();
  probe_roof();
}

bool Session::round() {
  if (out_of_budget()) return false;
  if (time_left().most_s < seconds_per_trial() + (prepared_ ? 0 : inputs_s_)) {  // it would only be ended
    stop_ = options_.shared ? StopReason::kShared : StopReason::kTime;
    return false;
  }
  if (!warmed_up_) {
    warm_up();
    return true;
  }
  prepare();
  const std::size_t known = trials_.all().size();
  std::size_t room = room_for(kWindowsOfARound * static_cast<std::size_t>(device_.measurer->slots()));
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

/// One probe at the start may meet a machine that is busy with something else. Between two rounds nothing of
/// ours runs; the share of the time that probes may take spreads them over the session.
void Session::probe_roof() {
  if (!device_.prober || !roofline_.known()) return;
  const Roof roof = roofline_.binding();
  double& cost_s = probe_cost_s_[static_cast<std::size_t>(roof)];
  if (probing_s_ + cost_s > kProbingShare * elapsed_s()) return;
  const double begin_s = elapsed_s();
  roofline_.probed(roof, device_.prober(roof));
  cost_s = elapsed_s() - begin_s;
  probing_s_ += cost_s;
}

/// No more than the budget still holds: proposing and compiling the rest would be wasted.
std::size_t Session::room_for(std::size_t wanted) const {
  double room = static_cast<double>(wanted);
  if (const int trials = options_.stop.trials; trials > 0)
    room = std::min<double>(room, trials - spent_ - trials_.measured());
  if (const double each_s = seconds_per_trial(); each_s > 0)
    room = std::min(room, time_left().wanted_s / each_s);
  return static_cast<std::size_t>(std::max(1.0, room));
}

double Session::seconds_per_trial() const {
  return trials_.measured() > 0 ? (elapsed_s() - setup_s_ - hints_s_) / trials_.measured() : 0;
}

TimeLeft Session::time_left() const {
  const TimeLeft shared = options_.shared ? options_.shared->left() : TimeLeft{};
  const TimeLeft own = budget_.left();
  const double kept_s = budget_.limited() ? finals_kept_s() : 0;
  const double wanted_s = std::min(shared.wanted_s, own.most_s - kept_s);
  return {wanted_s, std::min(shared.most_s, own.most_s), std::max(wanted_s, kUsualCompileS)};
}

/// More than their share where a contest with its proofs needs more, but half of the time behind the set-up.
/// A trial may still run when they are due, and costs are known to a tenth.
double Session::finals_kept_s() const {
  const double limit_s = options_.stop.time_s, share_s = finals_share_s(limit_s, elapsed_s());
  if (limit_s <= 0 || options_.finalists == 0) return share_s;
  constexpr double kMostShare = 0.5, kKnownTo = 1.1;
  const double begun_s = setup_s_ + first_default_s_;
  const double least_s = kKnownTo * least_finals_s() + seconds_per_trial();
  return std::max(share_s, std::min(least_s, kMostShare * (limit_s - begun_s)));
}

std::optional<Proposal> Session::propose() {
  if (searcher_.refit_if_due()) report(EventKind::kFitted, "");
  std::optional<Proposal> pick = searcher_.next();
  if (pick && pick->picked_by.empty()) pick->picked_by = options_.strategy;
  return pick;
}

Progress Session::progress() const {
  const double elapsed = elapsed_s();
  return {.trials = spent_ + trials_.measured(),
          .timed = trials_.timed() + trials_.reused_timed(),
          .trials_since_gain = trials_.since_gain(),
          .model_expects_gain = model_expects_gain_,
          .elapsed_s = elapsed,
          .finals_s = finals_kept_s()};
}

bool Session::out_of_budget() {
  if (!stop_ && interrupted()) stop_ = StopReason::kInterrupted;
  if (!stop_ && options_.shared && options_.shared->left().wanted_s <= 0) stop_ = StopReason::kShared;
  if (!stop_) stop_ = should_stop(options_.stop, progress());
  return stop_.has_value();
}

Time Session::shown(const KnownTrial& trial) const {
  const Timing& timing = std::get<Timing>(trial.outcome);
  Time time = {timing.time_us, interval_of(timing)};
  if (timing.samples_us.empty()) return time;
  const bool too_fast =
      !saves_products(trial.config.family) && roofline_.share(timing.time_us).value_or(0) > 1;
  time.us = std::max(too_fast ? raw_us(timing) : timing.time_us, std::ranges::min(timing.samples_us));
  return time;
}

void Session::report(EventKind kind, std::string note) {
  const Progress now = progress();
  const double searching_s = now.elapsed_s - setup_s_;
  const double rate = searching_s > 0 ? trials_.measured() / searching_s : 0;
  std::optional<double> eta;
  if (options_.stop.time_s > 0) eta = std::max(0.0, options_.stop.time_s - now.elapsed_s);
  if (options_.stop.trials > 0 && rate > 0) {
    const double left = std::max(0, options_.stop.trials - now.trials) / rate + now.finals_s;
    eta = eta ? std::min(*eta, left) : left;
  }
  const KnownTrial* best = trials_.best();
  const KnownTrial* base = trials_.find(candidates_.defaults[0]);
  const Time best_time = best ? shown(*best) : Time{};
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

}  // namespace lehr
