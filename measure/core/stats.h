// Order statistics of samples: pure functions.
#pragma once

#include <span>

#include "record/outcome.h"

namespace lehr {

/// Returns the `fraction` quantile, in [0, 1], linear between neighbours (R's type 7). `samples` must not be
/// empty.
double percentile(std::span<const double> samples, double fraction);
/// Returns percentile(samples, 0.5): the mean of the two middle samples if their number is even.
double median(std::span<const double> samples);
/// Returns (p75 - p25) / median; 0 for a single sample.
double spread(std::span<const double> samples);

/// Returns the number that stands for a candidate's samples: the lower quartile. Noise on a shared machine
/// only ever adds time, so low quantiles order kernels better than the median (3.1 % apart, 5 ms, measured
/// far apart: p25 88 % against 86 % on one thread, 78 % against 75 % on two), while the plain minimum is
/// misled by short turbo spells.
double estimate(std::span<const double> samples);

/// Returns a distribution-free 95 % confidence interval of the samples' `fraction` quantile, in (0, 1): two
/// order statistics, chosen by rank so that the binomial probability of the quantile lying between them is 95
/// % or more (David and Nagaraja, Order Statistics, 3rd edition, section 7.1). It assumes only that the
/// samples are independent. Few samples cannot give 95 % (median: fewer than 6, lower quartile: fewer than
/// 11); the interval is then from the smallest to the largest that the ranks allow. `samples` must not be
/// empty.
Interval quantile_interval(std::span<const double> samples, double fraction);
/// Returns the interval of estimate().
Interval estimate_interval(std::span<const double> samples);
/// Returns the interval of a candidate's time: that of its samples, corrected as the time was. Without
/// samples, the spread around the time.
Interval interval_of(const Timing& timing);

/// Limit of the correction by the reference kernel. If it moved further, it met other work on the machine,
/// which says nothing about what the candidate met. Measured beside four compilers on two cores, 2026-11-21:
/// without the limit single trials came out twice too fast.
inline constexpr double kLargestCorrection = 1.15;
/// Corrects `raw_us`, which was timed while the reference kernel took `beside_us`; usually in the session it
/// takes `usual_us`. If one of these is 0, returns `raw_us`.
double corrected_us(double raw_us, double beside_us, double usual_us);

}  // namespace lehr
