// A Gaussian process over few rows: what it expects of a candidate, and how little it knows of it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "costmodel/features.h"

namespace lehr {

/// A process over rows with a Matern 5/2 covariance and a length for each column (Rasmussen and Williams,
/// "Gaussian Processes for Machine Learning", 2006, Eq. 4.17, 5.8, 5.9 and Algorithm 2.1): a column of no
/// effect gets a long one. Its mean is 0, so values should have mean 0 and deviation 1, about. Deterministic.
class GaussianProcess {
 public:
  /// Learns from at most so many rows: the best half of them, the others spread evenly over what is left.
  static constexpr std::size_t kMostRows = 256;

  /// Rows of `columns` values between 0 and 1.
  explicit GaussianProcess(std::size_t columns);

  /// `values[i]` belongs to row i; higher is better. Replaces what was learnt before. `choose`: lengths and
  /// noise are made likelier, from those of the last fit on; else they stay.
  void fit(const FeatureMatrix& rows, std::span<const double> values, bool choose);
  /// Rows that the last fit learnt from; 0: it knows nothing, and every row has mean 0 and deviation 1.
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
  /// Of the learnt rows with such logarithms.
  Fit fit_with(const std::vector<double>& logs) const;
  /// Of the likelihood by the logarithms.
  std::vector<double> gradient_of(const Fit& fit, const std::vector<double>& logs) const;
  void climb();

  std::vector<double> logs_;  // of the lengths, and last of the noise's share of the variance
  std::vector<float> rows_;   // learnt ones, row-major
  std::vector<double> values_;
  std::vector<float> points_;    // rows_ divided by the lengths
  std::vector<double> factor_;   // lower Cholesky factor of covariance + noise, row-major
  std::vector<double> weights_;  // (covariance + noise)^-1 values
  double variance_ = 1;
};

/// What a process believes of some rows together, and of them after one more is measured.
class Beliefs {
 public:
  /// Borrows the process.
  explicit Beliefs(const GaussianProcess& process) : process_(&process) {}

  /// Returns its number.
  std::size_t add(std::span<const float> row);
  std::size_t size() const { return means_.size(); }
  double mean(std::size_t row) const { return means_[row]; }
  double deviation(std::size_t row) const;
  /// Whether measuring it would tell less than measuring a known row once more: that is all noise.
  bool known(std::size_t row) const;
  /// From now on deviations are those after row `row` was measured as well, whatever will come out.
  void assume_measured(std::size_t row);
  /// What came out of the first row that is assumed and has not been told.
  void tell(double value);

 private:
  double covariance(std::size_t a, std::size_t b) const;

  struct Assumed {
    std::size_t row;
    double deviation;           // of its measurement, before it was assumed
    double told = 0;            // how far off the mean it came out, in units of `deviation`
    std::vector<double> shift;  // covariance of each row with it then, divided by `deviation`
  };
  const GaussianProcess* process_;
  std::vector<float> points_;   // scaled
  std::vector<double> solved_;  // factor^-1 covariances, one row each
  std::vector<double> means_, variances_;
  std::vector<Assumed> assumed_;
  std::size_t told_ = 0;  // of assumed_
};

}  // namespace lehr
