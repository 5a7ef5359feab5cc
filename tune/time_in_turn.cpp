// Checks schedules, then runs one contest.
#include "tune/time_in_turn.h"

#include <fmt/core.h>

#include <optional>

#include "base/describe_json.h"
#include "measure/core/ratio.h"
#include "measure/worker/baselines.h"
#include "tune/run_finals.h"

namespace lehr {
namespace {

/// Checks each source against the reference. Times all correct sources to the end, in turn with `others` and
/// the libraries. Entries of sources are named by their configs.
std::vector<ContestEntry> contest_of_right_ones(Measurer& measurer, const std::vector<Config>& configs,
                                                const std::vector<Source>& sources,
                                                const std::optional<Challenger>& challenger,
                                                const std::vector<std::string>& baselines, double seconds) {
  std::vector<ContestEntry> sides(configs.size());
  std::vector<Source> first;
  std::vector<Challenger> others;  // unlike contenders, they never drop out
  std::vector<std::size_t> place;  // position of each correct source in the contest
  const std::vector<Outcome> outcomes = measurer.measure(sources, {});
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    sides[i].name = to_text(configs[i]);
    if (const auto* failure = std::get_if<Failure>(&outcomes[i])) {
      sides[i].missing = fmt::format("{}: {}", name_of(failure->kind), failure->text);
      continue;
    }
    if (first.empty())
      first.push_back(sources[i]);
    else
      others.push_back({sides[i].name, "", sources[i]});
    place.push_back(i);
  }
  if (first.empty()) return sides;
  if (challenger) others.push_back(*challenger);
  constexpr double kProofShare = 0.2;
  FinalsPlan plan;
  plan.contest.wanted_s = (1 - kProofShare) * seconds;
  const FinalsSides all = {first, {0}, true, others, baselines};
  const FinalsClock clock = {[] { return 0.0; }, [&] { return TimeLeft{.wanted_s = kProofShare * seconds}; },
                             [] { return false; }};
  std::vector<ContestEntry> entries = run_finals(measurer, all, plan, clock).entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i < place.size()) entries[i].name = sides[place[i]].name;
    (i < place.size() ? sides[place[i]] : sides.emplace_back()) = std::move(entries[i]);
  }
  return sides;
}

}  // namespace

std::vector<ContestEntry> time_in_turn(const Task& task, const Candidates& candidates,
                                       const std::vector<Point>& points, std::vector<std::string> baselines,
                                       double seconds, Measurer& measurer) {
  baselines = with_calls_for(task.problem.text, std::move(baselines));
  std::vector<Config> configs;
  std::vector<Source> sources;
  for (const Point& point : points) {
    configs.push_back(candidates.space.config_of(point));
    sources.push_back(candidates.source_of(point));
  }
  std::optional<Challenger> challenger;
  if (std::erase(baselines, kUnfused) > 0 && candidates.unfused)
    if (auto source = candidates.unfused(configs[0]))
      challenger = {std::string(kUnfused), to_text(configs[0]) + ", then a pass", *std::move(source)};
  prepare(measurer, task, 0);
  return contest_of_right_ones(measurer, configs, sources, challenger, baselines, seconds);
}

nlohmann::json to_json(const std::vector<ContestEntry>& entries) {
  using nlohmann::json;
  json documents = json::array();
  for (const ContestEntry& entry : entries) {
    const bool timed = entry.missing.empty();
    const Ratio ratio = timed ? speedup_over(entry, entries[0]) : Ratio{};
    const Interval time = timed ? time_of(entry).interval : Interval{};
    const AlgorithmCount algorithms = entry.finding ? algorithms_of(*entry.finding) : AlgorithmCount();
    documents.push_back({{"what", entry.name},
                         {"missing", known_or_null(entry.missing)},
                         {"note", entry.note},
                         {"algorithms_tried", known_or_null(algorithms.tried)},
                         {"algorithms", known_or_null(algorithms.offered)},
                         {"overhead_us", known_or_null(entry.overhead_us)},
                         {"time_us", timed ? json(entry.time_us) : json(nullptr)},
                         {"time_us_interval", {time.low, time.high}},
                         {"rounds_us", entry.round_us},
                         {"speedup", known_or_null(ratio.value)},
                         {"speedup_interval", {ratio.interval.low, ratio.interval.high}}});
  }
  return documents;
}

}  // namespace lehr
