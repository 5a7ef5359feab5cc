// Runs the entrants, the contest and the proofs, and stores their results.
#include "tune/session_finals.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "measure/worker/backends.h"
#include "measure/worker/baselines.h"
#include "tune/known_best.h"
#include "tune/resume.h"
#include "tune/run_finals.h"

namespace lehr {
namespace {

/// Fraction of the finals' time in which finalists of earlier runs are measured again.
constexpr double kResumeShare = 0.5;

FinalistCost cost_of(const KnownTrial& trial) {
  const double call_s = *trial.time_us() * 1e-6;
  const auto& timing = std::get<Timing>(trial.outcome);
  return {call_s, timing.load_s, std::max(call_s, timing.check_s)};
}

std::vector<std::string> libraries_of(const FinalsParts& of) {
  if (!of.task.workload) return {};
  std::vector<std::string> names = with_calls_for(of.task.problem.text, of.options.baselines);
  std::erase(names, kUnfused);
  return names;
}

/// Stores a library's finding for the next session, unless the log already has it.
void remember_algorithms(const FinalsParts& of, const ContestEntry& library) {
  if (!library.finding) return;
  const std::vector<StoredAlgorithm> known = of.logs.own.algorithms(of.summary.workload, of.summary.identity);
  for (std::size_t i = 0; i < library.finding->lists.size(); ++i) {
    StoredAlgorithm algorithm;
    static_cast<FoundAlgorithm&>(algorithm) = library.finding->lists[i];
    algorithm.workload = of.summary.workload;
    algorithm.device = of.summary.identity;
    algorithm.session = of.options.session_id;
    algorithm.baseline = library.name;
    algorithm.library = library.finding->library;
    algorithm.list = static_cast<std::int64_t>(i);
    const bool there = std::ranges::any_of(known, [&](const StoredAlgorithm& other) {
      return other.baseline == algorithm.baseline && other.library == algorithm.library &&
             other.list == algorithm.list &&
             static_cast<const FoundAlgorithm&>(other) == static_cast<const FoundAlgorithm&>(algorithm);
    });
    if (!there) of.logs.own.append(algorithm);
  }
}

bool wants_unfused(const FinalsParts& of) {
  return std::ranges::count(of.options.baselines, kUnfused) > 0 && of.candidates.unfused;
}

/// Adds the unfused pair of kernels, or reports it as missing. The pair has the schedule that was the fastest
/// so far, so it shows only the cost of the unfused epilogue.
void add_unfused(const FinalsParts& of, std::vector<Point> points, const FinalsPlan& plan,
                 FinalsSides& sides) {
  std::ranges::sort(points, {}, [&](const Point& point) { return *of.trials.find(point)->time_us(); });
  for (const Point& point : points) {
    if (!plan.challengers) break;
    const Config config = of.candidates.space.config_of(point);
    if (auto source = of.candidates.unfused(config)) {
      sides.challengers.push_back(
          {std::string(kUnfused), to_text(config) + ", then a pass", *std::move(source)});
      return;
    }
  }
  BaselineTime& untimed = of.summary.baselines.emplace_back();
  untimed.name = kUnfused;
  untimed.missing = plan.challengers ? "no finalist's schedule is one without the epilogue" : kNoTimeLeft;
}

Time reported(const FinalsParts& of, const KnownTrial& trial) {
  return of.roofline.reported(trial.config.family, std::get<Timing>(trial.outcome));
}

void tell_finalists(const FinalsParts& of, const std::vector<Point>& points, const FinalsResult& result) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ContestEntry& entry = result.entries[i];
    const KnownTrial& trial = *of.trials.find(points[i]);
    FinalistReport finalist;
    finalist.config = to_text(trial.config);
    finalist.record = trial.id;
    if (trial.time_us()) finalist.shown_us = reported(of, trial).us;
    finalist.time_us = entry.time_us;
    finalist.rounds = static_cast<int>(entry.round_us.size());
    finalist.dropped = entry.dropped;
    finalist.turns_s = entry.turns_s;
    finalist.proof_s = result.proof_s[i];
    finalist.missing = entry.missing;
    for (const Contender& contender : result.contenders)
      if (contender.entry == i) finalist.proof = contender.proof;
    of.summary.finalists.push_back(std::move(finalist));
  }
}

