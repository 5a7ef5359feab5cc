// Lets two proposers take turns: see searcher.h.
#include "tune/searcher.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace lehr {
namespace {

// Number of configs with the best scores that are candidates for the picks of the trees and of the Gaussian
// process.
constexpr std::size_t kShortList = 256;
// Weight of uncertainty in the trees' pick. The pick maximizes the sum of its score, the Gaussian process's
// expectation, and this weight times the process's standard deviation (upper confidence bound; Srinivas et
// al., "Gaussian Process Optimization in the Bandit Setting", 2010).
constexpr double kCuriosity = 2;

}  // namespace

Searcher::Searcher(Tuner tuner, std::uint64_t seed, int threads)
    : tuner_(std::move(tuner)),
      scorer_(tuner_.columns, tuner_.row_of, threads),
      learner_(tuner_.columns, tuner_.model.get(), tuner_.validity.get(), tuner_.learner),
      rng_(Rng(seed).fork("search")) {
  if (tuner_.anneal) gaussian_.emplace(tuner_.anneal->space());
}

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
    if (gaussian_) gaussian_->observe(result.point, result.time_us);
    if (const auto turn = pending_.extract(result.point))
      turns_.result(turn.mapped(), result.time_us);
    else if (result.time_us)
      turns_.other_result(*result.time_us);
    if (tuner_.diversity) tuner_.diversity->note(result.point);
  }
  if (!observed.empty()) tuner_.strategy->observe(observed);
}

void Searcher::start_from(const Transfer& transfer, bool with_prior, std::vector<Point> first) {
  learner_.start_from(transfer);
  hints_with_prior_ = with_prior;
  first_.assign(first.rbegin(), first.rend());
}

bool Searcher::refit_if_due() {
  if (!learner_.due()) return false;
  learner_.fit();
  by_trees_.reset();
  if (!gaussian_) return true;
  renew_gaussian(true);
  const std::vector<Point> measured(seen_.begin(), seen_.end());
  const std::vector<double> scores = scorer_.score(measured, tree_scores());
  measured_scores_ = {scores.begin(), scores.end()};
  return true;
}

void Searcher::renew_gaussian(bool choose) {
  gaussian_->renew(choose, listed(by_trees_, tree_scores(), kShortList), seen_, rng_);
}

Predict Searcher::tree_scores() const {
  // A factor of e in the prior's estimate counts as much as a standard deviation of the hints.
  if (hints_with_prior_ && tuner_.prior && !learner_.fitted())
    return [this](const FeatureMatrix& rows) {
      std::vector<double> scores = learner_.predict(rows);
      const std::vector<double> expected = tuner_.prior->predict(rows);
      for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += expected[i];
      return scores;
    };
  return [this](const FeatureMatrix& rows) { return learner_.predict(rows); };
}

std::optional<Proposal> Searcher::next() {
  std::optional<Proposal> pick;
  if (!tuner_.anneal) {
    pick = by_strategy(learner_.ready() ? tree_scores() : Predict());
  } else {
    const Turn turn = turns_.next();
    pick = turn == Turn::kGaussian ? by_gaussian() : by_trees();
    if (!pick) pick = by_strategy({});  // configs that are left in the space
    if (pick && pick->picked_by.empty()) pick->picked_by = "blind";
    if (pick && learner_.fitted()) pending_[pick->point] = turn;
  }
  if (!pick) return pick;
  seen_.insert(pick->point);
  if (gaussian_) gaussian_->assume(pick->point);
  return pick;
}

