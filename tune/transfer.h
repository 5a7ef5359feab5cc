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
  std::string name;   ///< for people
  double weight = 1;  ///< how near it is to the new task, above 0
  std::vector<Config> configs;
  FeatureMatrix rows;  ///< one per config, with the new task's columns
  std::vector<double> times_us;
};

class Transfer {
 public:
  /// Fits one model over all tasks, each normalised by its own best. It learns at most kMostRows of a task:
  /// the fastest quarter and a random choice of the others, by seed. CHECKs that there is a task, and that no
  /// task is empty.
  Transfer(std::vector<PastTask> tasks, std::uint64_t seed);

  static constexpr std::size_t kMostRows = 1024;
  static constexpr std::size_t kWarmStarts = 8;  ///< most first picks of a search
  /// Least share of a task's best speed that makes a config a start. Below it a model of the same tasks picks
  /// better ones (bench/results/own_tables/table.md).
  static constexpr double kLeastSpeed = 0.9;

  /// Returns scores: higher is better, in units of the standard deviation over the learnt rows.
  std::vector<double> predict(const FeatureMatrix& rows) const;
  /// Returns at most `count` distinct points of `space` that came within kLeastSpeed of a task's best. They
  /// are chosen one after the other so that each task has one near its best (nearer tasks count more), then
  /// by their mean over the tasks. Returns fewer or none if the space holds few of the other tasks' good
  /// configs: the model picks better ones than configs that were slow elsewhere.
  std::vector<Point> first_picks(const Space& space, std::size_t count) const;
  const std::vector<PastTask>& tasks() const { return tasks_; }
  std::size_t trials() const;  ///< of all tasks together

 private:
  std::vector<PastTask> tasks_;
  XgboostModel model_;
  double mean_ = 0, deviation_ = 1;
};

/// Returns "512 trials of 3 other tasks (nearest: gemm m=16 ...)".
std::string describe(const Transfer& transfer);

}  // namespace lehr