void tell_libraries(const FinalsParts& of, std::span<const ContestEntry> entries,
                    const ContestEntry& winner) {
  for (const ContestEntry& entry : entries) {
    const AlgorithmCount algorithms = entry.finding ? algorithms_of(*entry.finding) : AlgorithmCount();
    of.summary.baselines.push_back({.name = entry.name,
                                    .time = time_of(entry),
                                    .speedup = speedup_over(winner, entry),
                                    .gpu = entry.gpu,
                                    .note = entry.note,
                                    .algorithms_tried = algorithms.tried,
                                    .algorithms = algorithms.offered,
                                    .overhead_us = entry.overhead_us,
                                    .missing = entry.missing});
    remember_algorithms(of, entry);
  }
}

}  // namespace

Finals::Finals(const FinalsParts& of) : of_(of) {}

void Finals::choose_default() {
  for (const Point& point : of_.candidates.defaults) {
    const KnownTrial* trial = of_.trials.find(point);
    if (!default_ && trial && trial->time_us()) default_ = point;
  }
  swaps_ = of_.device.measurer->swaps();
}

void Finals::recall_verdict() {
  earlier_ = standing_verdict(of_.task, of_.candidates, of_.logs.own);
  if (earlier_)
    earlier_winner_ = of_.candidates.space.point_of(of_.logs.own.find(earlier_->record_id)->config);
}

/// Reserves more than the estimate: a trial may still be running when the finals should begin, and costs are
/// known only to a tenth.
void Finals::keep_time() const {
  constexpr double kKnownTo = 1.1;
  Budget& budget = of_.budget;
  const double share_s = finals_share_s(budget.limit_s(), budget.elapsed_s());
  if (!budget.limited() || of_.options.finalists == 0) return budget.keep(share_s);
  const double begun_s = budget.spent_s(Purpose::kSetup) + budget.spent_s(Purpose::kDefault);
  budget.keep_for_finals(share_s, kKnownTo * least_s() + budget.per_trial_s(of_.trials.measured()),
                         budget.limit_s() - begun_s);
}

TimeLeft Finals::left() const {
  keep_time();
  return of_.budget.finals_left();
}

std::vector<Point> Finals::finalists() const {
  std::vector<Point> points;
  if (default_) points.push_back(*default_);
  for (const std::size_t at : pick_finalists(of_.trials, default_, of_.options.finalists))
    points.push_back(of_.trials.all()[at].point);
  // An earlier run's winner takes part however slow it looks now. It comes after the fastest trials.
  const KnownTrial* const earlier = earlier_ ? of_.trials.find(earlier_winner_) : nullptr;
  if (!earlier || !earlier->time_us() || default_ == earlier_winner_) return points;
  const std::ptrdiff_t second = std::min<std::ptrdiff_t>(std::ssize(points), default_ ? 2 : 1);
  const auto place = std::ranges::find(points, earlier_winner_);
  if (place - points.begin() < second) return points;
  if (place != points.end()) points.erase(place);
  points.insert(points.begin() + second, earlier_winner_);
  points.resize(std::min(points.size(), of_.options.finalists + (default_ ? 1 : 0)));
  return points;
}

std::vector<Point> Finals::entrants(std::vector<Point> points, double seconds) {
  const double until_s = of_.budget.elapsed_s() + seconds;
  const double each_s = of_.budget.per_trial_s(of_.trials.measured());
  const double affordable = each_s > 0 ? seconds / each_s : 0;
  std::vector<Proposal> unknown_here;
  for (const Point& point : points)
    if (of_.trials.find(point)->origin != Origin::kHere &&
        static_cast<double>(unknown_here.size()) < affordable)
      unknown_here.push_back({point, kPickedToResume});
  const auto up = [&] { return of_.device.stopped() || of_.budget.elapsed_s() > until_s; };
  of_.evaluator.measure(unknown_here, up, {.wanted_s = seconds, .most_s = left().most_s});
  std::erase_if(points, [this](const Point& point) {
    const KnownTrial* trial = of_.trials.find(point);
    return trial->origin != Origin::kHere || !trial->time_us();
  });
  if (default_ && (points.empty() || points[0] != *default_)) default_.reset();
  return points;
}

