#include "behind.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "documents.h"
#include "measure/core/stats.h"

namespace lehr::bench {

double behind_three(const nlohmann::json& document, const Database& log) {
  const double told = number(document, "speedup_vs_default");
  const double default_us = number(document.value("default", nlohmann::json()), "time_us");
  if (told <= 0 || default_us <= 0) return 0;
  const std::string session = document.value("session", "");
  std::vector<double> speedups;
  for (const Record& row :
       log.all({.workload = document.value("workload", ""), .device = document.value("identity", "")})) {
    const auto* timing = std::get_if<Timing>(&row.outcome);
    if (row.session != session || timing == nullptr || timing->samples_us.empty()) continue;
    const double beside_us = timing->reference_us > 0 ? timing->reference_us : default_us;
    speedups.push_back(beside_us / estimate(timing->samples_us));
  }
  constexpr std::size_t kThird = 2;
  if (speedups.size() <= kThird) return 0;
  std::ranges::nth_element(speedups, speedups.begin() + kThird, std::greater());
  return speedups[kThird] / told;
}

std::string behind_text(const std::vector<std::pair<std::string, double>>& behind) {
  std::string names;
  int count = 0, judged = 0;
  for (const auto& [name, ratio] : behind) {
    judged += ratio > 0 ? 1 : 0;
    if (ratio <= kBehind) continue;
    ++count;
    names += fmt::format("{} {} ({:.2f}x)", names.empty() ? ":" : ",", name, ratio);
  }
  return fmt::format("{} of {} verdicts fall behind three trials of their session by more than {:.2f}x{}.",
                     count, judged, kBehind, names);
}

}  // namespace lehr::bench
