// AutoTVM's fit: see autotvm_model.h.
#include "costmodel/autotvm_model.h"

#include "costmodel/booster.h"
#include "costmodel/metrics.h"

namespace lehr {
namespace {

constexpr int kMostRounds = 8000;
constexpr int kPatience = 20;
constexpr int kLookEvery = 2;
constexpr std::size_t kRecallOf = 64;  // the plan's size

}  // namespace

void AutotvmModel::fit(const Dataset& data) {
  forest_.reset();
  if (data.size() == 0) return;
  const BoosterParameters parameters = {{"objective", "reg:squarederror"},
                                        {"max_depth", "3"},
                                        {"gamma", "0.0001"},
                                        {"min_child_weight", "1"},
                                        {"subsample", "1"},
                                        {"eta", "0.3"},
                                        {"lambda", "1"},
                                        {"alpha", "0"}};
  const TrainingMatrix matrix(data.rows, data.targets);
  const std::vector<double> truth(data.targets.begin(), data.targets.end());
  Booster booster(matrix, parameters);
  double best = -1;
  int best_round = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    booster.update(round, matrix);
    if (round % kLookEvery != 0) continue;
    const double recall = average_recall(booster.predict(data.rows), truth, kRecallOf);
    if (recall > best) {
      best = recall;
      best_round = round;
    } else if (round - best_round >= kPatience) {
      break;
    }
  }
  forest_.emplace(booster.to_bytes());
}

std::vector<double> AutotvmModel::predict(const FeatureMatrix& rows) const {
  if (!forest_) return std::vector<double>(rows.rows(), 0.0);
  return forest_->predict(rows);
}

}  // namespace lehr