double Finals::least_s() const {
  const KnownTrial* const first = default_ ? of_.trials.find(*default_) : nullptr;
  if (!first || !first->time_us()) return 0;
  FinalsCosts costs{.the_default = cost_of(*first), .finalists = {}, .inputs = swaps_};
  // The fastest trial so far stands for both finalists.
  if (const KnownTrial* const best = of_.trials.best(); best->point != *default_)
    costs.finalists.assign(2, cost_of(*best));
  if (!of_.budget.set_up()) costs.compile_s = of_.budget.compile_s();
  return of_.budget.inputs_s() + least_finals_s(costs, backend_of(of_.task.device.limits.target).contest);
}

std::optional<FinalsPlan> Finals::plan() const {
  if (of_.options.finalists == 0 || !of_.trials.best()) return std::nullopt;
  return plan(finalists());
}

std::optional<FinalsPlan> Finals::plan(const std::vector<Point>& points) const {
  FinalsCosts costs;
  costs.inputs = of_.budget.set_up() ? of_.device.measurer->swaps() : swaps_;
  costs.libraries = static_cast<int>(libraries_of(of_).size());
  const Backend& backend = backend_of(of_.task.device.limits.target);
  // On other devices the libraries were started during the first compilations.
  costs.library_s = backend.on_host ? kLibraryStartS + costs.inputs.prepared_s : 0;
  for (const Point& point : points) {
    const FinalistCost cost = cost_of(*of_.trials.find(point));
    if (default_ && point == *default_)
      costs.the_default = cost;
    else
      costs.finalists.push_back(cost);
  }
  if (wants_unfused(of_)) costs.challengers = 1;
  costs.challenger_s = of_.budget.compile_s();
  TimeLeft left = this->left();
  // If the inputs have to be made again, all sources have to be compiled too.
  if (!of_.budget.set_up() && left.most_s < kNoLimitS) {
    costs.compile_s = of_.budget.compile_s();
    left = {left.wanted_s - of_.budget.inputs_s(), left.most_s - of_.budget.inputs_s()};
  }
  return plan_finals(costs, left, backend.contest);
}

void Finals::prepare_libraries(double search_s) {
  libraries_prepared_ = true;
  std::map<std::string, LibrarySearch> searches;
  for (const std::string& name : libraries_of(of_)) searches[name].seconds = search_s;
  if (of_.options.reuse) {
    for (const StoredAlgorithm& algorithm :
         of_.logs.own.algorithms(of_.summary.workload, of_.summary.identity)) {
      const auto search = searches.find(algorithm.baseline);
      if (search == searches.end()) continue;
      std::vector<LibraryFinding>& known = search->second.known;
      if (algorithm.list == 0) known.push_back({algorithm.library, {}});
      // The lists of a library are consecutive. A list after a gap is of no use.
      if (!known.empty() && known.back().library == algorithm.library &&
          algorithm.list == std::ssize(known.back().lists))
        known.back().lists.push_back(algorithm);
    }
  }
  of_.device.measurer->prepare_baselines(std::move(searches));
}

FinalsSides Finals::sides_of(const std::vector<Point>& points) const {
  FinalsSides sides;
  for (const Point& point : points) {
    sides.sources.push_back(of_.evaluator.source_of(point));
    sides.check_s.push_back(cost_of(*of_.trials.find(point)).check_s);
  }
  sides.has_default = default_.has_value();
  sides.libraries = libraries_of(of_);
  return sides;
}

