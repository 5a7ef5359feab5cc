// Scores configs and keeps their scores: see scored_candidates.h.
#include "search/scored_candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace lehr {
namespace {

constexpr double kWorst = -std::numeric_limits<double>::infinity();

}  // namespace

ScoredCandidates::ScoredCandidates(const Score& score, const Seen& seen, std::size_t keep, std::size_t budget)
    : score_(&score), seen_(&seen), keep_(keep), budget_(budget) {}

bool ScoredCandidates::better(const Kept& a, const Kept& b) {
  return a.score != b.score ? a.score > b.score : a.order < b.order;
}

std::vector<double> ScoredCandidates::score(std::span<const Point> points) {
  std::vector<const Scored*> found(points.size(), nullptr);
  std::vector<Point> fresh;
  std::vector<Scored*> fresh_nodes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (spent()) {
      if (const auto old = scores_.find(points[i]); old != scores_.end()) found[i] = &*old;
      continue;
    }
    const auto [node, inserted] = scores_.try_emplace(points[i], kWorst);
    found[i] = &*node;
    if (!inserted) continue;
    fresh.push_back(points[i]);
    fresh_nodes.push_back(&*node);
  }
  if (!fresh.empty()) {
    const std::vector<double> answers = (*score_)(fresh);
    CHECK(answers.size() == fresh.size(), "{} scores for {} configs", answers.size(), fresh.size());
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      fresh_nodes[i]->second = std::isnan(answers[i]) ? kWorst : answers[i];
      note(*fresh_nodes[i]);
    }
  }
  std::vector<double> result(points.size(), kWorst);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (found[i]) result[i] = found[i]->second;
  }
  return result;
}

void ScoredCandidates::note(const Scored& scored) {
  if (std::isfinite(scored.second)) {
    ++finite_;
    const double delta = scored.second - mean_;
    mean_ += delta / static_cast<double>(finite_);
    squares_ += delta * (scored.second - mean_);
  }
  const Kept entry{scored.second, noted_++, &scored.first};
  if (keep_ == 0 || (kept_.size() == keep_ && !better(entry, kept_.front()))) return;
  if (seen_->contains(scored.first)) return;
  if (kept_.size() == keep_) {
    std::pop_heap(kept_.begin(), kept_.end(), better);
    kept_.pop_back();
  }
  kept_.push_back(entry);
  std::push_heap(kept_.begin(), kept_.end(), better);
  ++changes_;
}

double ScoredCandidates::spread() const {
  if (finite_ < 2) return 1;
  const double deviation = std::sqrt(squares_ / static_cast<double>(finite_));
  // If the deviation is below the rounding error of the mean, all scores are equal.
  return deviation > 1e-12 * std::max(1e-300, std::abs(mean_)) ? deviation : 1;
}

std::vector<ScoredPoint> ScoredCandidates::best() const {
  std::vector<Kept> sorted = kept_;
  std::sort(sorted.begin(), sorted.end(), better);
  std::vector<ScoredPoint> result;
  result.reserve(sorted.size());
  for (const Kept& each : sorted) result.push_back({*each.point, each.score});
  return result;
}

}  // namespace lehr
