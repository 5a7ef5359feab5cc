// A Gaussian process over few rows: its expectation for a candidate, and the uncertainty of that.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "costmodel/features.h"

namespace lehr {

/// A Gaussian process over rows with a Matern 5/2 covariance and a length for each column (Rasmussen and
/// Williams, "Gaussian Processes for Machine Learning", 2006, Eq. 4.17, 5.8, 5.9 and Algorithm 2.1). A column
/// of no effect gets a long one. Its mean is 0, so values should have a mean of about 0 and a deviation of
/// about 1. Deterministic.
class GaussianProcess {
 public:
  /// Most rows that it learns from: the best half, and others spread evenly over the rest.
  static constexpr std::size_t kMostRows = 256;

  /// Takes rows of `columns` values between 0 and 1.
  explicit GaussianProcess(std::size_t columns);

  /// Replaces what was learnt before. `values[i]` belongs to row i; higher is better. If `choose`, lengths
  /// and noise are fitted by likelihood, starting from those of the last fit; else they stay.
  void fit(const FeatureMatrix& rows, std::span<const double> values, bool choose);
  /// Returns the number of rows that the last fit learnt from. 0: it has learnt nothing, and every row has
  /// mean 0 and deviation 1.
  std::size_t rows() const { return weights_.size(); }
  std::size_t columns() const { return logs_.size() - 1; }

 private:
  friend class Beliefs;
  struct Fit {
    std::vector<float> scaled;            // rows_ divided by the lengths
    std::vector<double> squared, factor;  // distances and Cholesky factor, the lower halves, row-major
    std::vector<double> weights;          // (covariance + noise)^-1 values; empty: not positive definite
    double likelihood = 0, variance = 1;
  };
  /// Fits the learnt rows with these logarithms.
  Fit fit_with(const std::vector<double>& logs) const;
  /// Returns the gradient of the likelihood by the logarithms.
  std::vector<double> gradient_of(const Fit& fit, const std::vector<double>& logs) const;
  void climb();

  std::vector<double> logs_;  // logarithms of the lengths, then that of the noise's share of the variance
  std::vector<float> rows_;   // the learnt rows, row-major
  std::vector<double> values_;
  std::vector<float> points_;    // rows_ divided by the lengths
  std::vector<double> factor_;   // lower Cholesky factor of covariance + noise, row-major
  std::vector<double> weights_;  // (covariance + noise)^-1 values
  double variance_ = 1;
};

/// The beliefs of a Gaussian process about some rows together, also after one more row is measured.
class Beliefs {
 public:
  /// Borrows the Gaussian process.
  explicit Beliefs(const GaussianProcess& gaussian) : gaussian_(&gaussian) {}

  /// Adds a row. Returns its number.
  std::size_t add(std::span<const float> row);
  std::size_t size() const { return means_.size(); }
  double mean(std::size_t row) const { return means_[row]; }
  double deviation(std::size_t row) const;
  /// Returns whether measuring the row would tell less than measuring a known row once more, which would tell
  /// only noise.
  bool known(std::size_t row) const;
  /// Makes deviations from now on those after row `row` was measured as well, whatever its value will be.
  void assume_measured(std::size_t row);
  /// Sets the measured value of the first assumed row that has none yet.
  void tell(double value);

 private:
  double covariance(std::size_t a, std::size_t b) const;

  struct Assumed {
    std::size_t row;
    double deviation;           // deviation of its measurement, before it was assumed
    double told = 0;            // difference of its measured value from the mean, in units of `deviation`
    std::vector<double> shift;  // covariance of each row with it at that time, divided by `deviation`
  };
  const GaussianProcess* gaussian_;
  std::vector<float> points_;   // scaled
  std::vector<double> solved_;  // factor^-1 covariances, one row each
  std::vector<double> means_, variances_;
  std::vector<Assumed> assumed_;
  std::size_t told_ = 0;  // number of assumed_ rows that have their value
};

}  // namespace lehr
