#include "tune/many_tasks.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <ranges>
#include <utility>

#include "base/error.h"
#include "tune/gain_curve.h"
#include "tune/session_impl.h"
#include "tune/stored_kernel.h"
#include "tune/task_run.h"

namespace lehr {
namespace {

/// Failures from the start after which a task is given up.
constexpr int kFailingTrials = 32;
/// What a task of which nothing ran counts for, in microseconds.
constexpr double kNothingRanUs = 1e6;

/// A task on its way.
struct Shared {
  Task task;
  SharedResult result;
  GainCurve curve;
  std::unique_ptr<TaskRun> run;  ///< nullptr: it had no turn yet
  bool exhausted = false;        ///< nothing is left to be searched

  double best_us() const {
    if (!run) return result.best_us;
    const KnownTrial* best = run->session().trials().best();
    return best ? *best->time_us() : 0;
  }
  double default_us() const {
    if (!run) return result.default_us;
    for (const KnownTrial& trial : run->session().trials().all())
      if (trial.picked_by == "default" && trial.time_us()) return *trial.time_us();
    return result.default_us;
  }
  double flops() const { return flops_of(task.workload) * result.occurrences; }
};

/// One run over all tasks.
class TurnTaking {
 public:
  TurnTaking(const std::vector<SharedTask>& tasks, const Device& device, const SharedOptions& options,
             SessionParts parts)
      : options_(options), parts_(std::move(parts)) {
    if (!parts_.now_s)
      parts_.now_s = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
      };
    started_s_ = parts_.now_s() - options.session.before_s;
    sink_ = std::exchange(parts_.on_event, [this](Event event) { pass_on(std::move(event)); });
    parts_.time_left = [this] { return TimeLeft{left_s() - finals_s(), left_s()}; };
    tasks_.reserve(tasks.size());  // their addresses stay
    for (const SharedTask& each : tasks) add(each, device);
    each_s_ = options.time_s / static_cast<double>(std::max<std::size_t>(1, tasks.size()));
  }

  std::vector<SharedResult> run() {
    begin_new_ones();
    while (Shared* next = out_of_time() ? nullptr : most_promising()) turn(*next);
    finish_all();
    std::vector<SharedResult> results;
    for (Shared& each : tasks_) results.push_back(std::move(each.result));
    return results;
  }

 private:
  void add(const SharedTask& each, const Device& device) {
    Shared& shared = tasks_.emplace_back();
    shared.task = {each.workload, device, options_.saving_products};
    SharedResult& result = shared.result;
    result.workload = each.workload;
    result.occurrences = each.occurrences;
    result.knowledge = each.knowledge;
    if (each.verdict) take(*each.verdict, result);
    shared.curve = GainCurve(static_cast<double>(each.timed) / kTurnTrials);
  }

  static void take(const Verdict& verdict, SharedResult& result) {
    result.best_us = verdict.best.us;
    result.default_us = verdict.default_time.us;
    result.baseline = verdict.baseline;
    result.baseline_us = verdict.baseline_us;
  }

  bool interrupted() const { return parts_.interrupted && parts_.interrupted->load(); }
  double elapsed_s() const { return parts_.now_s() - started_s_; }
  double left_s() const { return options_.time_s - elapsed_s(); }
  /// Kept for the finals: as of so many tasks that have their part of the time for themselves.
  double finals_s() const {
    const auto begun = static_cast<double>(
        std::ranges::count_if(tasks_, [](const Shared& each) { return each.run != nullptr; }));
    return begun > 0 ? begun * finals_share_s(options_.time_s / begun, 0) : 0;
  }
  bool out_of_time() const { return interrupted() || left_s() <= finals_s(); }

  void begin_new_ones() {
    std::vector<Shared*> order;
    for (Shared& each : tasks_)
      if (each.result.knowledge != Knowledge::kKnown) order.push_back(&each);
    std::ranges::stable_sort(order, std::greater(), &Shared::flops);
    for (Shared* each : order)
      if (!interrupted() && left_s() > begin_s_) begin(*each);  // a default before any task's finals
  }

  void begin(Shared& shared) {
    SessionOptions session = options_.session;
    session.before_s = 0;
    session.shared_s = each_s_;
    session.stop.time_s = 0;
    session.stop.failing_trials = kFailingTrials;
    session.session_id = fmt::format("{}-{}", session.session_id, &shared - tasks_.data());
    const double from_s = elapsed_s();
    shared.run = std::make_unique<TaskRun>(shared.task, session, parts_);
    shared.run->session().begin();
    shared.run->session().pause();
    begin_s_ = elapsed_s() - from_s;
  }

  /// The expected gain of a task's next turn, in microseconds of the sum.
  double next_gain_us(const Shared& each) const {
    // Where nothing ran yet everything is to be gained.
    return each.result.occurrences *
           (each.best_us() > 0 ? each.best_us() * each.curve.next_gain() : kNothingRanUs);
  }

  Shared* most_promising() {
    double sum_us = 0, sum_s = 0;
    int timed = 0;
    for (const Shared& each : tasks_) {
      sum_us += each.result.occurrences * each.best_us();
      sum_s += each.curve.seconds_per_turn(0);
      timed += each.curve.seconds_per_turn(0) > 0 ? 1 : 0;
    }
    const double usual_s = timed > 0 ? sum_s / timed : 1;
    Shared* best = nullptr;
    double best_rate = 0;
    for (Shared& each : tasks_) {
      const double gain_us = next_gain_us(each);
      const bool worth = options_.session.stop.plateau_trials == 0 || gain_us >= kLeastGain * sum_us;
      const double rate = gain_us / each.curve.seconds_per_turn(usual_s);
      if (!each.run && left_s() < begin_s_) continue;
      if (each.exhausted || !worth || rate <= best_rate) continue;
      best = &each;
      best_rate = rate;
    }
    return best;
  }

