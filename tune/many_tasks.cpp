#include "tune/many_tasks.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>
#include <utility>

#include "base/error.h"
#include "tune/gain_curve.h"
#include "tune/known_best.h"
#include "tune/past_tasks.h"

namespace lehr {
namespace {

/// Number of failures from the start, without a timing, after which a task is given up.
constexpr int kFailingTrials = 32;
/// Number of defaults compiled per compiler slot before the first default is timed. Batches are large because
/// cores idle at the end of each batch.
constexpr std::size_t kCompiledForEach = 8;
/// Assumed seconds of a compilation, several running at once, before one was measured.
constexpr double kUsualCompile_s = 0.3;
/// A batch may take at most this fraction of the time that is left.
constexpr double kMostCompiling = 0.5;

/// A task and its progress.
struct Shared {
  Task task;
  SharedResult result;
  GainCurve curve;
  std::optional<Candidates> candidates = std::nullopt;  ///< set until a session takes them
  std::unique_ptr<Session> session = nullptr;           ///< nullptr until its first turn
  bool exhausted = false;                               ///< whether nothing is left to search

  double best_us() const {
    if (!session) return result.best_us;
    const KnownTrial* best = session->trials().best();
    return best ? *best->time_us() : 0;
  }
  double default_us() const {
    if (!session) return result.default_us;
    for (const KnownTrial& trial : session->trials().all())
      if (trial.picked_by == "default" && trial.time_us()) return *trial.time_us();
    return result.default_us;
  }
  double flops() const { return task.problem.flops * result.occurrences; }
};

/// One run over all tasks.
class TurnTaking {
 public:
  TurnTaking(const std::vector<SharedTask>& tasks, const OpenDevice& device, Logs logs,
             const SharedOptions& options)
      : budget_(options.time_s, options.session.before_s, options.session.now_s),
        by_share_(options.by_share),
        uses_(options.uses),
        device_(device),
        logs_(logs),
        session_(options.session),
        time_s_(options.time_s),
        behind_s_(options.behind_s) {
    session_.before_s = 0;  // the shared budget counts it
    sink_ = harmless(std::exchange(session_.on_event, [this](Event event) { pass_on(std::move(event)); }));
    session_.shared = &budget_;
    session_.shared_s = options.time_s / static_cast<double>(std::max<std::size_t>(1, tasks.size()));
    session_.stop.time_s = 0;
    session_.stop.failing_trials = kFailingTrials;
    for (const SharedTask& each : tasks)
      add(each, task_of(each.workload, device.device, options.winograd, options.layout));
  }
  TurnTaking(const TurnTaking&) = delete;

  std::vector<SharedResult> run() {
    begin_new_ones();
    settle();
    while (Shared* next = out_of_time() ? nullptr : most_promising()) turn(*next);
    finish_all();
    settle();
    std::vector<SharedResult> results;
    for (Shared& each : tasks_) results.push_back(std::move(each.result));
    return results;
  }

 private:
  void add(const SharedTask& each, Task task) {
    SharedResult result = {each};
    result.uses = each.instead_of ? 0 : each.occurrences;
    if (each.verdict) take(*each.verdict, result);
    const GainCurve curve(static_cast<double>(each.timed) / kTurnTrials);
    tasks_.push_back({std::move(task), std::move(result), curve});
  }

  static void take(const Verdict& verdict, SharedResult& result) {
    result.best_us = verdict.best.us;
    result.default_us = verdict.default_time.us;
    result.baseline = verdict.baseline;
    result.baseline_us = verdict.baseline_us;
  }

  bool interrupted() const { return device_.stopped(); }
  double elapsed_s() const { return budget_.elapsed_s(); }
  double left_s() const { return budget_.left_s(); }
  /// Keeps time for the steps after tuning, and for the finals of tasks that had turns. The finals get as
  /// much as if each of these tasks had an equal part of the limit for itself. If the proofs need more, the
  /// finals get more, but at most half of the whole time.
  void keep_time() {
    // Each task measures its default even if too little time is then left for the steps after tuning.
    constexpr double kDefaultsShare = 0.7, kLeastShare = 0.2;
    if (behind_s_)
      budget_.limit(std::max((new_ones_begun_ ? kLeastShare : kDefaultsShare) * time_s_,
                             time_s_ - behind_s_(sum_us(), compile_s()) - uncompiled_s()));
    if (session_.finalists == 0) return;
    double searched = 0, least_s = 0;
    for (const Shared& each : tasks_) {
      if (each.result.turns == 0) continue;
      ++searched;
      least_s += each.session->least_finals_s();
    }
    const double time_s = budget_.limit_s();
    const double share_s = searched > 0 ? searched * finals_share_s(time_s / searched, 0) : 0;
    budget_.keep_for_finals(share_s, least_s, time_s);
  }
  double sum_us() const {
    double sum = 0;
    for (const Shared& each : tasks_) sum += each.result.uses * each.best_us();
    return sum;
  }
  /// Returns the seconds of a compilation while several run at once.
  double compile_s() const {
    const Spent spent = device_.measurer->spent();
    return spent.kernels > 0 ? device_.measurer->in_flight() * spent.compiling_s / spent.kernels
                             : kUsualCompile_s;
  }
  /// Returns the seconds for compiling the kernels that the log knows. The steps after tuning compile them.
  double uncompiled_s() const {
    const auto known = std::ranges::count_if(
        tasks_, [](const Shared& each) { return each.session == nullptr && each.best_us() > 0; });
    return static_cast<double>(known) * compile_s() / device_.measurer->in_flight();
  }
  bool out_of_time() const { return interrupted() || budget_.left().wanted_s <= 0; }

