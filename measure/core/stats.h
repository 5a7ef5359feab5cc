// Order statistics of samples: pure functions.
#pragma once

#include <span>

#include "record/outcome.h"

namespace lehr {

/// The `fraction` quantile in [0, 1], linear between neighbours (R's type 7). `samples` must not be empty.
double percentile(std::span<const double> samples, double fraction);
/// percentile(samples, 0.5): the mean of the two middle ones for an even count.
double median(std::span<const double> samples);
/// (p75 - p25) / median; 0 for a single sample.
double spread(std::span<const double> samples);

/// The one number that stands for a candidate's samples: the lower quartile. Noise on a shared machine only
/// ever adds time, so low quantiles order kernels better than the median (3.1 % apart, 5 ms, measured far
/// apart: p25 88 % against 86 % on one thread, 78 % against 75 % on two), while the plain minimum is misled
/// by short turbo spells.
double estimate(std::span<const double> samples);

/// Distribution-free 95 % confidence interval of the `fraction` quantile in (0, 1) of what the samples are
/// drawn from: two order statistics, chosen by rank so that the binomial probability of the quantile lying
/// between them is 95 % or more (David and Nagaraja, Order Statistics, 3rd edition, section 7.1). It asks
/// nothing of the distribution, but that the samples are independent. Few samples cannot give 95 % (the
/// median: fewer than 6, the lower quartile: fewer than 11): it is then from the smallest to the largest that
/// the ranks allow. `samples` must not be empty.
Interval quantile_interval(std::span<const double> samples, double fraction);
/// Of estimate().
Interval estimate_interval(std::span<const double> samples);
/// Of a candidate's time: that of its samples, corrected as the time was. Without samples, its spread around
/// it.
Interval interval_of(const Timing& timing);

/// A reference kernel that moved further than this met other work on the machine, which says nothing of what
/// the candidate met: the correction stops there. Measured beside four compilers on two cores, 2026-11-21:
/// without the limit single trials came out twice too fast.
inline constexpr double kLargestCorrection = 1.15;
/// `raw_us`, timed while the reference kernel took `beside_us`, in a session in which that takes `usual_us`.
/// 0 for either of these: `raw_us` as it is.
double corrected_us(double raw_us, double beside_us, double usual_us);

}  // namespace lehr
