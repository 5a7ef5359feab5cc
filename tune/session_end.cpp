// The session's end: the contest of the finalists, the verdict, the summary.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "measure/worker/backends.h"
#include "measure/worker/baselines.h"
#include "tune/finals.h"
#include "tune/resume.h"
#include "tune/session.h"

namespace lehr {
namespace {

/// Of the finals' time, for measuring finalists of earlier runs once more.
constexpr double kResumeShare = 0.5;
/// For compiling finalists once more.
constexpr double kCompileShare = 0.5;

}  // namespace

/// The default first, then the finalists; all of them measured (and so checked) by this session. Those that
/// only earlier runs know are measured for as long as `seconds` say.
std::vector<Point> Session::entrants(std::size_t finalists, double seconds) {
  std::vector<Point> points;
  if (default_) points.push_back(*default_);
  for (const std::size_t at : pick_finalists(trials_, default_, finalists))
    points.push_back(trials_.all()[at].point);
  const double until_s = elapsed_s() + seconds;
  const double affordable = seconds_per_trial() > 0 ? seconds / seconds_per_trial() : 0;
  std::vector<Proposal> unknown_here;
  for (const Point& point : points)
    if (trials_.find(point)->origin != Origin::kHere && static_cast<double>(unknown_here.size()) < affordable)
      unknown_here.push_back({point, kPickedToResume});
  evaluator_.measure(unknown_here, [&] { return interrupted() || elapsed_s() > until_s; },
                     {.wanted_s = seconds});
  std::erase_if(points, [this](const Point& point) {
    const KnownTrial* trial = trials_.find(point);
    return trial->origin != Origin::kHere || !trial->time_us();
  });
  if (default_ && (points.empty() || points[0] != *default_)) default_.reset();
  return points;
}

/// With the schedule that was the fastest so far: what the epilogue costs by itself, nothing else.
std::vector<Challenger> Session::challengers(const std::vector<Point>& points) const {
  if (std::ranges::count(options_.baselines, kUnfused) == 0 || !candidates_.unfused) return {};
  const Config fastest = candidates_.space.config_of(*std::ranges::min_element(
      points, {}, [this](const Point& point) { return *trials_.find(point)->time_us(); }));
  return {{std::string(kUnfused), to_text(fastest) + ", then a pass", candidates_.unfused(fastest)}};
}

TimeLeft Session::finals_left() const {
  const double now_s = elapsed_s(), time_s = options_.stop.time_s;
  if (finals_until_s_) return {*finals_until_s_ - now_s, *finals_until_s_ - now_s};
  if (time_s <= 0) return {.wanted_s = finals_share_s(0, finals_from_s_)};
  // What the rounds overran is taken from the finals.
  const double until_s = std::min(finals_from_s_ + finals_share_s(time_s, now_s), time_s);
  return {until_s - now_s, until_s - now_s};
}

/// 0: there is no time for a contest.
std::size_t Session::finalists(const TimeLeft& left) const {
  const KnownTrial* const best = trials_.best();
  if (!best) return 0;
  if (left.most_s == kNoLimitS) return options_.finalists;
  const double default_us = default_ ? *trials_.find(*default_)->time_us() : 0;
  double budget_s = left.wanted_s;
  std::size_t most = options_.finalists;
  if (!prepared_ && spent_by_search_.kernels > 0) {  // the inputs are made again, and all are compiled again
    const double each_s = spent_by_search_.compiling_s / spent_by_search_.kernels;
    budget_s -= inputs_s_ + 2 * each_s;
    const double compiled = each_s > 0 ? std::max(1.0, kCompileShare * budget_s / each_s) : kNoLimitS;
    most = static_cast<std::size_t>(std::min(compiled, static_cast<double>(most)));
  }
  return affordable_finalists(budget_s, most, default_us, *best->time_us(),
                              backend_of(task_.device.limits.target).contest);
}

std::vector<std::string> Session::libraries() const {
  std::vector<std::string> names = with_calls_for(task_.workload.op(), options_.baselines);
  std::erase(names, kUnfused);
  return names;
}

void Session::prepare_libraries() {
  libraries_prepared_ = true;
  std::map<std::string, LibrarySearch> searches;
  const double shared_s = finals_until_s_ ? finals_left().wanted_s : 0;
  for (const std::string& name : libraries())
    searches[name].seconds = library_search_s(options_.stop, shared_s);
  if (options_.reuse) {
    for (const StoredWay& way : logs_.own.ways(summary_.workload, summary_.identity)) {
      const auto search = searches.find(way.baseline);
      if (search == searches.end()) continue;
      std::vector<LibraryFinding>& known = search->second.known;
      if (way.list == 0) known.push_back({way.library, {}});
      // In their order; behind a gap they are of no use.
      if (!known.empty() && known.back().library == way.library && way.list == std::ssize(known.back().lists))
        known.back().lists.push_back(way);
    }
  }
  device_.measurer->prepare_baselines(std::move(searches));
}

/// For the next session, unless the log has it.
void Session::remember_ways(const ContestEntry& library) {
  if (!library.finding) return;
  const std::vector<StoredWay> known = logs_.own.ways(summary_.workload, summary_.identity);
  for (std::size_t i = 0; i < library.finding->lists.size(); ++i) {
    StoredWay way;
    static_cast<FoundWay&>(way) = library.finding->lists[i];
    way.workload = summary_.workload;
    way.device = summary_.identity;
    way.session = options_.session_id;
    way.baseline = library.name;
    way.library = library.finding->library;
    way.list = static_cast<std::int64_t>(i);
    const bool there = std::ranges::any_of(known, [&](const StoredWay& other) {
      return other.baseline == way.baseline && other.library == way.library && other.list == way.list &&
             static_cast<const FoundWay&>(other) == static_cast<const FoundWay&>(way);
    });
    if (!there) logs_.own.append(way);
  }
}

void Session::finals() {
  const TimeLeft whole = finals_left();
  const std::size_t count = finalists(whole);
  if (count == 0 || interrupted()) return conclude_from_trials();
  report(EventKind::kFinals, "");
  if (!libraries_prepared_) prepare_libraries();
  prepare();
  const std::vector<Point> points =
      entrants(count, whole.most_s == kNoLimitS ? kNoLimitS : kResumeShare * whole.wanted_s);
  if (points.empty() || interrupted()) return conclude_from_trials();
  std::vector<Source> sources;
  for (const Point& point : points) sources.push_back(evaluator_.source_of(point));
  const TimeLeft left = finals_left();
  std::vector<ContestEntry> entries =
      device_.measurer->contest(sources, challengers(points), libraries(), left.wanted_s, left.most_s);
  CHECK(entries.size() >= sources.size(), "{} entries for {} sources", entries.size(), sources.size());
  const bool cut_off =
      entries[0].round_us.empty() || std::ranges::any_of(entries, [](const ContestEntry& entry) {
        return entry.failure && entry.failure->kind == FailureKind::kInterrupted;
      });
  if (interrupted() && cut_off) return conclude_from_trials();
  for (std::size_t i = 0; i < points.size(); ++i)
    if (entries[i].failure) evaluator_.record_failure(points[i], *entries[i].failure);
  conclude_from_contest(points, std::move(entries));
}

/// What is compared with a kernel that is wrong itself would win for nothing.
void Session::refuse(const Failure& failure) {
  summary_.unproven = fmt::format(
      "{} failed in the finals, so that nothing is proven: {}: {}",
      default_ ? "the default " + to_text(candidates_.space.config_of(*default_)) : "every finalist",
      name_of(failure.kind), first_line(failure.text));
}

void Session::conclude_from_contest(std::vector<Point> points, std::vector<ContestEntry> entries) {
  if (default_ && entries[0].failure) return refuse(*entries[0].failure);
  if (default_ && !entries[0].finished) return conclude_from_trials();  // the time was up
  // Without a default the first one that was proven takes its place: neither one that failed nor one that
  // dropped out.
  for (std::optional<Failure> last; entries[0].failure || !entries[0].finished;) {
    if (entries[0].failure) last = entries[0].failure;
    if (points.size() == 1) return last ? refuse(*last) : conclude_from_trials();
    points.erase(points.begin());
    entries.erase(entries.begin());
  }
  if (entries[0].round_us.empty()) return conclude_from_trials();
  Judgement judgement = judge(entries, points.size());
  summary_.contested = true;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!entries[i].round_us.empty())
      roofline_.reached(candidates_.space.families()[points[i].family].family(), entries[i].time_us);
  const ContestEntry& winner = entries[judgement.winner];
  summary_.best = *trials_.find(points[judgement.winner]);
  summary_.gpu = winner.gpu;
  summary_.checked_by = winner.checked_by;
  summary_.verdict = std::move(judgement.verdict);
  if (default_) {
    summary_.default_trial = *trials_.find(*default_);
  } else {
    summary_.verdict.default_time = {};
    summary_.verdict.speedup_vs_default = {};
  }
  for (const ContestEntry& entry : std::span(entries).subspan(points.size())) {
    const WayCount ways = entry.finding ? ways_of(*entry.finding) : WayCount();
    summary_.baselines.push_back({.name = entry.name,
                                  .time = time_of(entry),
                                  .speedup = speedup_over(winner, entry),
                                  .gpu = entry.gpu,
                                  .note = entry.note,
                                  .ways_tried = ways.tried,
                                  .ways = ways.offered,
                                  .missing = entry.missing});
    remember_ways(entry);
  }
}

