// Folds in turn: see held_out_rank.h.
#include "tune/held_out_rank.h"

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "costmodel/metrics.h"

namespace lehr {
namespace {

constexpr std::size_t kFolds = 4;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(1, values.size()));
}

}  // namespace

double standard_deviation(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double square = 0;
  for (const double value : values)
    square += (value - mean) * (value - mean) / static_cast<double>(values.size());
  return std::sqrt(square);
}

double rank_of(const std::vector<double>& scores, const std::vector<double>& times_us) {
  std::vector<double> speeds;
  for (const double us : times_us) speeds.push_back(1 / us);
  return spearman(scores, speeds);
}

double held_out_rank(CostModel& model, const FeatureMatrix& rows, const std::vector<double>& times_us) {
  CHECK(rows.rows() == times_us.size() && rows.rows() >= 2 * kFolds, "{} rows, {} times", rows.rows(),
        times_us.size());
  std::vector<double> held_out(times_us.size());
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    FeatureMatrix seen(rows.columns());
    std::vector<double> seen_us;
    for (std::size_t i = 0; i < times_us.size(); ++i) {
      if (i % kFolds == fold) continue;
      seen.append(rows.row(i));
      seen_us.push_back(times_us[i]);
    }
    Dataset data(rows.columns());
    append_group(data, seen, seen_us);
    model.fit(data);
    const std::vector<double> scores = model.predict(rows);
    const double mean = mean_of(scores), deviation = standard_deviation(scores);
    for (std::size_t i = fold; i < times_us.size(); i += kFolds)
      held_out[i] = deviation > 1e-9 ? (scores[i] - mean) / deviation : 0;
  }
  return rank_of(held_out, times_us);
}

}  // namespace lehr
