// Finds calm rounds, and ratios over them.
#include "measure/core/ratio.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace lehr {
namespace {

constexpr double kBest = 0.02;
constexpr std::size_t kLeastCalmRounds = 5;
constexpr double kLeastCalmShare = 0.15;

/// Returns, for each of the first `rounds` rounds, its time divided by the entry's best time (the kBest
/// quantile).
std::vector<double> slowdowns(const ContestEntry& entry, std::size_t rounds) {
  const double best = percentile(std::span(entry.round_us).first(rounds), kBest);
  std::vector<double> result;
  for (std::size_t r = 0; r < rounds; ++r) result.push_back(entry.round_us[r] / best);
  return result;
}

/// Returns the rounds whose slowdown is at most `within`, in the order of slowdown. It adds the next rounds
/// if there are too few.
std::vector<std::size_t> calm_rounds(const std::vector<double>& slowdown, double within) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t r = 0; r < slowdown.size(); ++r) order.emplace_back(slowdown[r], r);
  std::ranges::sort(order);
  const auto share = static_cast<std::size_t>(kLeastCalmShare * static_cast<double>(order.size()));
  const std::size_t least = std::max(kLeastCalmRounds, share);
  std::vector<std::size_t> result;
  for (const auto& [slow, round] : order)
    if (within <= 0 || slow <= within || result.size() < least) result.push_back(round);
  return result;
}

}  // namespace

std::vector<double> calm_us(const ContestEntry& entry) {
  std::vector<double> result;
  if (entry.round_us.empty()) return result;
  for (const std::size_t r : calm_rounds(slowdowns(entry, entry.round_us.size()), entry.calm_within))
    result.push_back(entry.round_us[r]);
  return result;
}

Time time_of(const ContestEntry& entry) {
  if (entry.round_us.empty()) return {};
  return {entry.time_us, quantile_interval(calm_us(entry), 0.5)};
}

Ratio speedup_over(const ContestEntry& entry, const ContestEntry& other) {
  const std::size_t rounds = std::min(entry.round_us.size(), other.round_us.size());
  if (rounds == 0) return {};
  std::vector<double> slower = slowdowns(entry, rounds);
  const std::vector<double> others = slowdowns(other, rounds);
  for (std::size_t r = 0; r < rounds; ++r) slower[r] = std::max(slower[r], others[r]);
  std::vector<double> ratios;
  for (const std::size_t r : calm_rounds(slower, entry.calm_within))
    ratios.push_back(other.round_us[r] / entry.round_us[r]);
  return {median(ratios), quantile_interval(ratios, 0.5)};
}

}  // namespace lehr