std::optional<Proposal> Searcher::by_trees() {
  for (; !first_.empty(); first_.pop_back())
    if (!seen_.contains(first_.back())) return Proposal{.point = first_.back(), .picked_by = "transfer"};
  if (!learner_.ready()) return blindly();
  const std::vector<ScoredPoint>& list = listed(by_trees_, tree_scores(), kShortList);
  if (!learner_.fitted()) return best_of(list, "transfer");
  if (!gaussian_->current()) renew_gaussian(false);
  const ScoredPoint* best = nullptr;
  double most = 0;
  for (const ScoredPoint& each : list) {
    if (seen_.contains(each.point)) continue;
    const auto [expected, deviation, known] = gaussian_->belief(each.point);
    // Both proposers treat a config with a measured score as measured.
    if (known && measured_scores_.contains(each.score)) continue;
    const double wanted = each.score + expected + kCuriosity * deviation;
    if (best && wanted <= most) continue;
    best = &each;
    most = wanted;
  }
  if (!best) return std::nullopt;
  return Proposal{.point = best->point, .picked_by = "trees", .predicted = best->score};
}

std::optional<Proposal> Searcher::by_gaussian() {
  // The prior's favourites may all have the same tile.
  if (!learner_.fitted()) return tuner_.diversity ? blindly() : by_strategy({});
  if (!gaussian_->current()) renew_gaussian(false);
  const Score log_chance = [this](std::span<const Point> points) {
    return learner_.log_chances(scorer_.features(points));
  };
  const std::optional<Point> point = gaussian_->most_promising(seen_, log_chance);
  if (!point) return std::nullopt;
  return Proposal{
      .point = *point, .picked_by = "process", .predicted = scorer_.score({&*point, 1}, tree_scores())[0]};
}

/// Proposes as at the beginning of a search that knows nothing of this task: by the prior, or far from all
/// measured configs.
std::optional<Proposal> Searcher::blindly() {
  if (!tuner_.prior) return by_strategy({});
  // To choose different tiles, all scored configs are needed.
  const std::size_t count = tuner_.diversity ? std::numeric_limits<std::size_t>::max() : kShortList;
  const Predict scores = [this](const FeatureMatrix& rows) { return tuner_.prior->predict(rows); };
  return best_of(listed(by_prior_, scores, count), "blind");
}

std::optional<Proposal> Searcher::best_of(const std::vector<ScoredPoint>& list, const char* picked_by) {
  std::vector<ScoredPoint> left;
  std::ranges::copy_if(list, std::back_inserter(left),
                       [&](const ScoredPoint& each) { return !seen_.contains(each.point); });
  if (left.empty()) return std::nullopt;
  const bool diverse = tuner_.diversity && !learner_.ready();
  const std::vector<std::size_t> picks =
      diverse ? tuner_.diversity->choose(left, 1) : std::vector<std::size_t>{0};
  if (picks.empty()) return std::nullopt;
  return Proposal{.point = left[picks[0]].point, .picked_by = picked_by, .predicted = left[picks[0]].score};
}

const std::vector<ScoredPoint>& Searcher::listed(List& list, const Predict& predict, std::size_t count) {
  if (!list)
    list = tuner_.anneal->short_list(
        count, seen_, [&](std::span<const Point> points) { return scorer_.score(points, predict); }, rng_);
  return *list;
}

std::optional<Proposal> Searcher::by_strategy(const Predict& predict) {
  Score score;
  if (predict) score = [&](std::span<const Point> points) { return scorer_.score(points, predict); };
  const std::vector<Point> points = tuner_.strategy->propose(1, seen_, score, rng_);
  if (points.empty()) return std::nullopt;
  Proposal pick{.point = points[0]};
  if (score) pick.predicted = score(points)[0];
  return pick;
}

bool Searcher::expects_gain_over(const Point& best) {
  if (!tuner_.anneal || !learner_.fitted()) return true;
  const std::vector<ScoredPoint>& list = listed(by_trees_, tree_scores(), kShortList);
  const auto next =
      std::ranges::find_if(list, [&](const ScoredPoint& each) { return !seen_.contains(each.point); });
  return next != list.end() && next->score > scorer_.score({&best, 1}, tree_scores())[0];
}

}  // namespace lehr
