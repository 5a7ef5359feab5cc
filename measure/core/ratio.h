// Decides who is faster by how much in a contest, from the rounds in which nothing disturbed the two.
#pragma once

#include <vector>

#include "measure/core/measurer.h"
#include "measure/core/stats.h"

namespace lehr {

/// Returns the times of an entry's calm rounds: those within `calm_within` of its best ones (their 2 %
/// quantile), but at least the best five and the best 15 % (of kernels on all cores hardly a round is calm).
/// On a CPU with shared cores, a program on a core's other hardware thread slows one kernel down to half its
/// speed and another by a quarter, for seconds: the median over all rounds then shows what the neighbour did.
/// Empty if the entry was not timed.
std::vector<double> calm_us(const ContestEntry& entry);
/// Returns the entry's time with its interval, from its calm rounds.
Time time_of(const ContestEntry& entry);

/// Returns how much faster `entry` is than `other`, from the rounds that are calm for both, or as many
/// nearest to calm; 0 if one was not timed. Beside a busy process, contests of 1 s would have ordered pairs
/// of CPU kernels 3 % apart correctly in 70 of 100 cases with turns of 20 ms and all rounds counted, in 66
/// with turns of 2 ms, and in 88 with these and only the calm rounds (bench/results/ranking).
Ratio speedup_over(const ContestEntry& entry, const ContestEntry& other);

}  // namespace lehr