void Finals::run(const FinalsPlan& first) {
  const TimeLeft whole = left();
  of_.prepare();  // after it the measurer does not know any more how libraries search
  if (!libraries_prepared_) {
    const double rule_s = library_search_s(of_.options.stop, of_.options.shared ? whole.wanted_s : 0);
    prepare_libraries(rule_s > 0 ? std::min(rule_s, first.search_s) : 0);
  }
  const std::size_t sides = first.finalists + (default_ ? 1 : 0);
  std::vector<Point> points = finalists();
  points.resize(std::min(points.size(), sides));
  points = entrants(std::move(points), whole.most_s == kNoLimitS ? kNoLimitS : kResumeShare * whole.wanted_s);
  const auto last = points.empty() ? std::nullopt : plan(points);
  if (!last || of_.device.stopped()) return conclude_from_trials();
  points.resize(std::min(points.size(), last->finalists + (default_ ? 1 : 0)));
  FinalsSides all = sides_of(points);
  if (wants_unfused(of_)) add_unfused(of_, points, *last, all);
  const FinalsResult result =
      run_finals(*of_.device.measurer, all, *last,
                 {[this] { return of_.budget.elapsed_s(); }, [this] { return left(); },
                  [this] { return of_.device.stopped(); }});
  const std::vector<ContestEntry>& entries = result.entries;
  const bool cut_off =
      entries[0].round_us.empty() || std::ranges::any_of(entries, [](const ContestEntry& entry) {
        return entry.failure && entry.failure->kind == FailureKind::kInterrupted;
      });
  if (of_.device.stopped() && cut_off) return conclude_from_trials();
  for (std::size_t i = 0; i < points.size(); ++i)
    if (entries[i].failure) of_.evaluator.record_failure(points[i], *entries[i].failure);
  tell_finalists(of_, points, result);
  conclude_from_contest(points, result);
}

/// Records why there is no winner. A default that is wrong must not make another kernel the winner.
void Finals::refuse(const ContestEntry& entry) {
  of_.summary.unproven = fmt::format(
      "{} failed in the finals, so that nothing is proven: {}: {}",
      default_ ? "the default " + to_text(of_.candidates.space.config_of(*default_)) : "every finalist",
      name_of(entry.failure->kind), first_line(entry.failure->text));
}

void Finals::conclude_from_contest(const std::vector<Point>& points, const FinalsResult& result) {
  Summary& summary = of_.summary;
  const std::vector<ContestEntry>& entries = result.entries;
  const auto ours = std::span(entries).first(points.size());
  const auto failed =
      std::ranges::find_if(ours, [](const ContestEntry& entry) { return entry.failure.has_value(); });
  const Contender* const leader = leader_of(result.contenders);
  if (default_ && entries[0].failure) return refuse(entries[0]);
  if (leader == nullptr) {
    // Either every kernel that was timed has failed, or there was no time for three rounds.
    const bool all_failed =
        std::ranges::all_of(ours, [](const ContestEntry& entry) { return entry.failure.has_value(); });
    return !default_ && all_failed && failed != ours.end() ? refuse(*failed) : conclude_from_trials();
  }
  const auto earlier = std::ranges::find(points, earlier_winner_) - points.begin();
  const bool compared = earlier < std::ssize(points) && (ours[static_cast<std::size_t>(earlier)].finished ||
                                                         ours[static_cast<std::size_t>(earlier)].dropped ||
                                                         ours[static_cast<std::size_t>(earlier)].failure);
  if (earlier_ && !compared) return tell_earlier_verdict();
  summary.contested = true;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!entries[i].round_us.empty())
      of_.roofline.reached(of_.candidates.space.families()[points[i].family].family(), entries[i].time_us);
  const ContestEntry& winner = entries[leader->entry];
  const KnownTrial& trial = *of_.trials.find(points[leader->entry]);
  summary.best = trial;
  summary.shown_us = reported(of_, trial).us;
  summary.gpu = winner.gpu;
  summary.checked_by = winner.checked_by;
  summary.verdict = verdict_of(entries, points.size(), default_.has_value(), leader->entry);
  summary.verdict.provisional = leader->proof != ProofState::kProven;
  if (default_) summary.default_trial = *of_.trials.find(*default_);
  tell_libraries(of_, std::span(entries).subspan(points.size()), winner);
}

