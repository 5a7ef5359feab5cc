// A Gaussian process beside the trees: what it expects of a candidate, and how little it knows of it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "costmodel/features.h"

namespace lehr {

/// A process over feature rows with a Matern 5/2 covariance (Rasmussen and Williams, "Gaussian Processes for
/// Machine Learning", 2006, Eq. 4.17, 5.8 and Algorithm 2.1). Each column is divided by its deviation over
/// the learnt rows, columns that do not vary there are left out, and the squared distance is divided by the
/// number of columns. Length and noise are those of a small grid that make the targets likeliest. The targets
/// are ranks, so no scale of the times matters. Deterministic.
class GaussianProcess {
 public:
  /// Learns from at most so many rows: the fastest half of them, the others spread evenly over what is left.
  static constexpr std::size_t kMostRows = 256;

  /// `times_us[i]` > 0 belongs to row i. `prior`: what somebody else expects of each row, higher is faster,
  /// of deviation about 1; empty: nobody does. The targets are then a share of it, at least 0 and believed to
  /// be 0 before the rows say otherwise, and a process of what that leaves over (Rasmussen and
  /// Williams, 2.7). Replaces what was learnt before.
  void fit(const FeatureMatrix& rows, std::span<const double> times_us, std::span<const double> prior = {});
  /// False until fit() saw two rows that differ.
  bool learnt() const { return !weights_.empty(); }
  /// Whether the last fit had a prior.
  bool has_prior() const { return has_prior_; }
  /// Rows that the last fit learnt from.
  std::size_t rows() const { return weights_.size(); }

 private:
  friend class Beliefs;
  void covariances(const float* scaled, std::span<double> out) const;
  /// The columns that vary over the rows `order`, their scales, and those rows scaled.
  void take_columns(const FeatureMatrix& rows, std::span<const std::size_t> order);
  void scale(std::span<const float> row, float* out) const;

  std::vector<std::size_t> columns_;  // those that vary
  std::vector<float> inverse_;        // of each, 1 / (deviation * sqrt(columns))
  std::vector<float> points_;         // learnt rows, scaled, row-major
  std::vector<double> factor_;        // lower Cholesky factor of covariance + noise, row-major
  std::vector<double> weights_;       // (covariance + noise)^-1 targets
  double length_ = 1, noise_ = 1, variance_ = 1;
  double prior_share_ = 0;
  bool has_prior_ = false;
};

/// What a process believes of some rows together: asking one of them changes what is known of those near it.
/// Higher is faster; targets had deviation 1.
class Beliefs {
 public:
  /// Borrows the process, which must be learnt(). `prior`: of these rows, if the process has one.
  Beliefs(const GaussianProcess& process, const FeatureMatrix& rows, std::span<const double> prior = {});

  double mean(std::size_t row) const { return means_[row]; }
  double deviation(std::size_t row) const;
  /// From now on deviations are those after row `row` was measured as well, whatever came out.
  void assume_measured(std::size_t row);

 private:
  std::span<const double> solved(std::size_t row) const;

  const GaussianProcess* process_;
  std::size_t known_;           // rows of the process
  std::vector<float> points_;   // scaled
  std::vector<double> solved_;  // factor^-1 covariances, one row each
  std::vector<double> means_, variances_;
  std::vector<std::vector<double>> shifts_;  // one per row assumed: its normalised posterior covariances
};

}  // namespace lehr
