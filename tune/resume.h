// Rows of earlier runs that answer this session, and need not be measured again.
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

/// `picked_by` of a finalist of an earlier run, measured once more before the finals.
inline constexpr const char* kPickedToResume = "resume";

/// `picked_by` of SessionOptions::wanted: a stored winner whose kernel this version makes differently.
inline constexpr const char* kPickedToRemeasure = "remeasure";

/// `picked_by` of a finalist that failed in the finals: its second row.
inline constexpr const char* kPickedForFinals = "finals";

/// Number of deaths that quarantine a config: it is never run again. One may be bad luck (another program
/// took the memory, the machine stood still), two are not.
inline constexpr int kQuarantineDeaths = 2;
/// Whether a candidate killed its worker: it crashed, hung, or ate all memory, in the compiler or when run.
bool killed_a_worker(const Outcome& outcome);
using Deaths = std::unordered_map<Point, int, PointHash>;

/// The rows of a workload on a target that are answers. The other rows are hints: past_tasks.h.
struct EarlierRuns {
  std::vector<KnownTrial> answers;  ///< by answers() (tune/stored_kernel.h): not measured again
  int runs = 0;                     ///< earlier runs that `answers` come from
  int obsolete = 0;                 ///< rows whose config is not in the space any more
  int changed = 0;                  ///< rows of this template version whose kernel is made differently now
  Deaths deaths;                    ///< workers that each config has killed so far
  int quarantined = 0;              ///< number of `answers` whose config is quarantined
};

/// Finds the answers among `rows`, which are in order of creation. If a config has several rows, the newest
/// answer counts. A row that failed for a passing reason (time limit, crash, out of memory, launch) is not an
/// answer, and its config may be tried again. But after kQuarantineDeaths killed workers the last death is
/// the answer. Rows of merged logs (`origins`: Database::origins()) that failed for a passing reason are left
/// out: a worker's death counts only where it happened.
EarlierRuns earlier_runs(const std::vector<Record>& rows, const std::string& identity,
                         const Candidates& candidates, const std::map<std::string, std::string>& origins);

/// Returns how many trials of its budget a run finds spent: configs of `rows` with its seed on `identity`,
/// measured since the last finished run (`last_finished`, a session's id; "": none finished) by runs that
/// were cut off. Returns 0 if they exceed `budget`: then another command was cut off.
int spent_by_cut_off_runs(const std::vector<Record>& rows, const std::string& identity, std::uint64_t seed,
                          const std::string& last_finished, int budget);

/// Returns "reused 120 trials of 2 earlier runs; 3 stored trials no longer fit the space"; "" for nothing.
std::string describe(const EarlierRuns& earlier);

}  // namespace lehr