void Finals::tell_earlier_verdict() {
  Summary& summary = of_.summary;
  summary.best = *of_.logs.own.find(earlier_->record_id);
  summary.verdict = *earlier_;
  summary.earlier = earlier_->session;
  if (default_) summary.default_trial = *of_.trials.find(*default_);
}

/// Whether the earlier verdict stays, as in `lehr best`. It does unless its winner failed now, or another
/// trial is clearly faster.
bool Finals::earlier_verdict_stands() const {
  if (!earlier_) return false;
  const KnownTrial* const winner = of_.trials.find(earlier_winner_);
  if (winner && !winner->time_us()) return false;
  const RecordFilter here = {.workload = of_.summary.workload, .device = of_.summary.identity};
  const std::optional<KnownBest> best = known_best(of_.logs.own, here, {&*earlier_, 1});
  return best && best->contested;
}

void Finals::conclude_from_trials() {
  Summary& summary = of_.summary;
  if (!of_.trials.best()) return;
  if (earlier_verdict_stands()) return tell_earlier_verdict();
  const KnownTrial* const base = default_ ? of_.trials.find(*default_) : nullptr;
  std::vector<const KnownTrial*> order;
  for (const KnownTrial& trial : of_.trials.all())
    if (trial.time_us()) order.push_back(&trial);
  std::ranges::stable_sort(order, {}, [](const KnownTrial* trial) { return *trial->time_us(); });
  const KnownTrial* best = order[0];
  if (base) {
    // The fastest trial that surely beats the default wins. If no trial does, the default wins.
    const auto& first = std::get<Timing>(base->outcome);
    const auto found = std::ranges::find_if(order, [&](const KnownTrial* trial) {
      return trial == base || beats(std::get<Timing>(trial->outcome), first);
    });
    best = *found;
  }
  Verdict& verdict = summary.verdict;
  verdict.provisional = true;
  summary.best = *best;
  summary.shown_us = reported(of_, *best).us;
  summary.checked_by = of_.device.measurer->checked_by();
  verdict.best = reported(of_, *best);
  if (!base) return;
  summary.default_trial = *base;
  verdict.default_time = reported(of_, *base);
  verdict.speedup_vs_default = {1, {1, 1}};
  if (best == base) return;
  const Interval &slow = verdict.default_time.interval, &fast = verdict.best.interval;
  verdict.speedup_vs_default = {verdict.default_time.us / verdict.best.us, {}};
  if (fast.low > 0) verdict.speedup_vs_default.interval = {slow.low / fast.high, slow.high / fast.low};
}

void Finals::check_determinism() {
  Summary& summary = of_.summary;
  if (!of_.options.check_determinism || !summary.best || of_.device.stopped()) return;
  std::string& text = summary.determinism;
  constexpr double kTolerated = 1.1;  // as a multiple of the limit
  const double limit_s = of_.options.stop.time_s, two_calls_s = 2 * summary.verdict.best.us * 1e-6;
  if (limit_s > 0 && of_.budget.elapsed_s() + two_calls_s > kTolerated * limit_s) {
    text = "whether the winner is deterministic could not be told: no time was left";
    return;
  }
  of_.prepare();
  const auto repeated = of_.device.measurer->repeat(
      of_.evaluator.source_of(of_.candidates.space.point_of(summary.best->config)));
  if (const auto* failure = std::get_if<Failure>(&repeated)) {
    text = fmt::format("whether the winner is deterministic could not be told: {}: {}",
                       name_of(failure->kind), first_line(failure->text));
    return;
  }
  const Repetition& bits = std::get<Repetition>(repeated);
  summary.verdict.deterministic = bits.different == 0;
  text = bits.different == 0
             ? "the winner gave the same bits in two runs on the same input"
             : fmt::format(
                   "the winner is not deterministic: {} of {} output elements have other bits in "
                   "a second run on the same input, the first is element {}",
                   bits.different, bits.elements, bits.first);
}

}  // namespace lehr
