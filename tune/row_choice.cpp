#include "tune/row_choice.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/error.h"

namespace lehr {
namespace {

/// Returns the fastest of `chosen` at a size. If several are equally fast, `before` or the first of them.
std::size_t fastest(const RowTimes& times, const std::vector<std::size_t>& chosen, std::size_t size,
                    std::optional<std::size_t> before) {
  std::size_t best = before.value_or(chosen[0]);
  for (const std::size_t kernel : chosen)
    if (times.us[kernel][size] < times.us[best][size]) best = kernel;
  return best;
}

/// Returns the choice of `kernels` with its losses.
ChosenRows judged(const RowTimes& times, const std::vector<double>& best_us,
                  std::vector<std::size_t> kernels) {
  ChosenRows chosen = {.kernels = std::move(kernels)};
  std::size_t served = 0;
  for (std::size_t size = 0; size < best_us.size(); ++size) {
    if (best_us[size] == kNeverUs) continue;
    double us = kNeverUs;
    for (const std::size_t kernel : chosen.kernels) us = std::min(us, times.us[kernel][size]);
    if (us == kNeverUs) {
      ++chosen.unserved;
      continue;
    }
    const double loss = us / best_us[size] - 1;
    chosen.worst = std::max(chosen.worst, loss);
    chosen.mean += loss;
    ++served;
  }
  if (served > 0) chosen.mean /= static_cast<double>(served);
  return chosen;
}

/// Returns the best choice that has any kernel at position `place` of `kernels`. `place` may be the position
/// after the last.
ChosenRows best_in_place(const RowTimes& times, const std::vector<double>& best_us,
                         std::vector<std::size_t> kernels, std::size_t place) {
  std::optional<ChosenRows> best;
  const std::vector<std::size_t> others = kernels;
  kernels.resize(std::max(kernels.size(), place + 1));
  for (std::size_t kernel = 0; kernel < times.us.size(); ++kernel) {
    if (std::ranges::find(others, kernel) != others.end()) continue;
    kernels[place] = kernel;
    ChosenRows with = judged(times, best_us, kernels);
    if (!best || loses_less(with, *best)) best = std::move(with);
  }
  return best.value_or(judged(times, best_us, others));
}

ChosenRows exchanged(const RowTimes& times, const std::vector<double>& best_us, ChosenRows chosen) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t place = 0; place < chosen.kernels.size(); ++place) {
      ChosenRows with = best_in_place(times, best_us, chosen.kernels, place);
      if (!loses_less(with, chosen)) continue;
      chosen = std::move(with);
      changed = true;
    }
  }
  return chosen;
}

/// Drops the kernels that save nothing, beginning with the kernel that saves least.
ChosenRows without_idle(const RowTimes& times, const std::vector<double>& best_us, ChosenRows chosen) {
  const double most_mean = chosen.mean + kLeastEarned;
  while (chosen.kernels.size() > 1) {
    std::optional<ChosenRows> best;
    for (std::size_t place = 0; place < chosen.kernels.size(); ++place) {
      std::vector<std::size_t> kernels = chosen.kernels;
      kernels.erase(kernels.begin() + static_cast<std::ptrdiff_t>(place));
      ChosenRows without = judged(times, best_us, std::move(kernels));
      if (!best || loses_less(without, *best)) best = std::move(without);
    }
    const bool idle =
        best->unserved <= chosen.unserved && best->worst <= chosen.worst && best->mean < most_mean;
    if (!idle) break;
    chosen = *std::move(best);
  }
  return chosen;
}

}  // namespace

bool loses_less(const ChosenRows& a, const ChosenRows& b) {
  // A gain must exceed rounding errors, else exchanges would not end.
  constexpr double kRounding = 1e-12;
  if (a.unserved != b.unserved) return a.unserved < b.unserved;
  if (std::abs(a.worst - b.worst) > kRounding) return a.worst < b.worst;
  return a.mean < b.mean - kRounding;
}

double RowTimes::best_us(std::size_t size) const {
  double best = kNeverUs;
  for (const std::vector<double>& each : us) best = std::min(best, each[size]);
  return best;
}