  void begin_new_ones() {
    std::vector<Shared*> order;
    for (Shared& each : tasks_)
      if (each.result.knowledge != Knowledge::kKnown) order.push_back(&each);
    std::ranges::stable_sort(order, std::greater(), &Shared::flops);
    const std::size_t together = kCompiledForEach * static_cast<std::size_t>(device_.measurer->in_flight());
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (interrupted() || left_s() <= begin_s_) break;
      if (i % together == 0)
        compile_defaults(std::span(order).subspan(i, std::min(together, order.size() - i)));
      begin(*order[i]);
    }
    device_.measurer->hold({}, 0);
    new_ones_begun_ = true;
    keep_time();
  }

  /// Compiles the tasks' defaults together, so that no core waits while a default is timed.
  void compile_defaults(std::span<Shared* const> tasks) {
    std::vector<Source> sources;
    for (Shared* each : tasks) {
      each->candidates = candidates_for(each->task);
      std::variant<Source, Failure> made = try_emit(*each->candidates, each->candidates->defaults[0]);
      if (auto* const source = std::get_if<Source>(&made)) sources.push_back(std::move(*source));
    }
    device_.measurer->hold(sources, kMostCompiling * left_s());
  }

  void begin(Shared& shared) {
    const double from_s = elapsed_s();
    SessionOptions options = session_;
    options.session_id = fmt::format("{}-{}", options.session_id, &shared - tasks_.data());
    if (!shared.candidates) shared.candidates = candidates_for(shared.task);
    shared.session = std::make_unique<Session>(shared.task, *std::exchange(shared.candidates, std::nullopt),
                                               device_, logs_, std::move(options));
    shared.session->begin();
    shared.session->pause();
    begin_s_ = elapsed_s() - from_s;
    keep_time();
  }

  /// Decides which of the tasks that compute the same result is used.
  void settle() {
    if (!uses_) return;
    std::vector<double> best_us;
    for (const Shared& each : tasks_) best_us.push_back(each.best_us());
    const std::vector<double> uses = uses_(best_us);
    for (std::size_t i = 0; i < tasks_.size(); ++i) tasks_[i].result.uses = uses[i];
  }

  std::vector<TaskState> states_now() const {
    std::vector<TaskState> states;
    for (const Shared& each : tasks_)
      states.push_back({each.result.uses, each.best_us(), each.curve,
                        !each.exhausted && (each.session || left_s() >= begin_s_)});
    return states;
  }

  Shared* most_promising() {
    std::vector<TaskState> states = states_now();
    if (by_share_)
      for (std::size_t i = 0; i < states.size(); ++i)
        if (const double default_us = tasks_[i].default_us(); default_us > 0)
          states[i].occurrences /= default_us;
    const auto next = next_task(states, session_.stop.plateau_trials == 0 ? 0 : kLeastGain);
    return next ? &tasks_[*next] : nullptr;
  }

  /// Returns the least seconds of a task's first turn.
  double first_turn_s() const { return begin_s_ + kTurnTrials * compile_s() / device_.measurer->in_flight(); }

  /// Runs a turn of at least kTurnTrials, and enough trials to pay for putting the inputs in place.
  void turn(Shared& shared) {
    const double begin_s = elapsed_s(), before_us = shared.best_us();
    if (!shared.session) begin(shared);
    Session& session = *shared.session;
    // First, time for the task's finals is kept. The turn needs enough of the time that is then left.
    const bool first = ++shared.result.turns == 1;
    keep_time();
    if (out_of_time() || (first && budget_.left().wanted_s < first_turn_s())) {
      --shared.result.turns;
      shared.exhausted = true;
      return keep_time();
    }
    const double setup_before_s = session.setup_s();
    session.resume();
    const int trials_before = session.trials().measured();
    const double search_from_s = elapsed_s();
    const auto searched_s = [&] { return elapsed_s() - search_from_s; };
    const auto setup_s = [&] { return session.setup_s() - setup_before_s; };
    do {
      if (!session.round()) shared.exhausted = true;
    } while (!shared.exhausted && !out_of_time() &&
             (session.trials().measured() - trials_before < kTurnTrials || searched_s() < 4 * setup_s()));
    session.pause();
    shared.curve.add_turn(before_us, shared.best_us(), elapsed_s() - begin_s);
    keep_time();
  }

