// P(valid) as boosted trees with a logistic objective.
#include "costmodel/validity_model.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/rng.h"

namespace lehr {
namespace {

constexpr double kHeldOutShare = 0.2;
constexpr int kMostRounds = 100;

struct Part {
  FeatureMatrix rows;
  std::vector<float> labels;
};

/// Splits the rows so that both parts have both classes. A part with only one class could not decide when to
/// stop.
void split_by_class(const FeatureMatrix& rows, const std::vector<bool>& valid, std::uint64_t seed,
                    Part& train, Part& held_out) {
  Rng rng = Rng(seed).fork("validity split");
  for (const bool label : {false, true}) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < valid.size(); ++i) {
      if (valid[i] == label) members.push_back(i);
    }
    rng.shuffle(members);
    const auto held =
        static_cast<std::size_t>(std::ceil(kHeldOutShare * static_cast<double>(members.size())));
    for (std::size_t i = 0; i < members.size(); ++i) {
      Part& part = i < held ? held_out : train;
      part.rows.append(rows.row(members[i]));
      part.labels.push_back(label ? 1.0f : 0.0f);
    }
  }
}

double minus_log_loss(const std::vector<double>& chance, const std::vector<float>& labels) {
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double p = std::clamp(labels[i] > 0.5f ? chance[i] : 1 - chance[i], 1e-7, 1.0);
    sum += std::log(p);
  }
  return sum / static_cast<double>(labels.size());
}

}  // namespace

void ValidityModel::fit(const FeatureMatrix& rows, const std::vector<bool>& valid) {
  CHECK(rows.rows() == valid.size(), "{} rows with {} labels", rows.rows(), valid.size());
  trained_.reset();
  const auto good = static_cast<std::size_t>(std::ranges::count(valid, true));
  if (good < kFewestOfEach || valid.size() - good < kFewestOfEach) return;
  Part train{FeatureMatrix(rows.columns()), {}}, held_out{FeatureMatrix(rows.columns()), {}};
  split_by_class(rows, valid, seed_, train, held_out);
  const BoosterParameters parameters = {{"objective", "binary:logistic"},
                                        {"tree_method", "hist"},
                                        {"max_depth", "4"},
                                        {"eta", "0.3"},
                                        {"min_child_weight", "0.5"},
                                        {"seed", std::to_string(seed_ % 0x7fffffff)}};
  const auto score = [&](const std::vector<double>& chance) {
    return minus_log_loss(chance, held_out.labels);
  };
  const Boosted boosted = boost_until_held_out_stalls(TrainingMatrix(train.rows, train.labels), held_out.rows,
                                                      score, parameters, kMostRounds);
  const std::vector<float> labels(valid.begin(), valid.end());
  trained_.emplace(boost(TrainingMatrix(rows, labels), parameters, boosted.rounds));
}

std::vector<double> ValidityModel::predict(const FeatureMatrix& rows) const {
  if (!trained_) return std::vector<double>(rows.rows(), 1.0);
  return trained_->forest.predict(rows);
}

}  // namespace lehr
