// The figures of a replay: see figures.h.
#include "replay/figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace lehr {
namespace {

constexpr double kWay = 0.95;

// Returns the best time of a search after `trial` trials (from 1). A search that ran out of configs keeps its
// last best time.
double best_at(const std::vector<double>& search, std::size_t trial) {
  return search[std::min(trial, search.size()) - 1];
}

std::size_t budget_of(const RandomBaseline& random, std::size_t trials) {
  const double goal = random.median_us() - kWay * (random.median_us() - random.optimum_us());
  std::size_t budget = 1;
  while (budget < trials && random.expected_us(budget) > goal) ++budget;
  return budget;
}

}  // namespace

double percentile(std::vector<double> values, double share) {
  CHECK(!values.empty());
  std::ranges::sort(values);
  const double at = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const double rest = at - static_cast<double>(low);
  // An infinite value must not be multiplied by 0.
  if (rest == 0 || values[low] == values[low + 1]) return values[low];
  return values[low] + (values[low + 1] - values[low]) * rest;
}

std::optional<std::size_t> trials_to(const std::vector<double>& search, double level_us) {
  const auto at = std::ranges::find_if(search, [&](double best_us) { return best_us <= level_us; });
  if (at == search.end()) return std::nullopt;
  return static_cast<std::size_t>(at - search.begin()) + 1;
}

Figures figures_of(const std::vector<std::vector<double>>& searches, const RandomBaseline& random) {
  CHECK(!searches.empty());
  const double optimum = random.optimum_us();
  const std::size_t trials =
      std::ranges::max(searches, {}, [](const auto& search) { return search.size(); }).size();
  Figures figures;
  for (std::size_t i = 0; i < kFractionTrials.size(); ++i) {
    // A table with fewer rows is exhausted by then, so all its times are known.
    if (kFractionTrials[i] > trials && trials < random.rows()) continue;
    std::vector<double> fractions;
    for (const auto& search : searches) fractions.push_back(optimum / best_at(search, kFractionTrials[i]));
    figures.fraction[i] = Spread{percentile(fractions, 0.5), percentile(fractions, 0.1)};
  }
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    std::vector<double> firsts;
    for (const auto& search : searches) {
      const std::optional<std::size_t> first = trials_to(search, optimum / kLevels[i]);
      firsts.push_back(first ? static_cast<double>(*first) : std::numeric_limits<double>::infinity());
    }
    const double median = percentile(firsts, 0.5);
    if (std::isfinite(median)) figures.trials_to[i] = median;
  }
  const std::size_t budget = budget_of(random, trials);
  double sum = 0;
  for (std::size_t trial = 1; trial <= budget; ++trial) {
    double mean = 0;
    for (const auto& search : searches)
      mean += std::min(best_at(search, trial), random.slowest_us()) / static_cast<double>(searches.size());
    const double base = random.expected_us(trial);
    sum += base > optimum ? (base - mean) / (base - optimum) : 1;
  }
  figures.score = sum / static_cast<double>(budget);
  return figures;
}

Figures figures_of_random(const RandomBaseline& random, std::size_t trials) {
  const double optimum = random.optimum_us();
  Figures figures;
  for (std::size_t i = 0; i < kFractionTrials.size(); ++i) {
    if (kFractionTrials[i] > trials && trials < random.rows()) continue;
    // The 10th percentile of the fraction is the 90th of the time.
    figures.fraction[i] = Spread{optimum / random.quantile_us(kFractionTrials[i], 0.5),
                                 optimum / random.quantile_us(kFractionTrials[i], 0.9)};
  }
  for (std::size_t i = 0; i < kLevels.size(); ++i)
    figures.trials_to[i] = static_cast<double>(random.draws_to(optimum / kLevels[i], 0.5));
  return figures;
}

}  // namespace lehr
