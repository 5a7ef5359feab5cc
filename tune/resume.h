// Rows of earlier runs that are answers for this session and need not be measured again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "database/record.h"
#include "tune/task.h"
#include "tune/trials.h"

namespace lehr {

/// `picked_by` of an earlier run's finalist that is measured once more before the finals.
inline constexpr const char* kPickedToResume = "resume";

/// `picked_by` of SessionOptions::wanted: a stored winner whose kernel this version makes differently.
inline constexpr const char* kPickedToRemeasure = "remeasure";

/// `picked_by` of the second row of a finalist that failed in the finals.
inline constexpr const char* kPickedForFinals = "finals";

/// Number of killed workers after which a config is quarantined, which means it is never run again. One may
/// be bad luck (another program took the memory, the machine stood still), two are not.
inline constexpr int kQuarantineDeaths = 2;
/// Whether the outcome is that the candidate killed its worker: it crashed, hung, or used up all memory, in
/// the compiler or when run.
bool killed_a_worker(const Outcome& outcome);
using Deaths = std::unordered_map<Point, int, PointHash>;

/// The rows of a workload on a target that are answers. All other rows are hints: past_tasks.h.
struct EarlierRuns {
  /// Trials that need not be measured again, by answers() (tune/stored_kernel.h).
  std::vector<KnownTrial> answers;
  int runs = 0;      ///< earlier runs that `answers` come from
  int obsolete = 0;  ///< number of rows whose config is not in the space any more
  /// Number of rows of this template version whose kernel this version makes differently.
  int changed = 0;
  Deaths deaths;        ///< workers that each config has killed so far
  int quarantined = 0;  ///< number of `answers` whose config is quarantined
};

/// Finds the answers among `rows`, which are in order of creation. If a config has several answers, the
/// newest counts. A row that failed for a passing reason (time limit, crash, out of memory, launch) is not an
/// answer, and its config may be tried again. But once a config has killed kQuarantineDeaths workers, the
/// last such row is an answer. `origins` is Database::origins(). Rows of merged logs that failed for a
/// passing reason are left out: killing a worker counts only on the machine where it happened.
EarlierRuns earlier_runs(const std::vector<Record>& rows, const std::string& identity,
                         const Candidates& candidates, const std::map<std::string, std::string>& origins);

/// Returns how many trials of its budget a run finds spent: the number of configs that earlier runs, which
/// were cut off, measured with this seed on `identity` since the last finished run. `last_finished` is that
/// run's session; "": no run has finished. Returns 0 if the number exceeds `budget`: then the runs belonged
/// to another command.
int spent_by_cut_off_runs(const std::vector<Record>& rows, const std::string& identity, std::uint64_t seed,
                          const std::string& last_finished, int budget);

/// Returns "reused 120 trials of 2 earlier runs; 3 stored trials no longer fit the space"; "" for nothing.
std::string describe(const EarlierRuns& earlier);

}  // namespace lehr
