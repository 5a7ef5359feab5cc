// Computes which participant of a contest is faster and by how much, from the rounds in which nothing
// disturbed the two.
#pragma once

#include <vector>

#include "measure/core/measurer.h"
#include "measure/core/stats.h"

namespace lehr {

/// Returns the times of an entry's calm rounds. A round is calm if its time is within `calm_within` of the
/// entry's best times (their 2 % quantile). At least the best five rounds and the best 15 % are returned,
/// because kernels on all cores have hardly any calm round. On a CPU with shared cores, a program on a core's
/// other hardware thread slows one kernel down to half its speed and another by a quarter, for seconds: the
/// median over all rounds would then measure the other program. Empty if the entry was not timed.
std::vector<double> calm_us(const ContestEntry& entry);
/// Returns the entry's time with its interval, from its calm rounds.
Time time_of(const ContestEntry& entry);

/// Returns how much faster `entry` is than `other`, from the rounds that are calm for both. If there are too
/// few such rounds, the rounds that are nearest to calm are added. Returns 0 if one entry was not timed.
/// While another process was busy, contests of 1 s would have ordered pairs of CPU kernels 3 % apart
/// correctly in 70 of 100 cases with turns of 20 ms and all rounds, in 66 with turns of 2 ms and all rounds,
/// and in 88 with turns of 2 ms and only the calm rounds (bench/results/ranking).
Ratio speedup_over(const ContestEntry& entry, const ContestEntry& other);

}  // namespace lehr
