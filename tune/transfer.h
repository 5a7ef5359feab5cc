// Transfers knowledge from measured tasks to a new one: where to start, and how candidates rank.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "costmodel/xgboost_model.h"
#include "space/space.h"

namespace lehr {

/// One task of another device, template version or workload, with its timed configs.
struct PastTask {
  std::string name;   ///< a name for messages
  double weight = 1;  ///< how near the task is to the new task, above 0
  std::vector<Config> configs;
  FeatureMatrix rows;  ///< one row per config, with the new task's columns
  std::vector<double> times_us;
};

class Transfer {
 public:
  /// Fits one model over all tasks, with each task's speeds divided by its best. From one task it learns at
  /// most kMostRows rows: the fastest quarter and a random choice of the others, by seed. CHECKs that there
  /// is a task, and that no task is empty.
  Transfer(std::vector<PastTask> tasks, std::uint64_t seed);

  static constexpr std::size_t kMostRows = 1024;
  static constexpr std::size_t kWarmStarts = 8;  ///< maximum number of first picks of a search
  /// A config may be a first pick if it reaches at least this fraction of some task's best speed. Below it a
  /// model of the same tasks picks better configs (bench/results/own_tables/table.md).
  static constexpr double kLeastSpeed = 0.9;

  /// Returns scores: higher is better, in units of the standard deviation over the learnt rows.
  std::vector<double> predict(const FeatureMatrix& rows) const;
  /// Returns at most `count` distinct points of `space` whose speed reaches the fraction kLeastSpeed of some
  /// task's best. They are chosen one after the other, first so that each task has a pick near its best
  /// (nearer tasks count more), then by their mean speed over the tasks. Returns fewer or no points if the
  /// space holds few of the other tasks' good configs: the model picks better configs than those that were
  /// slow elsewhere.
  std::vector<Point> first_picks(const Space& space, std::size_t count) const;
  const std::vector<PastTask>& tasks() const { return tasks_; }
  std::size_t trials() const;  ///< number of trials of all tasks together

 private:
  std::vector<PastTask> tasks_;
  XgboostModel model_;
  double mean_ = 0, deviation_ = 1;
};

/// Returns "512 trials of 3 other tasks (nearest: gemm m=16 ...)".
std::string describe(const Transfer& transfer);

}  // namespace lehr
