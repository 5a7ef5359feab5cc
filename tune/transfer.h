// What tasks that were measured before tell about a new one: where to start, and how candidates rank.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "costmodel/xgboost_model.h"
#include "space/space.h"

namespace lehr {

/// One task of another device, template version or workload: its timed configs.
struct PastTask {
  std::string name;   ///< for people
  double weight = 1;  ///< how near it is to the new task, above 0
  std::vector<Config> configs;
  FeatureMatrix rows;  ///< of the new task's columns, one per config
  std::vector<double> times_us;
};

class Transfer {
 public:
  /// Fits one model over all tasks, each normalised by its own best. Of a task at most kMostRows are learnt
  /// from: the fastest quarter of them and a random choice of the others, by seed. CHECKs: at least one task,
  /// none empty.
  Transfer(std::vector<PastTask> tasks, std::uint64_t seed);

  static constexpr std::size_t kMostRows = 1024;
  static constexpr std::size_t kWarmStarts = 8;  ///< first picks of a search, at most
  /// What was slower than this share of a task's best speed is no start: a model of the same tasks picks
  /// better ones (bench/results/own_tables/table.md).
  static constexpr double kLeastSpeed = 0.9;

  /// Higher is better, in units of the standard deviation over the learnt rows.
  std::vector<double> predict(const FeatureMatrix& rows) const;
  /// At most `count` distinct points of `space` that came within kLeastSpeed of a task's best: chosen one
  /// after the other so that for every task one of them is near its best (nearer tasks count more), then by
  /// their mean over the tasks. Fewer or none where the space holds few of the other tasks' good configs: the
  /// model picks better ones than what was slow elsewhere.
  std::vector<Point> first_picks(const Space& space, std::size_t count) const;
  const std::vector<PastTask>& tasks() const { return tasks_; }
  std::size_t trials() const;  ///< of the tasks, together

 private:
  std::vector<PastTask> tasks_;
  XgboostModel model_;
  double mean_ = 0, deviation_ = 1;
};

/// "512 trials of 3 other tasks (nearest: gemm m=16 ...)".
std::string describe(const Transfer& transfer);

}  // namespace lehr
