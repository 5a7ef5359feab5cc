// Models and strategy in turn: see searcher.h.
#include "tune/searcher.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace lehr {
namespace {

// As many as a cold start measures before its model is fitted, or nearly so.
constexpr std::size_t kBlindAfterHints = 8;

}  // namespace

Searcher::Searcher(Tuner tuner, std::uint64_t seed, int threads)
    : tuner_(std::move(tuner)),
      scorer_(tuner_.columns, tuner_.row_of, threads),
      learner_(tuner_.columns, tuner_.model.get(), tuner_.validity.get(), tuner_.learner),
      rng_(Rng(seed).fork("search")),
      batch_(tuner_.batches.first) {}

void Searcher::observe(std::span<const Measurement> results, double best_us) {
  std::vector<Observed> observed;
  for (const Measurement& result : results) {
    const FeatureMatrix row = scorer_.features({&result.point, 1});
    std::optional<double> fitness;
    if (result.time_us) {
      learner_.add(row.row(0), *result.time_us);
      fitness = std::min(1.0, best_us / *result.time_us);
    } else {
      learner_.add_failure(row.row(0));
    }
    observed.push_back({result.point, fitness});
    seen_.insert(result.point);
    if (tuner_.diversity) tuner_.diversity->note(result.point);
  }
  if (!observed.empty()) tuner_.strategy->observe(observed);
}

void Searcher::start_from(const Transfer& transfer, bool with_prior) {
  learner_.start_from(transfer);
  hints_with_prior_ = with_prior;
}

Predict Searcher::predictor() const {
  // A factor of e in the prior's estimate counts as much as a standard deviation of the hints.
  if (hints_with_prior_ && tuner_.prior && !learner_.fitted())
    return [this](const FeatureMatrix& rows) {
      std::vector<double> scores = learner_.predict(rows);
      const std::vector<double> expected = tuner_.prior->predict(rows);
      for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += expected[i];
      return scores;
    };
  if (learner_.ready()) return [this](const FeatureMatrix& rows) { return learner_.predict(rows); };
  if (tuner_.prior) return [this](const FeatureMatrix& rows) { return tuner_.prior->predict(rows); };
  return {};
}

Choose Searcher::chooser() {
  return [this](std::span<const ScoredPoint> candidates, std::size_t n) {
    std::vector<Point> points;
    std::vector<double> scores;
    for (const ScoredPoint& each : candidates) {
      points.push_back(each.point);
      scores.push_back(each.score);
    }
    return learner_.choose(scorer_.features(points), scores, n);
  };
}

std::vector<Proposal> Searcher::propose(std::size_t count) {
  best_proposed_.reset();
  if (made_up_ || !learner_.transfer_dropped()) return propose_by(predictor(), count, seen_);
  made_up_ = true;
  const std::size_t blind = std::min(count, kBlindAfterHints);
  std::vector<Proposal> proposals = propose_by(predictor(), count - blind, seen_);
  Seen taken = seen_;
  for (const Proposal& each : proposals) taken.insert(each.point);
  for (const Proposal& each : propose_by({}, blind, taken)) proposals.push_back(each);
  return proposals;
}

void Searcher::tell_how_to_choose(bool scores) {
  if (scores && learner_.chooses()) return tuner_.strategy->choose_by(chooser());
  if (!scores || learner_.ready() || !tuner_.diversity) return tuner_.strategy->choose_by({});
  // Among all that were scored: the best of them may be of one kind.
  tuner_.strategy->choose_by([this](std::span<const ScoredPoint> candidates,
                                    std::size_t n) { return tuner_.diversity->choose(candidates, n); },
                             std::numeric_limits<std::size_t>::max());
}

std::vector<Proposal> Searcher::propose_by(const Predict& predict, std::size_t count, const Seen& seen) {
  Score score;
  if (predict) score = [&](std::span<const Point> points) { return scorer_.score(points, predict); };
  tell_how_to_choose(static_cast<bool>(predict));
  const std::vector<Point> points = tuner_.strategy->propose(count, seen, score, rng_);
  std::vector<Proposal> proposals;
  for (const Point& point : points) proposals.push_back({.point = point});
  if (!predict || proposals.empty()) return proposals;
  const std::vector<double> scores = score(points);
  for (std::size_t i = 0; i < proposals.size(); ++i) proposals[i].predicted = scores[i];
  if (learner_.fitted()) best_proposed_ = std::ranges::max(scores);
  return proposals;
}

std::size_t Searcher::next_batch() {
  const std::size_t now = batch_;
  batch_ = std::min(tuner_.batches.largest, batch_ + tuner_.batches.step);
  return now;
}

bool Searcher::expects_gain_over(const Point& best) {
  if (!best_proposed_) return true;
  return *best_proposed_ > scorer_.score({&best, 1}, predictor())[0];
}

}  // namespace lehr
