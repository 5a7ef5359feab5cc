// Order statistics of samples: pure functions.
#pragma once

#include <span>

#include "record/outcome.h"

namespace lehr {

/// Returns the `fraction` quantile, `fraction` in [0, 1], interpolated linearly between neighbours (R's type
/// 7). `samples` must not be empty.
double percentile(std::span<const double> samples, double fraction);
/// Returns percentile(samples, 0.5): the mean of the two middle samples if their number is even.
double median(std::span<const double> samples);
/// Returns (p75 - p25) / median; 0 for a single sample.
double spread(std::span<const double> samples);

/// Returns the estimate of a candidate's time from its samples: the lower quartile. Noise on a shared machine
/// only ever adds time, so low quantiles order kernels better than the median. For kernels 3.1 % apart, with
/// 5 ms each and measured far apart in time, p25 was right in 88 % of the cases and the median in 86 % on one
/// thread, 78 % and 75 % on two threads. The minimum is misled by short turbo periods.
double estimate(std::span<const double> samples);

/// Returns a distribution-free 95 % confidence interval of the samples' `fraction` quantile, `fraction` in
/// (0, 1). Its ends are two order statistics, whose ranks are chosen so that the quantile lies between them
/// with a binomial probability of 95 % or more (David and Nagaraja, Order Statistics, 3rd edition, section
/// 7.1). It assumes only that the samples are independent. Few samples cannot give 95 % (median: fewer than
/// 6, lower quartile: fewer than 11); the interval then reaches as far as the ranks allow. `samples` must not
/// be empty.
Interval quantile_interval(std::span<const double> samples, double fraction);
/// Returns the interval of estimate().
Interval estimate_interval(std::span<const double> samples);
/// Returns the interval of a candidate's time. It is the interval of the samples, corrected by the same
/// factor as the time. Without samples it reaches from half of `spread` (a fraction of the time) below the
/// time to as much above the time.
Interval interval_of(const Timing& timing);

/// Largest correction factor by the reference kernel. If the reference kernel's time changed by a larger
/// factor, another program disturbed the reference kernel, and the change says nothing about the candidate.
/// Without this limit, the results of single trials were twice too fast (measured while four compilers ran on
/// two cores, 2026-11-21).
inline constexpr double kLargestCorrection = 1.15;
/// Corrects `raw_us` by the reference kernel. `beside_us` is the reference kernel's time when it was timed
/// next to the candidate. `usual_us` is the reference kernel's usual time in the session. If one of these two
/// times is 0, returns `raw_us`.
double corrected_us(double raw_us, double beside_us, double usual_us);

}  // namespace lehr
