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
#include "tune/known_best.h"
#include "tune/resume.h"
#include "tune/session.h"

namespace lehr {
namespace {

/// Of the finals' time, for measuring finalists of earlier runs once more.
constexpr double kResumeShare = 0.5;

}  // namespace

std::vector<Point> Session::finalists() const {
  std::vector<Point> points;
  if (default_) points.push_back(*default_);
  for (const std::size_t at : pick_finalists(trials_, default_, options_.finalists))
    points.push_back(trials_.all()[at].point);
  // An earlier run's winner takes part however slow it looks now, behind the fastest.
  const KnownTrial* const earlier = earlier_ ? trials_.find(earlier_winner_) : nullptr;
  if (!earlier || !earlier->time_us() || default_ == earlier_winner_) return points;
  const std::ptrdiff_t second = std::min<std::ptrdiff_t>(std::ssize(points), default_ ? 2 : 1);
  const auto place = std::ranges::find(points, earlier_winner_);
  if (place - points.begin() < second) return points;
  if (place != points.end()) points.erase(place);
  points.insert(points.begin() + second, earlier_winner_);
  points.resize(std::min(points.size(), options_.finalists + (default_ ? 1 : 0)));
  return points;
}

/// Measures the points that only earlier runs know, for about `seconds`.
std::vector<Point> Session::entrants(std::vector<Point> points, double seconds) {
  const double until_s = elapsed_s() + seconds;
  const double affordable = seconds_per_trial() > 0 ? seconds / seconds_per_trial() : 0;
  std::vector<Proposal> unknown_here;
  for (const Point& point : points)
    if (trials_.find(point)->origin != Origin::kHere && static_cast<double>(unknown_here.size()) < affordable)
      unknown_here.push_back({point, kPickedToResume});
  evaluator_.measure(unknown_here, [&] { return interrupted() || elapsed_s() > until_s; },
                     {.wanted_s = seconds, .most_s = finals_left().most_s});
  std::erase_if(points, [this](const Point& point) {
    const KnownTrial* trial = trials_.find(point);
    return trial->origin != Origin::kHere || !trial->time_us();
  });
  if (default_ && (points.empty() || points[0] != *default_)) default_.reset();
  return points;
}

/// With the schedule that was the fastest so far: what the epilogue costs by itself, nothing else.
bool Session::wants_unfused() const {
  return std::ranges::count(options_.baselines, kUnfused) > 0 && candidates_.unfused;
}

std::optional<Challenger> Session::unfused(std::vector<Point> points) const {
  std::ranges::sort(points, {}, [this](const Point& point) { return *trials_.find(point)->time_us(); });
  for (const Point& point : points) {
    const Config config = candidates_.space.config_of(point);
    if (auto source = candidates_.unfused(config))
      return Challenger{std::string(kUnfused), to_text(config) + ", then a pass", *std::move(source)};
  }
  return std::nullopt;
}

TimeLeft Session::finals_left() const {
  const double now_s = elapsed_s();
  if (finals_until_s_) return {*finals_until_s_ - now_s, *finals_until_s_ - now_s};
  if (!budget_.limited()) return {.wanted_s = finals_share_s(0, finals_from_s_) - (now_s - finals_from_s_)};
  const double left_s = budget_.left_s();
  return {std::min(left_s, finals_from_s_ + finals_kept_s() - now_s), left_s};
}

namespace {

FinalistCost cost_of(const KnownTrial& trial) {
  const double call_s = *trial.time_us() * 1e-6;
  const auto& timing = std::get<Timing>(trial.outcome);
  return {call_s, timing.load_s, std::max(call_s, timing.check_s)};
}

}  // namespace

double Session::least_finals_s() const {
  const KnownTrial* const first = default_ ? trials_.find(*default_) : nullptr;
  if (!first || !first->time_us()) return 0;
  FinalsCosts costs{.the_default = cost_of(*first), .finalists = {}, .inputs = swaps_};
  // The fastest so far stands for both finalists.
  if (const KnownTrial* const best = trials_.best(); best->point != *default_)
    costs.finalists.assign(2, cost_of(*best));
  if (!prepared_) costs.compile_s = compile_s_each();
  const double again_s = prepared_ ? 0 : inputs_s_;
  return again_s + lehr::least_finals_s(costs, backend_of(task_.device.limits.target).contest);
}

double Session::compile_s_each() const {
  const Spent so_far = spent();
  return so_far.kernels > 0 ? so_far.compiling_s / so_far.kernels : 0;
}

std::optional<FinalsPlan> Session::plan(const std::vector<Point>& points) const {
  FinalsCosts costs;
  costs.inputs = prepared_ ? device_.measurer->swaps() : swaps_;
  costs.libraries = static_cast<int>(libraries().size());
  const Backend& backend = backend_of(task_.device.limits.target);
  // On other devices they were started beside the first compilations.
  costs.library_s = backend.on_host ? kLibraryStartS + costs.inputs.prepared_s : 0;
  for (const Point& point : points) {
    const FinalistCost cost = cost_of(*trials_.find(point));
    if (default_ && point == *default_)
      costs.the_default = cost;
    else
      costs.finalists.push_back(cost);
  }
  if (wants_unfused()) costs.challengers = 1;
  costs.challenger_s = compile_s_each();
  TimeLeft left = finals_left();
  if (!prepared_ && left.most_s < kNoLimitS) {  // the inputs are made again, and all are compiled again
    costs.compile_s = compile_s_each();
    left = {left.wanted_s - inputs_s_, left.most_s - inputs_s_};
  }
  return plan_finals(costs, left, backend.contest);
}

std::vector<std::string> Session::libraries() const {
  if (!task_.workload) return {};
  std::vector<std::string> names = with_calls_for(task_.workload->op(), options_.baselines);
  std::erase(names, kUnfused);
  return names;
}

void Session::prepare_libraries(double search_s) {
  libraries_prepared_ = true;
  std::map<std::string, LibrarySearch> searches;
  for (const std::string& name : libraries()) searches[name].seconds = search_s;
  if (options_.reuse) {
    for (const StoredAlgorithm& algorithm : logs_.own.algorithms(summary_.workload, summary_.identity)) {
      const auto search = searches.find(algorithm.baseline);
      if (search == searches.end()) continue;
      std::vector<LibraryFinding>& known = search->second.known;
      if (algorithm.list == 0) known.push_back({algorithm.library, {}});
      // In their order; behind a gap they are of no use.
      if (!known.empty() && known.back().library == algorithm.library &&
          algorithm.list == std::ssize(known.back().lists))
        known.back().lists.push_back(algorithm);
    }
  }
  device_.measurer->prepare_baselines(std::move(searches));
}

/// For the next session, unless the log has it.
void Session::remember_algorithms(const ContestEntry& library) {
  if (!library.finding) return;
  const std::vector<StoredAlgorithm> known = logs_.own.algorithms(summary_.workload, summary_.identity);
  for (std::size_t i = 0; i < library.finding->lists.size(); ++i) {
    StoredAlgorithm algorithm;
    static_cast<FoundAlgorithm&>(algorithm) = library.finding->lists[i];
    algorithm.workload = summary_.workload;
    algorithm.device = summary_.identity;
    algorithm.session = options_.session_id;
    algorithm.baseline = library.name;
    algorithm.library = library.finding->library;
    algorithm.list = static_cast<std::int64_t>(i);
    const bool there = std::ranges::any_of(known, [&](const StoredAlgorithm& other) {
      return other.baseline == algorithm.baseline && other.library == algorithm.library &&
             other.list == algorithm.list &&
             static_cast<const FoundAlgorithm&>(other) == static_cast<const FoundAlgorithm&>(algorithm);
    });
    if (!there) logs_.own.append(algorithm);
  }
}

FinalsSides Session::sides_of(const std::vector<Point>& points) const {
  FinalsSides sides;
  for (const Point& point : points) {
    sides.sources.push_back(evaluator_.source_of(point));
    sides.check_s.push_back(cost_of(*trials_.find(point)).check_s);
  }
  sides.has_default = default_.has_value();
  sides.libraries = libraries();
  return sides;
}

void Session::finals() {
  const auto first = options_.finalists > 0 && trials_.best() ? plan(finalists()) : std::nullopt;
  if (!first || interrupted()) return conclude_from_trials();
  report(EventKind::kFinals, "");
  const TimeLeft whole = finals_left();
  if (!libraries_prepared_) {
    const double rule_s = library_search_s(options_.stop, finals_until_s_ ? whole.wanted_s : 0);
    prepare_libraries(rule_s > 0 ? std::min(rule_s, first->search_s) : 0);
  }
  prepare();
  const std::size_t sides = first->finalists + (default_ ? 1 : 0);
  std::vector<Point> points = finalists();
  points.resize(std::min(points.size(), sides));
  points = entrants(std::move(points), whole.most_s == kNoLimitS ? kNoLimitS : kResumeShare * whole.wanted_s);
  const auto last = points.empty() ? std::nullopt : plan(points);
  if (!last || interrupted()) return conclude_from_trials();
  points.resize(std::min(points.size(), last->finalists + (default_ ? 1 : 0)));
  FinalsSides all = sides_of(points);
  if (wants_unfused()) add_unfused(points, *last, all);
  const FinalsResult result = run_finals(
      *device_.measurer, all, *last,
      {[this] { return elapsed_s(); }, [this] { return finals_left(); }, [this] { return interrupted(); }});
  const std::vector<ContestEntry>& entries = result.entries;
  const bool cut_off =
      entries[0].round_us.empty() || std::ranges::any_of(entries, [](const ContestEntry& entry) {
        return entry.failure && entry.failure->kind == FailureKind::kInterrupted;
      });
  if (interrupted() && cut_off) return conclude_from_trials();
  for (std::size_t i = 0; i < points.size(); ++i)
    if (entries[i].failure) evaluator_.record_failure(points[i], *entries[i].failure);
  tell_finalists(points, result);
  conclude_from_contest(points, result);
}

void Session::add_unfused(const std::vector<Point>& points, const FinalsPlan& plan, FinalsSides& sides) {
  std::optional<Challenger> pair;
  if (plan.challengers) pair = unfused(points);
  if (pair) {
    sides.challengers.push_back(*std::move(pair));
    return;
  }
  BaselineTime& untimed = summary_.baselines.emplace_back();
  untimed.name = kUnfused;
  untimed.missing = plan.challengers ? "no finalist's schedule is one without the epilogue" : kNoTimeLeft;
}

/// What is compared with a kernel that is wrong itself would win for nothing.
void Session::refuse(const ContestEntry& entry) {
  summary_.unproven = fmt::format(
      "{} failed in the finals, so that nothing is proven: {}: {}",
      default_ ? "the default " + to_text(candidates_.space.config_of(*default_)) : "every finalist",
      name_of(entry.failure->kind), first_line(entry.failure->text));
}

void Session::conclude_from_contest(const std::vector<Point>& points, const FinalsResult& result) {
  const std::vector<ContestEntry>& entries = result.entries;
  const auto ours = std::span(entries).first(points.size());
  const auto failed =
      std::ranges::find_if(ours, [](const ContestEntry& entry) { return entry.failure.has_value(); });
  const Contender* const leader = leader_of(result.contenders);
  if (default_ && entries[0].failure) return refuse(entries[0]);
  if (leader == nullptr) {
    // Every one that was timed has failed; or there was no time for three rounds.
    const bool all_failed =
        std::ranges::all_of(ours, [](const ContestEntry& entry) { return entry.failure.has_value(); });
    return !default_ && all_failed && failed != ours.end() ? refuse(*failed) : conclude_from_trials();
  }
  const auto earlier = std::ranges::find(points, earlier_winner_) - points.begin();
  const bool compared = earlier < std::ssize(points) && (ours[static_cast<std::size_t>(earlier)].finished ||
                                                         ours[static_cast<std::size_t>(earlier)].dropped ||
                                                         ours[static_cast<std::size_t>(earlier)].failure);
  if (earlier_ && !compared) return tell_earlier_verdict();
  summary_.contested = true;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!entries[i].round_us.empty())
      roofline_.reached(candidates_.space.families()[points[i].family].family(), entries[i].time_us);
  const ContestEntry& winner = entries[leader->entry];
  const KnownTrial& trial = *trials_.find(points[leader->entry]);
  summary_.best = trial;
  summary_.shown_us = shown(trial).us;
  summary_.gpu = winner.gpu;
  summary_.checked_by = winner.checked_by;
  summary_.verdict = verdict_of(entries, points.size(), default_.has_value(), leader->entry);
  summary_.verdict.provisional = leader->proof != ProofState::kProven;
  if (default_) summary_.default_trial = *trials_.find(*default_);
  tell_libraries(std::span(entries).subspan(points.size()), winner);
}

