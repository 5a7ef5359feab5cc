// What earlier runs in the database are worth to this session: answers, evidence, or nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "database/record.h"
#include "tune/task.h"
#include "tune/trials.h"

namespace lehr {

/// Rows of the same workload and target, sorted by what they may be used for (design, decision 10).
struct Recall {
  std::vector<Trial> answers;   ///< this device identity and template version: not measured again
  std::vector<Trial> evidence;  ///< another identity or version, config still in the space: hints only
  int runs = 0;                 ///< earlier runs that `answers` come from
  int evidence_identities = 0;  ///< distinct (device identity, template version) of `evidence`
  int obsolete = 0;             ///< rows whose config the space no longer has
};

/// `rows` in order of creation; of several rows of one config the newest answer counts. A row that failed for
/// a reason that may pass (time limit, crash, out of memory, launch) is no answer: such configs may be tried
/// again.
Recall recall(const std::vector<Record>& rows, const std::string& identity, const Candidates& candidates);

/// The fastest distinct configs of the evidence, at most `count`, that `answers` do not hold: worth measuring
/// first.
std::vector<Config> warm_start(const Recall& recall, std::size_t count);

/// "reused 120 trials of 2 earlier runs; 40 trials of another device or version serve as hints only". "" if
/// nothing.
std::string describe(const Recall& recall);

}  // namespace lehr