  /// Finishes all tasks. Tasks that only have a default come first: they need little time to decide, and
  /// without time nothing is done for them.
  void finish_all() {
    std::vector<Shared*> alone, searched;
    for (Shared& each : tasks_)
      if (each.session) (each.result.turns > 0 ? searched : alone).push_back(&each);
    const double spare_s = std::max(0.0, budget_.left().wanted_s), kept_s = budget_.kept_s();
    const auto used = std::ranges::count_if(alone, [](const Shared* each) { return each->result.uses > 0; });
    const double each_s =
        std::min(spare_s, finals_share_s(budget_.limit_s(), 0)) / static_cast<double>(std::max(1L, used));
    for (Shared* each : alone) finish(*each, each->result.uses > 0 ? each_s : 0);
    const double until_s = elapsed_s() + std::min(kept_s, left_s());
    for (std::size_t i = 0; i < searched.size(); ++i) {
      // Each task gets the time that it needs, and an equal part of the rest.
      const double left_s = until_s - elapsed_s(), own_s = searched[i]->session->least_finals_s();
      double needed_s = 0;
      for (std::size_t j = i; j < searched.size(); ++j) needed_s += searched[j]->session->least_finals_s();
      const double spare_s = (left_s - needed_s) / static_cast<double>(searched.size() - i);
      finish(*searched[i], spare_s < 0 ? left_s * own_s / needed_s : own_s + spare_s);
    }
  }

  void finish(Shared& shared, double seconds) {
    if (!interrupted()) shared.session->resume();
    SharedResult& result = shared.result;
    result.summary =
        shared.session->end(interrupted() ? StopReason::kInterrupted : StopReason::kShared, seconds);
    if (result.summary->best) take(result.summary->verdict, result);
  }

  void pass_on(Event event) {
    SharedProgress shared;
    shared.tasks = static_cast<int>(tasks_.size());
    for (const Shared& each : tasks_) {
      if (each.session) shared.measured += each.session->trials().measured();
      const double best_us = each.best_us();
      if (best_us <= 0) continue;
      ++shared.known;
      shared.best_us += each.result.uses * best_us;
      if (each.result.instead_of) continue;
      const double default_us = each.default_us();
      shared.default_us += each.result.occurrences * (default_us > 0 ? default_us : best_us);
    }
    event.elapsed_s = elapsed_s();
    event.eta_s = std::max(0.0, time_s_ - event.elapsed_s);
    event.trials_per_s = event.elapsed_s > 0 ? shared.measured / event.elapsed_s : 0;
    event.measured = shared.measured;
    event.trial_limit = 0;
    event.shared = shared;
    sink_(event);
  }

  Budget budget_;
  const bool by_share_;
  const Uses uses_;
  const OpenDevice& device_;
  const Logs logs_;
  SessionOptions session_;  // options of each task's session, except for its id
  EventSink sink_;
  std::vector<Shared> tasks_;
  bool new_ones_begun_ = false;
  double time_s_ = 0;
  std::function<double(double, double)> behind_s_;
  // Seconds for the inputs and default of the task begun last: the next task has fewer operations.
  double begin_s_ = 0;
};

}  // namespace

std::string_view name_of(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::kKnown:
      return "known";
    case Knowledge::kNear:
      return "near";
    case Knowledge::kNew:
      return "new";
  }
  return "";
}

void recall(std::vector<SharedTask>& tasks, const Device& device, bool winograd, const Database& database) {
  const std::vector<TaskInLog> logged =
      tasks_in_log(database, {.target = std::string(name_of(device.limits.target))});
  const std::string identity = identity_of(device);
  for (SharedTask& task : tasks) {
    const bool near = std::ranges::any_of(logged, [&](const TaskInLog& other) {
      return distance(task.workload, other.workload) <= kNearDistance && database.timed(other.where) > 0;
    });
    if (near) task.knowledge = Knowledge::kNear;
    task.timed = static_cast<int>(database.timed({.workload = to_text(task.workload), .device = identity}));
    const Task same = task_of(task.workload, device, winograd);
    const RecordFilter here = {.workload = to_text(task.workload), .device = identity};
    if (!database.verdicts(here).empty())
      task.verdict = standing_verdict(same, candidates_for(same), database);
    if (task.verdict) task.knowledge = Knowledge::kKnown;
  }
}

std::vector<SharedResult> tune_tasks(const std::vector<SharedTask>& tasks, const OpenDevice& device,
                                     Logs logs, const SharedOptions& options) {
  CHECK(options.time_s > 0, "several tasks share a time, and have none");
  return TurnTaking(tasks, device, logs, options).run();
}

int measured_of(const SharedResult& result) {
  return result.summary ? result.summary->measured : result.range ? result.range->measured : 0;
}

SharedTotals totals_of(const std::vector<SharedResult>& results) {
  SharedTotals totals;
  for (const SharedResult& each : results) {
    totals.best_us += each.uses * each.best_us;
    if (each.instead_of) continue;
    totals.default_us += each.occurrences * (each.default_us > 0 ? each.default_us : each.best_us);
    if (each.baseline_us <= 0) continue;
    totals.baseline_us += each.occurrences * each.baseline_us;
    totals.best_where_baseline_us += each.occurrences * each.best_us;
  }
  return totals;
}

}  // namespace lehr