void Session::tell_finalists(const std::vector<Point>& points, const FinalsResult& result) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ContestEntry& entry = result.entries[i];
    const KnownTrial& trial = *trials_.find(points[i]);
    FinalistTold told;
    told.config = to_text(trial.config);
    told.record = trial.id;
    if (trial.time_us()) told.shown_us = shown(trial).us;
    told.time_us = entry.time_us;
    told.rounds = static_cast<int>(entry.round_us.size());
    told.dropped = entry.dropped;
    told.turns_s = entry.turns_s;
    told.proof_s = result.proof_s[i];
    told.missing = entry.missing;
    for (const Contender& contender : result.contenders)
      if (contender.entry == i) told.proof = contender.proof;
    summary_.finalists.push_back(std::move(told));
  }
}

void Session::tell_libraries(std::span<const ContestEntry> entries, const ContestEntry& winner) {
  for (const ContestEntry& entry : entries) {
    const AlgorithmCount algorithms = entry.finding ? algorithms_of(*entry.finding) : AlgorithmCount();
    summary_.baselines.push_back({.name = entry.name,
                                  .time = time_of(entry),
                                  .speedup = speedup_over(winner, entry),
                                  .gpu = entry.gpu,
                                  .note = entry.note,
                                  .algorithms_tried = algorithms.tried,
                                  .algorithms = algorithms.offered,
                                  .missing = entry.missing});
    remember_algorithms(entry);
  }
}

