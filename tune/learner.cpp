// The refit policy.
#include "tune/learner.h"

#include <algorithm>

namespace lehr {

void Learner::add(std::span<const float> row, double time_us) {
  rows_.append(row);
  times_us_.push_back(time_us);
}

void Learner::add_evidence(std::span<const float> row, double time_us) {
  evidence_.append(row);
  evidence_us_.push_back(time_us);
}

bool Learner::refit_if_due() {
  if (!model_) return false;
  const bool use_evidence = !evidence_us_.empty() && times_us_.size() < kTrustOwn;
  const std::size_t first = use_evidence ? 4 : kFirstFit;
  const std::size_t due = fitted_ ? std::max(kFirstFit, rows_at_fit_ / 8) : first;
  if (times_us_.size() < rows_at_fit_ + due) return false;
  Dataset data;
  if (use_evidence) append_group(data, evidence_, evidence_us_);
  append_group(data, rows_, times_us_);
  model_->fit(data);
  rows_at_fit_ = times_us_.size();
  fitted_ = true;
  ++fits_;
  return true;
}

}  // namespace lehr
