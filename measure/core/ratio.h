// What a contest says: who is faster by how much, from the rounds in which nothing disturbed the two.
#pragma once

#include <vector>

#include "measure/core/measurer.h"
#include "measure/core/stats.h"

namespace lehr {

/// The times of an entry's calm rounds: those within `calm_within` of its best ones (their 2 % quantile), but
/// at least the best five and the best 15 % (of kernels on all cores hardly a round is calm). On a CPU whose
/// cores are shared, what runs on the other hardware thread of a core slows one kernel down to half its speed
/// and another by a quarter, for seconds: the median over all rounds then tells what the neighbour did. Empty
/// when the entry was not timed.
std::vector<double> calm_us(const ContestEntry& entry);
/// The entry's time with its interval, from its calm rounds.
Time time_of(const ContestEntry& entry);

/// How much faster `entry` is than `other`, from the rounds that are calm for both, or as many that are the
/// nearest to it; value 0 when one was not timed. Beside a busy process contests of 1 s would have ordered
/// pairs of CPU kernels 3 % apart in 70 of 100 cases with turns of 20 ms and every round counted, in 66 with
/// turns of 2 ms, and in 88 with these and the calm rounds alone (bench/results/ranking).
Ratio speedup_over(const ContestEntry& entry, const ContestEntry& other);

}  // namespace lehr
