// Finds the answers among the rows of earlier runs.
#include "tune/resume.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "tune/stored_kernel.h"

namespace lehr {
namespace {

/// Whether a failure says something about the config, and not only about the moment. True for a timing.
bool lasting(const Outcome& outcome) {
  const auto* failure = std::get_if<Failure>(&outcome);
  if (!failure) return true;
  switch (failure->kind) {
    case FailureKind::kLower:
    case FailureKind::kCompile:
    case FailureKind::kWrongResult:
    case FailureKind::kRejected:
    case FailureKind::kImplausible:
      return true;
    case FailureKind::kCompileTimeout:
    case FailureKind::kLaunch:
    case FailureKind::kTimeout:
    case FailureKind::kCrash:
    case FailureKind::kOutOfMemory:
    case FailureKind::kInterrupted:
      return false;
  }
  return false;
}

}  // namespace

bool killed_a_worker(const Outcome& outcome) {
  // Two kinds of passing failures do not count as deaths: a launch that the driver refused leaves the worker
  // alive, and a compiler that was ended from outside says nothing about the config.
  const auto* failure = std::get_if<Failure>(&outcome);
  return failure && !lasting(outcome) && failure->kind != FailureKind::kLaunch &&
         failure->kind != FailureKind::kInterrupted;
}

EarlierRuns earlier_runs(const std::vector<Record>& rows, const std::string& identity,
                         const Candidates& candidates, const std::map<std::string, std::string>& origins) {
  EarlierRuns result;
  std::unordered_map<Point, std::size_t, PointHash> answer_at;
  std::set<std::string> runs;
  for (const Record& row : rows) {
    const std::optional<Point> point = candidates.space.find(row.config);
    if (!point) {
      ++result.obsolete;
      continue;
    }
    if (!answers(row, identity, candidates)) {
      if (row.device == identity && row.template_version == candidates.version_of(row.config.family))
        ++result.changed;
      continue;
    }
    if (!lasting(row.outcome) && origins.contains(row.session)) continue;
    const bool killed = killed_a_worker(row.outcome);
    if (killed) ++result.deaths[*point];
    const auto known = result.deaths.find(*point);
    const int deaths = known == result.deaths.end() ? 0 : known->second;
    const bool quarantined = deaths >= kQuarantineDeaths;
    if (quarantined ? !killed : !lasting(row.outcome)) continue;
    result.quarantined += quarantined && deaths == kQuarantineDeaths ? 1 : 0;
    runs.insert(row.session);
    const auto [found, inserted] = answer_at.try_emplace(*point, result.answers.size());
    if (inserted) result.answers.emplace_back();
    result.answers[found->second] = {row, *point, Origin::kEarlier};
  }
  result.runs = static_cast<int>(runs.size());
  return result;
}

int spent_by_cut_off_runs(const std::vector<Record>& rows, const std::string& identity, std::uint64_t seed,
                          const std::string& last_finished, int budget) {
  std::unordered_set<Config, ConfigHash> configs;  // a set, since every run measures the default again
  for (const Record& row : rows) {
    if (row.device != identity) continue;
    if (!last_finished.empty() && row.session == last_finished)
      configs.clear();
    else if (row.seed == seed && row.picked_by != kPickedToResume && row.picked_by != kPickedForFinals)
      configs.insert(row.config);
  }
  const int spent = static_cast<int>(configs.size());
  return spent <= budget ? spent : 0;
}

std::string describe(const EarlierRuns& earlier) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (!earlier.answers.empty())
    add(fmt::format("reused {} trial{} of {} earlier run{}", earlier.answers.size(),
                    earlier.answers.size() == 1 ? "" : "s", earlier.runs, earlier.runs == 1 ? "" : "s"));
  if (earlier.quarantined > 0)
    add(fmt::format("{} config{} quarantined, having killed {} workers or more", earlier.quarantined,
                    earlier.quarantined == 1 ? " is" : "s are", kQuarantineDeaths));
  if (earlier.obsolete > 0)
    add(fmt::format("{} stored trial{} no longer fit{} the space", earlier.obsolete,
                    earlier.obsolete == 1 ? "" : "s", earlier.obsolete == 1 ? "s" : ""));
  if (earlier.changed > 0)
    add(earlier.changed == 1
            ? "1 stored trial is of a kernel that this version makes otherwise"
            : fmt::format("{} stored trials are of kernels that this version makes otherwise",
                          earlier.changed));
  return text;
}

}  // namespace lehr
