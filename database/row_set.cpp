#include "database/row_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/describe_json.h"
#include "base/error.h"

namespace lehr {
namespace {

Losses losses_of(const std::vector<double>& losses) {
  constexpr double kLeast = 4;
  Losses all;
  const auto count = static_cast<double>(losses.size());
  for (const double loss : losses) {
    all.mean += std::max(0.0, loss) / count;
    all.worst = std::max(all.worst, loss);
  }
  if (count < kLeast) return all;
  double variance = 0;
  for (const double loss : losses)
    variance += (std::max(0.0, loss) - all.mean) * (std::max(0.0, loss) - all.mean) / (count - 1);
  // The 97.5 % quantile of Student's t, approximated to 4 % (Abramowitz and Stegun, 26.7.5).
  const double free = count - 1;
  const double t = 1.96 + 2.37 / free + 2.82 / (free * free);
  const double half_width = t * std::sqrt(variance / count);
  all.mean_interval = {std::max(0.0, all.mean - half_width), all.mean + half_width};
  return all;
}

}  // namespace

std::optional<std::string> why_no_set(const RowSet& set) {
  if (set.least < 1 || set.most < set.least)
    return fmt::format("{} to {} rows are no range", set.least, set.most);
  std::int64_t before = set.least - 1;
  for (const RowMember& member : set.members) {
    if (member.to <= before)
      return fmt::format("a member for up to {} rows follows one for {}", member.to, before);
    before = member.to;
  }
  if (set.members.empty() || before != set.most)
    return fmt::format("its members do not end at {} rows", set.most);
  before = 0;
  for (const RowTime& time : set.times) {
    if (time.rows <= before || !(time.us > 0)) return fmt::format("its time of {} rows is none", time.rows);
    before = time.rows;
  }
  if (set.times.empty() || before != set.most) return "its times do not reach the most rows";
  return std::nullopt;
}

std::optional<RowSet> row_set_of(const StoredVerdict& verdict) {
  const nlohmann::json document = nlohmann::json::parse(verdict.json, nullptr, false);
  if (!document.is_object() || !document.contains("set")) return std::nullopt;
  try {
    RowSet set = document["set"].get<RowSet>();
    if (set.workload != verdict.workload || why_no_set(set)) return std::nullopt;
    return set;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

const RowMember& member_for(const RowSet& set, std::int64_t rows) {
  const auto found = std::ranges::lower_bound(set.members, rows, {}, &RowMember::to);
  CHECK(rows >= set.least && found != set.members.end(), "{} rows are not in {}", rows, set.workload);
  return *found;
}

Losses losses_of(const std::vector<RowTime>& times) {
  std::vector<double> losses;
  for (const RowTime& each : times)
    if (each.best_us > 0) losses.push_back(each.us / each.best_us - 1);
  return losses_of(losses);
}

Losses losses_of(const std::vector<HeldOutRows>& held_out) {
  std::vector<double> losses;
  for (const HeldOutRows& each : held_out) losses.push_back(each.loss);
  return losses_of(losses);
}

}  // namespace lehr
