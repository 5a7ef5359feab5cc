// What is known of configs by their knobs alone, and where a gain is to be expected: Gaussian processes, one
// a family.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "costmodel/gaussian_process.h"
#include "search/strategy.h"

namespace lehr {

/// Processes over the positions of the knobs' values, of the logarithm of the speed in units of its deviation
/// over all that was timed: mean and scale are common to the families. Between two renew() it keeps a pool of
/// candidates, whose beliefs follow each result.
class KnobProcess {
 public:
  struct Belief {
    double mean, deviation;
    bool known;  ///< Beliefs::known()
  };

  /// Borrows `space`.
  explicit KnobProcess(const Space& space);

  /// What came out; nullopt: it failed. Of what was assumed it is best told in the same order.
  void observe(const Point& point, std::optional<double> time_us);
  /// From now on `point` counts as measured; what comes out is not known yet.
  void assume(const Point& point);
  std::size_t timed() const { return known_.size(); }

  /// Fits the processes to all that was told, and draws a new pool: neighbours of the best, `others`, and
  /// random configs, none of them in `seen`. `choose`: their lengths and noises, too. CHECKs timed() > 0.
  void renew(bool choose, std::span<const ScoredPoint> others, const Seen& seen, Rng& rng);
  /// Whether it can answer without renew(): what came out came in the order of assume(), and the pool has not
  /// grown too large.
  bool current() const { return current_; }

  /// The config of the greatest expected improvement on the best time (Jones, Schonlau and Welch, "Efficient
  /// Global Optimization of Expensive Black-Box Functions", 1998) times its chance to be valid, of those that
  /// are not known already, if there are any; nullopt where the pool and what is near its best hold none that
  /// is not in `seen`. `log_chance`: ln P(valid); empty:
  /// all are valid. CHECKs current().
  std::optional<Point> most_promising(const Seen& seen, const Score& log_chance);
  /// Adds it to the pool where it is not there. CHECKs current().
  Belief belief(const Point& point);

 private:
  struct Candidate {
    Point point;
    std::size_t number;  // in its family's beliefs
  };
  struct Known {
    Point point;
    double log_us;
  };
  std::size_t place_of(const Point& point);
  /// Standardised; sets the scale.
  std::vector<double> speeds();
  double log_gain(const Candidate& candidate) const;

  const Space* space_;
  std::vector<GaussianProcess> processes_;  // by family
  std::vector<Beliefs> beliefs_;
  std::vector<Known> known_;
  std::vector<Point> assumed_;  // in the order of assume()
  std::vector<Candidate> pool_;
  std::unordered_map<Point, std::size_t, PointHash> places_;  // in pool_
  double mean_ = 0, scale_ = 1;                               // of log_us
  double best_ = 0;                                           // standardised speed
  bool current_ = false;
};

}  // namespace lehr
