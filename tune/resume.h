// Which rows of earlier runs are answers to this session, and need not be measured again.
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

/// `picked_by` of SessionOptions::wanted: a stored winner whose kernel this version makes otherwise.
inline constexpr const char* kPickedToRemeasure = "remeasure";

/// `picked_by` of a finalist that failed in the finals: its second row.
inline constexpr const char* kPickedForFinals = "finals";

/// Deaths from which on a config is quarantined: it is never run again. One may be bad luck (another process
/// took the memory, the machine stood still), two are not.
inline constexpr int kQuarantineDeaths = 2;
/// Whether a candidate took a worker with it: it crashed, hung, or ate all memory, in the compiler or run.
bool killed_a_worker(const Outcome& outcome);
using Deaths = std::unordered_map<Point, int, PointHash>;

/// Of the rows of the same workload and target those that are answers; the others are hints: past_tasks.h.
struct EarlierRuns {
  std::vector<KnownTrial> answers;  ///< as answers() (tune/stored_kernel.h) has it: not measured again
  int runs = 0;                     ///< earlier runs that `answers` come from
  int obsolete = 0;                 ///< rows whose config the space no longer has
  int changed = 0;                  ///< rows of this template version whose kernel is another one now
  Deaths deaths;                    ///< workers that each config has killed so far
  int quarantined = 0;              ///< of `answers`: configs that killed too many
};

/// `rows` in order of creation; of several rows of one config the newest answer counts. A row that failed for
/// a reason that may pass (time limit, crash, out of memory, launch) is no answer: such configs may be tried
/// again, but for those that have killed kQuarantineDeaths workers: their last death is the answer.
/// Of sessions of merged logs (`origins`: Database::origins()) what failed for a reason that may pass is left
/// out: a worker's death counts where it was seen.
EarlierRuns earlier_runs(const std::vector<Record>& rows, const std::string& identity,
                         const Candidates& candidates, const std::map<std::string, std::string>& origins);

/// How many trials of its budget a run finds spent: configs of those of `rows` with its seed, measured on
/// `identity` since the last run that came to its end (`last_finished`, a session's id, "" = none) by runs
/// that were cut off. 0 if they are more than `budget`: then it was another command that was cut off.
int spent_by_cut_off_runs(const std::vector<Record>& rows, const std::string& identity, std::uint64_t seed,
                          const std::string& last_finished, int budget);

/// "reused 120 trials of 2 earlier runs; 3 stored trials no longer fit the space". "" if nothing.
std::string describe(const EarlierRuns& earlier);

}  // namespace lehr
