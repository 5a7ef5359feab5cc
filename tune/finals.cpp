// Choice of finalists and the verdict.
#include "tune/finals.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/error.h"

namespace lehr {
namespace {

constexpr double kLeastGain = 0.01;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const std::size_t middle = values.size() / 2;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(middle));
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle] +
          *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle))) /
         2;
}

/// Sign test at 5 %, one-sided, by the normal approximation: rounds won against a coin. It asks nothing of
/// the times' distribution, which has long tails (cpu.md section 4), and gets sharper with the number of
/// rounds.
bool wins_more_than_by_chance(const std::vector<double>& ours, const std::vector<double>& theirs) {
  const std::size_t rounds = std::min(ours.size(), theirs.size());
  std::size_t wins = 0;
  for (std::size_t r = 0; r < rounds; ++r)
    if (ours[r] < theirs[r]) ++wins;
  const double n = static_cast<double>(rounds);
  return static_cast<double>(wins) > n / 2 + 1.645 * std::sqrt(n) / 2;
}

}  // namespace

std::vector<std::size_t> pick_finalists(const Trials& trials, const std::optional<Config>& default_config,
                                        std::size_t count) {
  std::vector<std::size_t> order;
  std::unordered_set<std::uint64_t> sources;
  for (std::size_t i = 0; i < trials.all().size(); ++i) {
    const Trial& trial = trials.all()[i];
    if (default_config && trial.config == *default_config) {
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
  double best_ratio = 1;
  for (std::size_t i = 1; i < sources; ++i) {
    const ContestEntry& entry = entries[i];
    if (!entry.finished || entry.round_us.empty() || entry.ratio <= best_ratio ||
        entry.ratio < 1 + kLeastGain)
      continue;
    if (!wins_more_than_by_chance(entry.round_us, entries[0].round_us)) continue;
    best_ratio = entry.ratio;
    result.winner = i;
    result.speedup_vs_default = entry.ratio;
    result.spread = entry.ratio_spread;
  }
  for (std::size_t i = sources; i < entries.size(); ++i) {
    if (entries[i].round_us.empty()) continue;
    if (!result.baseline || entries[i].time_us < entries[*result.baseline].time_us) result.baseline = i;
  }
  if (result.baseline)
    result.speedup_vs_baseline = speedup_over(entries[result.winner], entries[*result.baseline]);
  return result;
}

double speedup_over(const ContestEntry& entry, const ContestEntry& other) {
  std::vector<double> ratios;
  for (std::size_t r = 0; r < std::min(entry.round_us.size(), other.round_us.size()); ++r)
    if (entry.round_us[r] > 0) ratios.push_back(other.round_us[r] / entry.round_us[r]);
  return median(std::move(ratios));
}

bool beats(const Timing& candidate, const Timing& default_timing) {
  if (candidate.time_us <= 0) return false;
  const double noise = std::max({kLeastGain, candidate.spread, default_timing.spread});
  return default_timing.time_us / candidate.time_us - 1 > noise;
}

}  // namespace lehr
