// How well a model ranks rows that it has not seen, from a task's few timings.
#pragma once

#include <vector>

#include "costmodel/model.h"

namespace lehr {

/// Spearman's rank correlation of the scores with the measured speeds over all rows, each scored by a fit
/// that has not seen it: row i is in fold i mod 4. Scores are in units of their deviation from their mean,
/// each fit's own. `model` is fitted anew and left with the last fold's fit. At least 8 rows.
double held_out_rank(CostModel& model, const FeatureMatrix& rows, const std::vector<double>& times_us);

/// The same of scores by somebody who has seen none of the rows.
double rank_of(const std::vector<double>& scores, const std::vector<double>& times_us);

/// Population standard deviation; 0 for none.
double standard_deviation(const std::vector<double>& values);

}  // namespace lehr
