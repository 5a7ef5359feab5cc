// Two halves: see consistent_tasks.h.
#include "tune/consistent_tasks.h"

#include <utility>

#include "costmodel/metrics.h"

namespace lehr {
namespace {

/// Spearman's rank correlation of the scores with the measured speeds.
double rank_of(const std::vector<double>& scores, const std::vector<double>& times_us) {
  std::vector<double> speeds;
  for (const double us : times_us) speeds.push_back(1 / us);
  return spearman(scores, speeds);
}

PastTask half_of(const PastTask& task, std::size_t half) {
  PastTask part{task.name, task.weight, {}, FeatureMatrix(task.rows.columns()), {}};
  for (std::size_t i = half; i < task.times_us.size(); i += 2) {
    part.rows.append(task.rows.row(i));
    part.times_us.push_back(task.times_us[i]);
  }
  return part;
}

/// Of each task; 0 where it has too few rows.
std::vector<double> held_out_ranks(const std::vector<PastTask>& tasks, std::uint64_t seed) {
  std::vector<double> ranks(tasks.size(), 0);
  for (const std::size_t half : {0, 1}) {
    Dataset data(tasks[0].rows.columns());
    for (const PastTask& task : tasks) {
      const PastTask seen = half_of(task, half);
      append_group(data, seen.rows, seen.times_us);
    }
    XgboostModel model(seed);
    model.fit(data);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      const PastTask unseen = half_of(tasks[t], 1 - half);
      ranks[t] += rank_of(model.predict(unseen.rows), unseen.times_us) / 2;
    }
  }
  return ranks;
}

}  // namespace

ConsistentTasks consistent_tasks(std::vector<PastTask> tasks, std::uint64_t seed) {
  double all_rows = 0;
  for (const PastTask& task : tasks) all_rows += static_cast<double>(task.times_us.size());
  if (all_rows < kPooledRows) return {std::move(tasks), {}};
  ConsistentTasks result;
  const std::vector<double> ranks = held_out_ranks(tasks, seed);
  double pooled = 0;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    pooled += static_cast<double>(tasks[t].times_us.size()) * ranks[t] / all_rows;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const auto rows = static_cast<double>(tasks[t].times_us.size());
    const double rank = (rows * ranks[t] + kPooledRows * pooled) / (rows + kPooledRows);
    if (rank >= kLeastHeldOutRank)
      result.tasks.push_back(std::move(tasks[t]));
    else
      result.left_out.push_back(tasks[t].name);
  }
  return result;
}

}  // namespace lehr