void Session::conclude_from_trials() {
  const KnownTrial* best = trials_.best();
  if (!best) return;
  const auto single_time = [](const Trial& trial) {
    return Time{*trial.time_us(), interval_of(std::get<Timing>(trial.outcome))};
  };
  Verdict& verdict = summary_.verdict;
  summary_.best = *best;
  summary_.checked_by = device_.measurer->checked_by();
  verdict.best = single_time(*best);
  const KnownTrial* base = default_ ? trials_.find(*default_) : nullptr;
  if (!base || !base->time_us()) return;
  summary_.default_trial = *base;
  verdict.default_time = single_time(*base);
  if (!beats(std::get<Timing>(best->outcome), std::get<Timing>(base->outcome))) {
    summary_.best = summary_.default_trial;
    verdict.best = verdict.default_time;
    verdict.speedup_vs_default = {1, {1, 1}};
    return;
  }
  const Interval &slow = verdict.default_time.interval, &fast = verdict.best.interval;
  verdict.speedup_vs_default.value = verdict.default_time.us / verdict.best.us;
  if (fast.low > 0) verdict.speedup_vs_default.interval = {slow.low / fast.high, slow.high / fast.low};
}

void Session::check_determinism() {
  if (!options_.check_determinism || !summary_.best || interrupted()) return;
  std::string& text = summary_.determinism;
  constexpr double kTolerated = 1.1;  // times the limit
  const double limit_s = options_.stop.time_s, two_calls_s = 2 * summary_.verdict.best.us * 1e-6;
  if (limit_s > 0 && elapsed_s() + two_calls_s > kTolerated * limit_s) {
    text = "whether the winner is deterministic could not be told: no time was left";
    return;
  }
  prepare();
  const auto repeated =
      device_.measurer->repeat(evaluator_.source_of(candidates_.space.point_of(summary_.best->config)));
  if (const auto* failure = std::get_if<Failure>(&repeated)) {
    text = fmt::format("whether the winner is deterministic could not be told: {}: {}",
                       name_of(failure->kind), first_line(failure->text));
    return;
  }
  const Repetition& bits = std::get<Repetition>(repeated);
  summary_.verdict.deterministic = bits.different == 0;
  text = bits.different == 0
             ? "the winner gave the same bits in two runs on the same input"
             : fmt::format(
                   "the winner is not deterministic: {} of {} output elements have other bits in "
                   "a second run on the same input, the first is element {}",
                   bits.different, bits.elements, bits.first);
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
  const Spent spent = this->spent();
  tell_where_time_went(summary_.elapsed);
  summary_.compiling_s = spent.compiling_s;
  summary_.kernels = spent.kernels;
  summary_.retimed = spent.retimed;
  summary_.disturbed = spent.disturbed;
}

