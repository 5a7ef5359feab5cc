// Predicts configs' speeds from their knobs alone, and where a gain is to be expected: one Gaussian process
// per family.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "costmodel/gaussian_process.h"
#include "search/strategy.h"

namespace lehr {

/// Gaussian processes over the positions of the knobs' values. They model the logarithm of the speed in units
/// of its standard deviation over all timed configs; the families share mean and scale. Between two calls of
/// renew() it keeps a pool of candidates. Each new result updates the candidates' beliefs.
class KnobGaussian {
 public:
  struct Belief {
    double mean, deviation;
    bool known;  ///< as Beliefs::known()
  };

  /// Borrows `space`.
  explicit KnobGaussian(const Space& space);

  /// Adds a result; nullopt: the config failed. Results of assumed points should be added in the order of
  /// assume().
  void observe(const Point& point, std::optional<double> time_us);
  /// Treats `point` as measured from now on, though its result is not known yet.
  void assume(const Point& point);
  std::size_t timed() const { return known_.size(); }

  /// Fits the Gaussian processes to all results and draws a new pool: neighbours of the best config,
  /// `others`, and random configs, none of them in `seen`. `choose`: also fits the length scales and noises.
  /// CHECKs timed() > 0.
  void renew(bool choose, std::span<const ScoredPoint> others, const Seen& seen, Rng& rng);
  /// Whether it can answer without renew(): the results came in the order of assume(), and the pool is not
  /// too large.
  bool current() const { return current_; }

  /// Returns the config for which the expected improvement on the best time (Jones, Schonlau and Welch,
  /// "Efficient Global Optimization of Expensive Black-Box Functions", 1998) times the probability to be
  /// valid is greatest. Configs that are not known yet are preferred. Returns nullopt if all configs in the
  /// pool and in the neighbourhood of its best config are in `seen`. `log_chance` is ln P(valid); if empty,
  /// all configs count as valid. CHECKs current().
  std::optional<Point> most_promising(const Seen& seen, const Score& log_chance);
  /// Returns the belief about a point, and adds the point to the pool if it is missing. CHECKs current().
  Belief belief(const Point& point);

 private:
  struct Candidate {
    Point point;
    std::size_t number;  // position in its family's beliefs
  };
  struct Known {
    Point point;
    double log_us;
  };
  std::size_t position_of(const Point& point);
  /// Returns the standardised speeds, and sets the scale.
  std::vector<double> speeds();
  double log_gain(const Candidate& candidate) const;

  const Space* space_;
  std::vector<GaussianProcess> gaussians_;  // one for each family
  std::vector<Beliefs> beliefs_;
  std::vector<Known> known_;
  std::vector<Point> assumed_;  // in the order of assume()
  std::vector<Candidate> pool_;
  std::unordered_map<Point, std::size_t, PointHash> places_;  // position of each candidate in pool_
  double mean_ = 0, scale_ = 1;                               // mean and standard deviation of `log_us`
  double best_ = 0;                                           // standardised speed
  bool current_ = false;
};

}  // namespace lehr
