// A Gaussian process over a few rows. It gives the expected value of a candidate, and its uncertainty.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "costmodel/features.h"

namespace lehr {

/// A Gaussian process with a Matern 5/2 covariance and one length scale per column (Rasmussen and Williams,
/// "Gaussian Processes for Machine Learning", 2006, Eq. 4.17, 5.8, 5.9 and Algorithm 2.1). A column without
/// effect gets a large length scale. The prior mean is 0, so values should have a mean of about 0 and a
/// deviation of about 1. Deterministic.
class GaussianProcess {
 public:
  /// Maximum number of rows from which it learns: half of these are the best rows, the others are spread
  /// evenly over the remaining rows.
  static constexpr std::size_t kMostRows = 256;

  /// Accepts rows with `columns` values between 0 and 1.
  explicit GaussianProcess(std::size_t columns);

  /// Forgets what was learnt before, and learns these rows. `values[i]` is the value of row i; higher is
  /// better. If `choose`, length scales and noise are fitted by likelihood, starting from those of the last
  /// fit; otherwise they stay unchanged.
  void fit(const FeatureMatrix& rows, std::span<const double> values, bool choose);
  /// Returns the number of rows from which the last fit learnt. If it is 0, every row has mean 0 and
  /// deviation 1.
  std::size_t rows() const { return weights_.size(); }
  std::size_t columns() const { return logs_.size() - 1; }

 private:
  friend class Beliefs;
  struct Fit {
    std::vector<float> scaled;            // the rows divided by the length scales
    std::vector<double> squared, factor;  // distances, and the Cholesky factor; lower halves, row-major
    // (covariance + noise)^-1 values; empty if the matrix is not positive definite.
    std::vector<double> weights;
    double likelihood = 0, variance = 1;
  };
  /// Fits the learnt rows, with the logarithms `logs` of the length scales and the noise.
  Fit fit_with(const std::vector<double>& logs) const;
  /// Returns the gradient of the likelihood with respect to the logarithms.
  std::vector<double> gradient_of(const Fit& fit, const std::vector<double>& logs) const;
  void climb();

  std::vector<double> logs_;  // logarithms of the length scales, then of the noise's fraction of the variance
  std::vector<float> rows_;   // the learnt rows, row-major
  std::vector<double> values_;
  std::vector<float> points_;    // rows_ divided by the length scales
  std::vector<double> factor_;   // lower Cholesky factor of covariance + noise, row-major
  std::vector<double> weights_;  // (covariance + noise)^-1 values
  double variance_ = 1;
};

/// The beliefs of a Gaussian process about several rows together, also under the assumption that some of them
/// have been measured.
class Beliefs {
 public:
  /// Borrows the Gaussian process.
  explicit Beliefs(const GaussianProcess& gaussian) : gaussian_(&gaussian) {}

  /// Adds a row. Returns its number.
  std::size_t add(std::span<const float> row);
  std::size_t size() const { return means_.size(); }
  double mean(std::size_t row) const { return means_[row]; }
  double deviation(std::size_t row) const;
  /// Returns whether measuring the row would give less information than repeating a known measurement, which
  /// only reduces its noise.
  bool known(std::size_t row) const;
  /// From now on, deviations are those that will hold when row `row` has been measured, too. They do not
  /// depend on the measured value.
  void assume_measured(std::size_t row);
  /// Sets the measured value of the first assumed row that has none yet.
  void tell(double value);

 private:
  double covariance(std::size_t a, std::size_t b) const;

  struct Assumed {
    std::size_t row;
    double deviation;           // deviation of its measurement, before it was assumed
    double reported = 0;        // difference of the measured value from the mean, in units of `deviation`
    std::vector<double> shift;  // covariance of each row with this row at that time, divided by `deviation`
  };
  const GaussianProcess* gaussian_;
  std::vector<float> points_;   // rows divided by the length scales
  std::vector<double> solved_;  // factor^-1 times the covariances, one row of the matrix each
  std::vector<double> means_, variances_;
  std::vector<Assumed> assumed_;
  std::size_t reported_ = 0;  // number of rows in assumed_ whose measured values are known
};

}  // namespace lehr