  /// At least kTurnTrials, and enough of them for the inputs to have paid.
  void turn(Shared& shared) {
    const double begin_s = elapsed_s(), before_us = shared.best_us();
    if (!shared.run) begin(shared);
    Session& session = shared.run->session();
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
    ++shared.result.turns;
  }

  /// Where the time is not enough for contests of all, those that had turns have it: of a default alone there
  /// is little to decide. So these come last, with what the others leave.
  void finish_all() {
    std::vector<Shared*> due;
    for (const bool had_turns : {false, true})
      for (Shared& each : tasks_)
        if (each.run && (each.result.turns > 0) == had_turns) due.push_back(&each);
    const double all_s = std::min(finals_s(), left_s()), until_s = elapsed_s() + all_s;
    const double equal_s = all_s / static_cast<double>(due.size());
    for (std::size_t i = 0; i < due.size(); ++i) {
      const double rest_s = (until_s - elapsed_s()) / static_cast<double>(due.size() - i);
      finish(*due[i], due[i]->result.turns > 0 ? rest_s : std::min(rest_s, equal_s));
    }
  }

  void finish(Shared& shared, double seconds) {
    Session& session = shared.run->session();
    if (!interrupted()) session.resume();
    SharedResult& result = shared.result;
    result.summary = session.end(interrupted() ? StopReason::kInterrupted : StopReason::kShared, seconds);
    if (result.summary->best) take(result.summary->verdict, result);
  }

  void pass_on(Event event) {
    if (!sink_) return;
    SharedProgress shared;
    shared.tasks = static_cast<int>(tasks_.size());
    for (const Shared& each : tasks_) {
      if (each.run) shared.measured += each.run->session().trials().measured();
      const double best_us = each.best_us();
      if (best_us <= 0) continue;
      ++shared.known;
      shared.best_us += each.result.occurrences * best_us;
      const double default_us = each.default_us();
      shared.default_us += each.result.occurrences * (default_us > 0 ? default_us : best_us);
    }
    event.elapsed_s = elapsed_s();
    event.eta_s = std::max(0.0, options_.time_s - event.elapsed_s);
    event.trials_per_s = event.elapsed_s > 0 ? shared.measured / event.elapsed_s : 0;
    event.measured = shared.measured;
    event.trial_limit = 0;
    event.shared = shared;
    sink_(event);
  }

  const SharedOptions& options_;
  SessionParts parts_;
  EventSink sink_;
  std::vector<Shared> tasks_;
  double started_s_ = 0, each_s_ = 0;
  double begin_s_ = 0;  // what the last task's inputs and default took: the next one has fewer operations
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

namespace {

/// The verdict whose kernel is an answer today.
std::optional<StoredVerdict> valid_verdict(const Task& task, const Database& database) {
  const std::string identity = identity_of(task.device);
  std::vector<StoredVerdict> verdicts =
      database.verdicts({.workload = to_text(task.workload), .device = identity, .target = "", .family = ""});
  if (verdicts.empty()) return std::nullopt;
  const Candidates candidates = candidates_for(task);
  for (StoredVerdict& verdict : verdicts) {
    const std::optional<Record> record = database.find(verdict.record_id);
    if (record && candidates.space.contains(record->config) && answers(*record, identity, candidates))
      return std::move(verdict);
  }
  return std::nullopt;
}

/// What the log has of one workload on one device.
struct LoggedTask {
  RecordFilter where;
  Workload workload;
};

/// Those of such a target; workloads of a newer version are no hint.
std::vector<LoggedTask> logged_tasks(const Database& database, Target target) {
  std::vector<LoggedTask> logged;
  for (const RecordFilter& each : database.tasks({.target = std::string(name_of(target))})) {
    try {
      logged.push_back({each, parse_workload(each.workload)});
    } catch (const Error&) {
    }
  }
  return logged;
}

}  // namespace

void recall(std::vector<SharedTask>& tasks, const Device& device, bool saving_products,
            const Database& database) {
  const std::vector<LoggedTask> logged = logged_tasks(database, device.limits.target);
  const std::string identity = identity_of(device);
  for (SharedTask& task : tasks) {
    const bool near = std::ranges::any_of(logged, [&](const LoggedTask& other) {
      return distance(task.workload, other.workload) <= kNearDistance && database.timed(other.where) > 0;
    });
    if (near) task.knowledge = Knowledge::kNear;
    task.timed = static_cast<int>(database.timed({.workload = to_text(task.workload), .device = identity}));
    task.verdict = valid_verdict({task.workload, device, saving_products}, database);
    if (task.verdict) task.knowledge = Knowledge::kKnown;
  }
}

std::vector<SharedResult> tune_tasks(const std::vector<SharedTask>& tasks, const Device& device,
                                     const SharedOptions& options, const SessionParts& parts) {
  CHECK(options.time_s > 0, "several tasks share a time, and have none");
  return TurnTaking(tasks, device, options, parts).run();
}

SharedTotals totals_of(const std::vector<SharedResult>& results) {
  SharedTotals totals;
  for (const SharedResult& each : results) {
    totals.best_us += each.occurrences * each.best_us;
    totals.default_us += each.occurrences * (each.default_us > 0 ? each.default_us : each.best_us);
    if (each.baseline_us <= 0) continue;
    totals.baseline_us += each.occurrences * each.baseline_us;
    totals.best_where_baseline_us += each.occurrences * each.best_us;
  }
  return totals;
}

}  // namespace lehr
