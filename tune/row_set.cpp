#include "tune/row_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "base/describe_json.h"
#include "base/error.h"

namespace lehr {
namespace {

template <typename Size>
Losses losses(const std::vector<Size>& sizes, double (*loss)(const Size&)) {
  Losses all;
  for (const Size& each : sizes) {
    const double lost = std::max(0.0, loss(each));
    all.mean += lost / static_cast<double>(sizes.size());
    all.worst = std::max(all.worst, lost);
  }
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
  if (set.times.empty() || set.times.front().rows != set.least || before != set.most)
    return "its times do not reach from end to end";
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
  return losses<RowTime>(times, [](const RowTime& time) { return time.us / time.best_us - 1; });
}

Losses losses_of(const std::vector<HeldOutRows>& held_out) {
  return losses<HeldOutRows>(held_out, [](const HeldOutRows& each) { return each.loss; });
}

}  // namespace lehr