void Session::tell_where_time_went(Elapsed& elapsed) const {
  const Spent spent = this->spent();
  elapsed.total_s = elapsed_s();
  elapsed.setup_s = setup_s_ + spent.prepare_s;
  elapsed.run_s = spent.run_s;
  elapsed.compile_s = spent.compile_s;
  elapsed.search_s = std::max(0.0, elapsed.total_s - elapsed.setup_s - elapsed.run_s - elapsed.compile_s);
  Elapsed::Parts& parts = elapsed.parts;
  parts.setup_s = elapsed.setup_s;
  parts.hints_s = hints_s_;
  parts.compile_s = spent_by_search_.compile_s;
  parts.trials_s = spent_by_search_.run_s;
  parts.proposals_s = finals_from_s_ - setup_by_search_s_ - spent_by_search_.prepare_s - hints_s_ -
                      parts.compile_s - parts.trials_s;
  parts.finals_s = elapsed.total_s - finals_from_s_ - (setup_s_ - setup_by_search_s_) -
                   (spent.prepare_s - spent_by_search_.prepare_s);
}

/// What cannot be shorter than it is may take longer than the limit: then it is named.
std::string Session::stop_text(const Progress& at_stop) const {
  const double limit_s = options_.stop.time_s, begun_s = first_default_s_ + setup_s_;
  const KnownTrial* const first = default_ ? trials_.find(*default_) : nullptr;
  if (limit_s <= 0 || begun_s <= limit_s || !first || !first->time_us())
    return explain(*stop_, options_.stop, at_stop);
  return fmt::format(
      "the limit of {:g} s was reached: set-up took {:.1f} s, and the default alone {:.1f} s (to compile, "
      "check "
      "and time it; one call takes {:.2g} s)",
      limit_s, setup_s_, first_default_s_, *first->time_us() * 1e-6);
}

/// Only a contest gives a verdict: without one `best` shows the fastest row, and says so.
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
