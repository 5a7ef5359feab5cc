// Fits, pools and expected improvements: see knob_gaussian.h.
#include "tune/knob_gaussian.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_set>

#include "base/error.h"

namespace lehr {
namespace {

constexpr std::size_t kParents = 8;   // number of best measured configs whose neighbours are candidates
constexpr std::size_t kDraws = 1000;  // number of random candidates
constexpr std::size_t kMostPool = 4096;
// For each pick: the number of best candidates whose neighbours are tried, and how many times this is
// repeated.
constexpr std::size_t kClimbers = 4;
constexpr int kClimbs = 3;
// Number of best candidates for which the chance to be valid is computed.
constexpr std::size_t kAsked = 32;
// Penalty that orders known candidates after all candidates that are not known.
constexpr double kLast = 1e6;

// Returns ln of the expected improvement on 0 of a normal variable with standard deviation 1 and mean z.
double log_improvement(double z) {
  const double root = std::sqrt(2 * std::numbers::pi);
  if (z < -5) return -z * z / 2 - std::log(root) - 2 * std::log(-z);  // the first term of its expansion
  return std::log(std::exp(-z * z / 2) / root + z * 0.5 * std::erfc(-z / std::numbers::sqrt2));
}

std::vector<float> row_of(const Point& point, const FamilySpace& family) {
  std::vector<float> row;
  for (std::size_t i = 0; i < family.knobs().size(); ++i) {
    const std::size_t steps = std::max<std::size_t>(2, family.knobs()[i].values.size()) - 1;
    row.push_back(static_cast<float>(point.knobs[i]) / static_cast<float>(steps));
  }
  return row;
}

}  // namespace

KnobGaussian::KnobGaussian(const Space& space) : space_(&space) {
  for (const FamilySpace& family : space.families()) gaussians_.emplace_back(family.knobs().size());
}

void KnobGaussian::assume(const Point& point) {
  assumed_.push_back(point);
  if (!current_) return;
  beliefs_[point.family].assume_measured(pool_[position_of(point)].number);
}

void KnobGaussian::observe(const Point& point, std::optional<double> time_us) {
  if (time_us) known_.push_back({point, std::log(*time_us)});
  current_ = current_ && !assumed_.empty() && assumed_.front() == point && pool_.size() < kMostPool;
  std::erase(assumed_, point);
  if (!current_) return;
  Beliefs& beliefs = beliefs_[point.family];
  const std::size_t number = pool_[position_of(point)].number;
  const double speed = time_us ? (mean_ - known_.back().log_us) / scale_ : beliefs.mean(number);
  beliefs.tell(speed);
  if (speed <= best_ || !time_us) return;
  best_ = speed;
  for (const Point& each : space_->neighbours(point)) position_of(each);
}

std::size_t KnobGaussian::position_of(const Point& point) {
  const auto [found, fresh] = places_.try_emplace(point, pool_.size());
  if (fresh)
    pool_.push_back({point, beliefs_[point.family].add(row_of(point, space_->families()[point.family]))});
  return found->second;
}

std::vector<double> KnobGaussian::speeds() {
  const auto count = static_cast<double>(known_.size());
  double squares = 0;
  mean_ = 0;
  for (const Known& each : known_) mean_ += each.log_us / count;
  for (const Known& each : known_) squares += (each.log_us - mean_) * (each.log_us - mean_) / count;
  scale_ = squares > 1e-18 ? std::sqrt(squares) : 1;
  std::vector<double> speeds;
  for (const Known& each : known_) speeds.push_back((mean_ - each.log_us) / scale_);
  return speeds;
}

void KnobGaussian::renew(bool choose, std::span<const ScoredPoint> others, const Seen& seen, Rng& rng) {
  CHECK(!known_.empty());
  const std::vector<double> values = speeds();
  best_ = std::ranges::max(values);
  beliefs_.clear();
  pool_.clear();
  places_.clear();
  for (std::size_t f = 0; f < gaussians_.size(); ++f) {
    FeatureMatrix rows(gaussians_[f].columns());
    std::vector<double> mine;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i].point.family != f) continue;
      rows.append(row_of(known_[i].point, space_->families()[f]));
      mine.push_back(values[i]);
    }
    gaussians_[f].fit(rows, mine, choose);
    beliefs_.emplace_back(gaussians_[f]);
  }
  current_ = true;
  std::vector<Known> parents = known_;
  std::ranges::stable_sort(parents, {}, &Known::log_us);
  parents.resize(std::min(parents.size(), kParents));
  const auto take = [&](const Point& point) {
    if (!seen.contains(point)) position_of(point);
  };
  for (const Known& parent : parents) std::ranges::for_each(space_->neighbours(parent.point), take);
  for (const ScoredPoint& each : others) take(each.point);
  for (std::size_t i = 0; i < kDraws; ++i)
    if (const auto point = space_->try_sample(rng)) take(*point);
  for (const Point& point : assumed_)
    beliefs_[point.family].assume_measured(pool_[position_of(point)].number);
}

double KnobGaussian::log_gain(const Candidate& candidate) const {
  const Beliefs& beliefs = beliefs_[candidate.point.family];
  const double deviation = std::max(1e-9, beliefs.deviation(candidate.number));
  const double gain =
      std::log(deviation) + log_improvement((beliefs.mean(candidate.number) - best_) / deviation);
  return beliefs.known(candidate.number) ? gain - kLast : gain;
}

KnobGaussian::Belief KnobGaussian::belief(const Point& point) {
  CHECK(current_);
  const Candidate& candidate = pool_[position_of(point)];
  const Beliefs& beliefs = beliefs_[point.family];
  return {beliefs.mean(candidate.number), beliefs.deviation(candidate.number),
          beliefs.known(candidate.number)};
}

std::optional<Point> KnobGaussian::most_promising(const Seen& seen, const Score& log_chance) {
  CHECK(current_);
  std::vector<std::pair<double, std::size_t>> gains;  // gains with the candidates' positions
  std::unordered_set<std::size_t> climbed;
  for (std::size_t climb = 0, first = 0; climb <= kClimbs; ++climb) {
    for (; first < pool_.size(); ++first)
      if (!seen.contains(pool_[first].point)) gains.emplace_back(log_gain(pool_[first]), first);
    std::ranges::sort(gains, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    if (climb == kClimbs) break;
    for (std::size_t i = 0; i < std::min(kClimbers, gains.size()); ++i) {
      const Point from = pool_[gains[i].second].point;
      if (climbed.insert(gains[i].second).second)
        for (const Point& each : space_->neighbours(from)) position_of(each);
    }
  }
  if (gains.empty()) return std::nullopt;
  gains.resize(std::min(gains.size(), kAsked));
  std::vector<Point> asked;
  for (const auto& [gain, place] : gains) asked.push_back(pool_[place].point);
  std::vector<double> wanted = log_chance ? log_chance(asked) : std::vector<double>(asked.size(), 0);
  for (std::size_t i = 0; i < asked.size(); ++i) wanted[i] += gains[i].first;
  return asked[static_cast<std::size_t>(std::ranges::max_element(wanted) - wanted.begin())];
}

}  // namespace lehr