namespace {

/// Chooses from `times`. `best_us` are the best times of all kernels and may be lower than those in `times`.
ChosenRows chosen_of(const RowTimes& times, const std::vector<double>& best_us, std::size_t most) {
  CHECK(!times.us.empty() && most > 0, "{} of {} kernels are to be chosen", most, times.us.size());
  ChosenRows chosen = best_in_place(times, best_us, {}, 0);
  while (chosen.kernels.size() < std::min(most, times.us.size()))
    chosen = exchanged(times, best_us, best_in_place(times, best_us, chosen.kernels, chosen.kernels.size()));
  chosen = without_idle(times, best_us, std::move(chosen));
  std::ranges::sort(chosen.kernels);
  return chosen;
}

std::vector<double> least_of(const RowTimes& times) {
  std::vector<double> best_us;
  for (std::size_t size = 0; size < times.sizes.size(); ++size) best_us.push_back(times.best_us(size));
  return best_us;
}

}  // namespace

RowTimes times_in(const RowTimes& times, const std::vector<std::string>& layouts, const std::string& layout) {
  RowTimes within = times;
  if (layout.empty()) {
    for (std::size_t kernel = 0; kernel < layouts.size(); ++kernel)
      if (!layouts[kernel].empty()) std::ranges::fill(within.us[kernel], kNeverUs);
    return within;
  }
  for (std::size_t size = 0; size < times.sizes.size(); ++size) {
    double least = kNeverUs;
    for (std::size_t kernel = 0; kernel < layouts.size(); ++kernel)
      if (layouts[kernel] == layout) least = std::min(least, times.us[kernel][size]);
    for (std::size_t kernel = 0; kernel < layouts.size(); ++kernel) {
      double& us = within.us[kernel][size];
      const bool pays = layouts[kernel].empty() && us * (1 + kSecondLayout) <= least;
      if (layouts[kernel] != layout && !pays) us = kNeverUs;
    }
  }
  return within;
}

ChosenRows choose_rows(const RowTimes& times, const std::vector<std::string>& layouts, std::size_t most) {
  CHECK(layouts.size() == times.us.size(), "{} layouts of {} kernels", layouts.size(), times.us.size());
  const std::vector<double> best_us = least_of(times);
  std::optional<ChosenRows> best;
  for (const std::string& layout : std::set<std::string>(layouts.begin(), layouts.end())) {
    ChosenRows chosen = chosen_of(times_in(times, layouts, layout), best_us, most);
    if (!best || loses_less(chosen, *best)) best = std::move(chosen);
  }
  return *std::move(best);
}

std::vector<RowStretch> stretches_of(const RowTimes& times, const std::vector<std::size_t>& chosen) {
  std::vector<RowStretch> stretches;
  for (std::size_t size = 0; size < times.sizes.size(); ++size) {
    const std::optional<std::size_t> before =
        stretches.empty() ? std::nullopt : std::optional(stretches.back().kernel);
    const std::size_t kernel = fastest(times, chosen, size, before);
    CHECK(times.us[kernel][size] < kNeverUs, "nothing serves {} rows", times.sizes[size]);
    if (before == kernel)
      stretches.back().to = times.sizes[size];
    else
      stretches.push_back({kernel, times.sizes[size]});
  }
  return stretches;
}

std::vector<std::int64_t> measured_sizes(std::int64_t least, std::int64_t most) {
  std::set<std::int64_t> sizes = {least, most};
  for (std::int64_t power = 1; power <= most; power *= 2)
    for (const std::int64_t size : {power, power + power / 2})
      if (size >= least && size <= most) sizes.insert(size);
  return {sizes.begin(), sizes.end()};
}

std::vector<std::int64_t> sizes_between(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> between;
  for (std::size_t i = 1; i < sizes.size(); ++i)
    if (sizes[i] - sizes[i - 1] > 1) between.push_back((sizes[i - 1] + sizes[i]) / 2);
  return between;
}

std::vector<std::int64_t> held_out_sizes(std::int64_t least, std::int64_t most,
                                         const std::vector<std::int64_t>& measured, std::size_t count,
                                         Rng& rng) {
  std::set<std::int64_t> drawn;
  const auto others = most - least + 1 - std::ranges::count_if(measured, [&](std::int64_t size) {
                        return size >= least && size <= most;
                      });
  const std::size_t wanted = std::min(count, static_cast<std::size_t>(others));
  const double octaves = std::log2(static_cast<double>(most + 1) / static_cast<double>(least));
  while (drawn.size() < wanted) {
    const double size = static_cast<double>(least) * std::exp2(rng.uniform() * octaves);
    const std::int64_t rows = std::clamp(static_cast<std::int64_t>(size), least, most);
    if (std::ranges::find(measured, rows) == measured.end()) drawn.insert(rows);
  }
  return {drawn.begin(), drawn.end()};
}

}  // namespace lehr
