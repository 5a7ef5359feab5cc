// Choice of finalists and the verdict.
#include "tune/finals.h"

#include <algorithm>
#include <span>
#include <unordered_set>

#include "base/error.h"
#include "measure/worker/serve.h"

namespace lehr {
namespace {

constexpr double kLeastGain = 0.01;
/// Of a turn, beside its block: waking the worker, a call to warm up, stopping it (1.6 ms on 2 CPUs of a Xeon
/// at 2.8 GHz).
constexpr double kTurnOverheadUs = 1600;
/// To be loaded and checked, kLeastRounds rounds with a call to warm up in each, and a proof.
constexpr int kLeastCalls = 1 + 2 * kLeastRounds + kCallsOfAProof;
/// Of a contest's time, for its rounds; libraries and proofs have the rest (LocalMeasurer).
constexpr double kRoundsShare = 0.5;

}  // namespace

std::size_t affordable_finalists(double budget_s, std::size_t most, double default_us, double fastest_us,
                                 const ContestOptions& contest) {
  const double each_s = kLeastCalls * fastest_us * 1e-6;
  const double left_s = budget_s - kLeastCalls * default_us * 1e-6;
  if (left_s <= 0 || left_s < each_s) return 0;
  const double rounds_s = 1.5 * contest.stage_rounds * (contest.block_us + kTurnOverheadUs) * 1e-6;
  const double wanted =
      std::max(kRoundsShare * budget_s / rounds_s, static_cast<double>(contest.most_finalists));
  return static_cast<std::size_t>(
      std::min({wanted, left_s / std::max(each_s, 1e-9), static_cast<double>(most)}));
}

std::vector<std::size_t> pick_finalists(const Trials& trials, const std::optional<Point>& the_default,
                                        std::size_t count) {
  std::vector<std::size_t> order;
  std::unordered_set<std::uint64_t> sources;
  for (std::size_t i = 0; i < trials.all().size(); ++i) {
    const KnownTrial& trial = trials.all()[i];
    if (the_default && trial.point == *the_default) {
      if (trial.source_hash != 0) sources.insert(trial.source_hash);
    } else if (trial.time_us()) {
      order.push_back(i);
    }
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *trials.all()[i].time_us(); });
  std::vector<std::size_t> finalists;
  for (const std::size_t i : order) {
    if (finalists.size() == count) break;
    const std::uint64_t hash = trials.all()[i].source_hash;
    if (hash == 0 || sources.insert(hash).second) finalists.push_back(i);
  }
  return finalists;
}

Judgement judge(const std::vector<ContestEntry>& entries, std::size_t sources) {
  CHECK(sources > 0 && sources <= entries.size(), "sources={} entries={}", sources, entries.size());
  CHECK(!entries[0].round_us.empty(), "the default was not timed: {}", entries[0].missing);
  Judgement result;
  Verdict& verdict = result.verdict;
  verdict.speedup_vs_default = {1, {1, 1}};
  for (std::size_t i = 1; i < sources; ++i) {
    if (!entries[i].finished || entries[i].round_us.empty()) continue;
    const Ratio ratio = speedup_over(entries[i], entries[0]);
    if (ratio.value < 1 + kLeastGain || ratio.interval.low <= 1) continue;
    if (ratio.value <= verdict.speedup_vs_default.value) continue;
    result.winner = i;
    verdict.speedup_vs_default = ratio;
  }
  verdict.best = time_of(entries[result.winner]);
  verdict.default_time = time_of(entries[0]);
  for (const ContestEntry& entry : std::span(entries).subspan(sources)) {
    if (entry.round_us.empty() || (verdict.baseline_us > 0 && entry.time_us >= verdict.baseline_us)) continue;
    verdict.baseline = entry.name;
    verdict.baseline_us = entry.time_us;
    verdict.speedup_vs_baseline = speedup_over(entries[result.winner], entry);
    const WayCount ways = entry.finding ? ways_of(*entry.finding) : WayCount();
    verdict.ways_tried = ways.tried;
    verdict.ways = ways.offered;
  }
  return result;
}

bool beats(const Timing& candidate, const Timing& default_timing) {
  if (candidate.time_us <= 0 || default_timing.time_us < candidate.time_us * (1 + kLeastGain)) return false;
  return interval_of(candidate).high < interval_of(default_timing).low;
}

}  // namespace lehr