void Session::tell_earlier_verdict() {
  summary_.best = *logs_.own.find(earlier_->record_id);
  summary_.verdict = *earlier_;
  summary_.earlier = earlier_->session;
  if (default_) summary_.default_trial = *trials_.find(*default_);
}

/// As `lehr best` has it: a verdict stays unless its winner failed now, or another trial is clearly faster.
bool Session::earlier_verdict_stands() const {
  if (!earlier_) return false;
  const KnownTrial* const winner = trials_.find(earlier_winner_);
  if (winner && !winner->time_us()) return false;
  const RecordFilter here = {.workload = summary_.workload, .device = summary_.identity};
  const std::optional<KnownBest> best = known_best(logs_.own, here, {&*earlier_, 1});
  return best && best->contested;
}

void Session::conclude_from_trials() {
  if (!trials_.best()) return;
  if (earlier_verdict_stands()) return tell_earlier_verdict();
  const auto single_time = [this](const KnownTrial& trial) { return shown(trial); };
  const KnownTrial* const base = default_ ? trials_.find(*default_) : nullptr;
  std::vector<const KnownTrial*> order;
  for (const KnownTrial& trial : trials_.all())
    if (trial.time_us()) order.push_back(&trial);
  std::ranges::stable_sort(order, {}, [](const KnownTrial* trial) { return *trial->time_us(); });
  const KnownTrial* best = order[0];
  if (base) {
    // The fastest that surely beats the default; else the default stays.
    const auto& first = std::get<Timing>(base->outcome);
    const auto found = std::ranges::find_if(order, [&](const KnownTrial* trial) {
      return trial == base || beats(std::get<Timing>(trial->outcome), first);
    });
    best = *found;
  }
  Verdict& verdict = summary_.verdict;
  verdict.provisional = true;
  summary_.best = *best;
  summary_.shown_us = shown(*best).us;
  summary_.checked_by = device_.measurer->checked_by();
  verdict.best = single_time(*best);
  if (!base) return;
  summary_.default_trial = *base;
  verdict.default_time = single_time(*base);
  verdict.speedup_vs_default = {1, {1, 1}};
  if (best == base) return;
  const Interval &slow = verdict.default_time.interval, &fast = verdict.best.interval;
  verdict.speedup_vs_default = {verdict.default_time.us / verdict.best.us, {}};
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
  if (limit_s <= 0 || begun_s <= limit_s) return explain(*stop_, options_.stop, at_stop);
  const KnownTrial* const first = default_ ? trials_.find(*default_) : nullptr;
  const std::string call =
      first && first->time_us() ? fmt::format("; one call takes {:.2g} s", *first->time_us() * 1e-6) : "";
  return fmt::format(
      "the limit of {:g} s was reached: set-up took {:.1f} s, and the default alone {:.1f} s (to compile, "
      "check and time it{})",
      limit_s, setup_s_, first_default_s_, call);
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
