// The end of a session: who is timed against the default, and who has won.
#pragma once

#include <optional>
#include <vector>

#include "measure/core/ratio.h"
#include "measure/worker/contest.h"
#include "tune/trials.h"

namespace lehr {

/// The fastest trials with different kernels (by source hash where both are known), the default left out; at
/// most `count`, fastest first. Positions in trials.all().
std::vector<std::size_t> pick_finalists(const Trials& trials, const std::optional<Point>& the_default,
                                        std::size_t count);

/// How many of `most` finalists a contest of `budget_s` seconds has time for beside the default; 0: there is
/// none. Each costs the calls without which it proves nothing, a turn in each round of the first stage, and
/// half of them as much in the second; but for the calls those that no stage drops are always paid for.
/// `default_us`, `fastest_us`: a call of the default (0: none takes part) and of the fastest.
std::size_t affordable_finalists(double budget_s, std::size_t most, double default_us, double fastest_us,
                                 const ContestOptions& contest);

/// The end of a contest whose entry 0 is the default.
struct Judgement {
  std::size_t winner = 0;  ///< entry; 0 = the default stays
  Verdict verdict;         ///< of the winner
};

/// `entries`: first `sources` kernels, then baselines. The winner has the largest ratio among those that were
/// timed to the end and beat the default by 1 % or more (smaller differences came out in the wrong order
/// in a third of repeated runs) and by more than the noise: the whole interval of their ratio is above 1.
/// CHECKs that entry 0 was timed.
Judgement judge(const std::vector<ContestEntry>& entries, std::size_t sources);

/// The same decision from single trials, when there was no time for a contest: by 1 % or more, and the
/// intervals of the two times do not touch.
bool beats(const Timing& candidate, const Timing& default_timing);

}  // namespace lehr
