// The end of a session: who is timed against the default, and who has won.
#pragma once

#include <optional>
#include <vector>

#include "measure/measurer.h"
#include "tune/trials.h"

namespace lehr {

/// The fastest trials with different kernels (by source hash where both are known), the default left out; at
/// most `count`, fastest first. Positions in trials.all().
std::vector<std::size_t> pick_finalists(const Trials& trials, const std::optional<Config>& default_config,
                                        std::size_t count);

/// The outcome of a contest whose entry 0 is the default.
struct Judgement {
  std::size_t winner = 0;         ///< entry; 0 = the default stays
  double speedup_vs_default = 1;  ///< the winner's
  double spread = 0;
  std::optional<std::size_t> baseline;  ///< fastest timed entry from `sources` on
  double speedup_vs_baseline = 0;       ///< median over the rounds of baseline / winner; 0: none
};

/// `entries`: first `sources` kernels, then baselines. The winner has the largest ratio among those that were
/// timed to the end and beat
/// the default by 1 % or more (smaller differences are not reproducible: cpu.md section 4) and in more rounds
/// than chance explains (sign test, 5 %). CHECKs that entry 0 was timed.
Judgement judge(const std::vector<ContestEntry>& entries, std::size_t sources);

/// Median over the rounds of `other`'s time / `entry`'s: how much faster `entry` is. 0 when one was not
/// timed.
double speedup_over(const ContestEntry& entry, const ContestEntry& other);

/// The same decision from single trials, when there was no time for a contest: the spread is that of both
/// timings.
bool beats(const Timing& candidate, const Timing& default_timing);

}  // namespace lehr
