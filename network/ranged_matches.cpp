// Matches of a network in which one dimension may have any size of a range.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "network/matches.h"

namespace lehr {
namespace {

/// A match at one size.
struct Found {
  const Workload* workload = nullptr;
  const Match* match = nullptr;
};
using MatchesByOutput = std::unordered_map<std::string_view, Found>;

MatchesByOutput by_output(const Matches& matches) {
  MatchesByOutput found;
  for (const MatchedWorkload& matched : matches.workloads)
    for (const Match& match : matched.matches) found[match.output] = {&matched.workload, &match};
  return found;
}

/// Whether both workloads are equal except that `smaller` may have fewer rows.
bool differ_in_rows(const Workload& largest, const Workload& smaller) {
  const bool both_products = rows_of(largest) > 0 && rows_of(smaller) > 0;
  if (!both_products) return smaller == largest;
  return rows_of(smaller) <= rows_of(largest) && with_rows(smaller, rows_of(largest)) == largest;
}

/// Whether kernels can take the number of rows as an argument.
bool is_valid(const Workload& range) {
  try {
    validate(kernels_of(range));
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Returns the workload of a match for all sizes of the range; nullopt if no workload expresses that.
std::optional<Workload> over_all(const Workload& largest, const Match& match,
                                 const std::vector<MatchesByOutput>& smaller) {
  std::int64_t least = rows_of(largest);
  for (const MatchesByOutput& matches : smaller) {
    const auto found = matches.find(match.output);
    if (found == matches.end() || found->second.match->nodes != match.nodes ||
        !differ_in_rows(largest, *found->second.workload))
      return std::nullopt;
    least = std::min(least, rows_of(*found->second.workload));
  }
  if (least == rows_of(largest)) return largest;
  if (match.by_rows) return call_rows(largest).open ? std::optional(largest) : std::nullopt;
  const Workload range = with_call_rows(largest, {.most = rows_of(largest), .least = least});
  return is_valid(range) ? std::optional(range) : std::nullopt;
}

void add(Matches& matches, Workload workload, Match match) {
  const auto same = std::ranges::find(matches.workloads, workload, &MatchedWorkload::workload);
  if (same != matches.workloads.end())
    same->matches.push_back(std::move(match));
  else
    matches.workloads.push_back({std::move(workload), {std::move(match)}});
}

}  // namespace

Matches matches_of(const Network& network, const IsServed& is_served) {
  Matches largest = matches_of(network.model, network.shapes, is_served);
  if (network.smaller.empty()) return largest;
  std::vector<Matches> others;
  std::vector<MatchesByOutput> smaller;
  for (const GraphShapes& shapes : network.smaller)
    others.push_back(matches_of(network.model, shapes, is_served));
  for (const Matches& each : others) smaller.push_back(by_output(each));
  Matches matches;
  matches.gaps = std::move(largest.gaps);
  for (MatchedWorkload& matched : largest.workloads)
    for (Match& match : matched.matches) {
      if (auto workload = over_all(matched.workload, match, smaller))
        add(matches, std::move(*workload), std::move(match));
      else if (!match.by_rows)
        matches.gaps.push_back({"within the range of sizes more of it varies than its rows",
                                flops_of(matched.workload), match.nodes[0]});
    }
  return matches;
}

}  // namespace lehr
