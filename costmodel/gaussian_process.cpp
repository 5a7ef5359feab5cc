// Fits by climbing the likelihood, predicts by solving linear equations: see gaussian_process.h.
#include "costmodel/gaussian_process.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace lehr {
namespace {

// Number of steps of a climb.
constexpr int kSteps = 20;
// Weight of the prior variance 1 in the estimate of the variance, in rows: a few rows say little about the
// variance.
constexpr double kVarianceRows = 2;
// Bounds of the logarithms of length scales and noise.
constexpr double kLeastLength = -3, kMostLength = 5, kLeastNoise = -12, kMostNoise = 0;

float distance_squared(const float* a, const float* b, std::size_t n) {
  std::array<float, 8> sums{};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t j = 0; j < 8; ++j) sums[j] += (a[i + j] - b[i + j]) * (a[i + j] - b[i + j]);
  for (; i < n; ++i) sums[0] += (a[i] - b[i]) * (a[i] - b[i]);
  return std::accumulate(sums.begin(), sums.end(), 0.0f);
}

// Returns the covariance for a squared distance, in units of the length scales.
double matern(double squared) {
  const double r = std::sqrt(5 * squared);
  return (1 + r + r * r / 3) * std::exp(-r);
}

// Returns -2 times the derivative of matern() with respect to the squared distance.
double matern_slope(double squared) {
  const double r = std::sqrt(5 * squared);
  return 5.0 / 3 * (1 + r) * std::exp(-r);
}

double dot(const double* a, const double* b, std::size_t n) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (std::size_t j = 0; j < 4; ++j) sums[j] += a[i + j] * b[i + j];
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

// Factorizes a matrix in place, in its lower half. Returns false if it is not positive definite.
bool factorize(std::vector<double>& a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double rest = a[i * n + j] - dot(&a[i * n], &a[j * n], j);
      if (i != j)
        a[i * n + j] = rest / a[j * n + j];
      else if (rest <= 0)
        return false;
      else
        a[i * n + i] = std::sqrt(rest);
    }
  }
  return true;
}

void solve_lower(const std::vector<double>& factor, std::span<double> x) {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) x[i] = (x[i] - dot(&factor[i * n], x.data(), i)) / factor[i * n + i];
}

void solve_upper(const std::vector<double>& factor, std::span<double> x) {
  const std::size_t n = x.size();
  for (std::size_t i = n; i-- > 0;) {
    x[i] /= factor[i * n + i];
    for (std::size_t j = 0; j < i; ++j) x[j] -= factor[i * n + j] * x[i];
  }
}

// Returns the transposed inverse of a lower factor: row i holds column i of the inverse.
std::vector<double> inverse_of(const std::vector<double>& factor, std::size_t n) {
  std::vector<double> inverse(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    double* const column = &inverse[i * n];
    column[i] = 1 / factor[i * n + i];
    for (std::size_t k = i + 1; k < n; ++k)
      column[k] = -dot(&factor[k * n + i], column + i, k - i) / factor[k * n + k];
  }
  return inverse;
}

// Returns the positions of the rows to learn from: half of them the best rows, the others spread over the
// rest.
std::vector<std::size_t> chosen(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  constexpr std::size_t kMost = GaussianProcess::kMostRows, kBest = kMost / 2;
  if (order.size() <= kMost) return order;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return -values[i]; });
  const std::size_t others = order.size() - kBest;
  for (std::size_t i = kBest; i < kMost; ++i)
    order[i] = order[kBest + (i - kBest) * others / (kMost - kBest)];
  order.resize(kMost);
  return order;
}

struct Normal {
  double mean, deviation;
  double log_density(double x) const { return -0.5 * (x - mean) * (x - mean) / (deviation * deviation); }
  double slope(double x) const { return -(x - mean) / (deviation * deviation); }
};

// Returns the prior of the logarithm of a length scale. Length scales grow with the root of the number of
// columns, as distances do (Hvarfner, Hellsten and Nardi, "Vanilla Bayesian Optimization Performs Great in
// High Dimensions", 2024). The mean and the deviation were chosen by replays (bench/results/replay).
Normal length_prior(std::size_t columns) {
  return {-1 + 0.5 * std::log(static_cast<double>(columns)), 1};
}
constexpr Normal kNoisePrior = {-5, 1};

}  // namespace

GaussianProcess::GaussianProcess(std::size_t columns)
    : logs_(columns + 1, length_prior(std::max<std::size_t>(1, columns)).mean) {
  logs_.back() = kNoisePrior.mean;
}

GaussianProcess::Fit GaussianProcess::fit_with(const std::vector<double>& logs) const {
  const std::size_t n = values_.size(), d = columns();
  Fit fit;
  fit.scaled.resize(rows_.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < d; ++c)
      fit.scaled[i * d + c] = rows_[i * d + c] * static_cast<float>(std::exp(-logs[c]));
  fit.squared.resize(n * n);
  fit.factor.resize(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      fit.squared[i * n + j] = distance_squared(&fit.scaled[i * d], &fit.scaled[j * d], d);
      fit.factor[i * n + j] = matern(fit.squared[i * n + j]);
    }
    fit.factor[i * n + i] = 1 + std::exp(logs[d]);
  }
  if (!factorize(fit.factor, n)) return fit;
  fit.weights = values_;
  solve_lower(fit.factor, fit.weights);
  const double count = static_cast<double>(n) + kVarianceRows;
  fit.variance = (kVarianceRows + dot(fit.weights.data(), fit.weights.data(), n)) / count;
  solve_upper(fit.factor, fit.weights);
  double log_determinant = 0;
  for (std::size_t i = 0; i < n; ++i) log_determinant += 2 * std::log(fit.factor[i * n + i]);
  fit.likelihood =
      -0.5 * (count * std::log(fit.variance) + log_determinant) + kNoisePrior.log_density(logs[d]);
  for (std::size_t c = 0; c < d; ++c) fit.likelihood += length_prior(d).log_density(logs[c]);
  return fit;
}

std::vector<double> GaussianProcess::gradient_of(const Fit& fit, const std::vector<double>& logs) const {
  const std::size_t n = values_.size(), d = columns();
  const std::vector<double> inverse = inverse_of(fit.factor, n);
  std::vector<double> slopes(n * n), sums(n, 0);  // slopes: symmetric, diagonal 0
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double weight = fit.weights[i] * fit.weights[j] / fit.variance -
                            dot(&inverse[i * n + i], &inverse[j * n + i], n - i);
      if (i == j) {
        trace += weight;
        continue;
      }
      const double slope = weight * matern_slope(fit.squared[i * n + j]);
      slopes[i * n + j] = slopes[j * n + i] = slope;
      sums[i] += slope;
      sums[j] += slope;
    }
  }
  std::vector<double> gradient, column(n);
  for (std::size_t c = 0; c < d; ++c) {
    for (std::size_t i = 0; i < n; ++i) column[i] = fit.scaled[i * d + c];
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += column[i] * (column[i] * sums[i] - dot(&slopes[i * n], column.data(), n));
    gradient.push_back(sum + length_prior(d).slope(logs[c]));
  }
  gradient.push_back(0.5 * std::exp(logs[d]) * trace + kNoisePrior.slope(logs[d]));
  return gradient;
}

// Uses only the signs of the gradient (Riedmiller and Braun, "A direct adaptive method for faster
// backpropagation learning: the RPROP algorithm", 1993; for Gaussian processes Blum and Riedmiller, 2013).
void GaussianProcess::climb() {
  std::vector<double> logs = logs_, steps(logs.size(), 0.2), before(logs.size(), 0);
  double best = -std::numeric_limits<double>::infinity();
  for (int step = 0; step < kSteps; ++step) {
    const Fit fit = fit_with(logs);
    if (fit.weights.empty()) return;
    if (fit.likelihood > best) {
      best = fit.likelihood;
      logs_ = logs;
    }
    const std::vector<double> gradient = gradient_of(fit, logs);
    for (std::size_t i = 0; i < logs.size(); ++i) {
      const double turned = gradient[i] * before[i];
      steps[i] = std::clamp(steps[i] * (turned > 0 ? 1.5 : turned < 0 ? 0.5 : 1), 1e-3, 1.0);
      before[i] = turned < 0 ? 0 : gradient[i];
      if (before[i] != 0) logs[i] += before[i] > 0 ? steps[i] : -steps[i];
      const bool noise = i + 1 == logs.size();
      logs[i] = noise ? std::clamp(logs[i], kLeastNoise, kMostNoise)
                      : std::clamp(logs[i], kLeastLength, kMostLength);
    }
  }
}

void GaussianProcess::fit(const FeatureMatrix& rows, std::span<const double> values, bool choose) {
  CHECK(rows.rows() == values.size() && rows.columns() == columns(), "rows={} values={} columns={}",
        rows.rows(), values.size(), rows.columns());
  rows_.clear();
  values_.clear();
  for (const std::size_t i : chosen(values)) {
    rows_.insert(rows_.end(), rows.row(i).begin(), rows.row(i).end());
    values_.push_back(values[i]);
  }
  if (choose && !values_.empty()) climb();
  Fit fit = fit_with(logs_);
  while (fit.weights.empty() && !values_.empty()) {  // the rows are too similar
    logs_.back() += 1;
    fit = fit_with(logs_);
  }
  points_ = std::move(fit.scaled);
  factor_ = std::move(fit.factor);
  weights_ = std::move(fit.weights);
  variance_ = fit.variance;
}

std::size_t Beliefs::add(std::span<const float> row) {
  const std::size_t columns = gaussian_->columns(), known = gaussian_->rows(), number = size();
  points_.resize(points_.size() + columns);
  float* const scaled = &points_[number * columns];
  for (std::size_t c = 0; c < columns; ++c)
    scaled[c] = row[c] * static_cast<float>(std::exp(-gaussian_->logs_[c]));
  solved_.resize(solved_.size() + known);
  const std::span<double> mine(solved_.data() + number * known, known);
  for (std::size_t i = 0; i < known; ++i)
    mine[i] = matern(distance_squared(scaled, &gaussian_->points_[i * columns], columns));
  means_.push_back(dot(mine.data(), gaussian_->weights_.data(), known));
  solve_lower(gaussian_->factor_, mine);
  variances_.push_back(1 - dot(mine.data(), mine.data(), known));
  for (std::size_t a = 0; a < assumed_.size(); ++a) {
    double rest = covariance(number, assumed_[a].row);
    for (std::size_t b = 0; b < a; ++b)
      rest -= assumed_[b].shift[number] * assumed_[b].shift[assumed_[a].row];
    assumed_[a].shift.push_back(rest / assumed_[a].deviation);
    variances_[number] -= assumed_[a].shift[number] * assumed_[a].shift[number];
  }
  for (std::size_t a = 0; a < reported_; ++a)
    means_[number] += assumed_[a].shift[number] * assumed_[a].reported;
  return number;
}

double Beliefs::deviation(std::size_t row) const {
  return std::sqrt(gaussian_->variance_ * std::max(0.0, variances_[row]));
}

bool Beliefs::known(std::size_t row) const {
  return variances_[row] < std::exp(gaussian_->logs_.back());
}

double Beliefs::covariance(std::size_t a, std::size_t b) const {
  const std::size_t columns = gaussian_->columns(), known = gaussian_->rows();
  return matern(distance_squared(&points_[a * columns], &points_[b * columns], columns)) -
         dot(solved_.data() + a * known, solved_.data() + b * known, known);
}

void Beliefs::assume_measured(std::size_t row) {
  Assumed one{row, std::sqrt(std::max(1e-9, variances_[row] + std::exp(gaussian_->logs_.back()))), 0, {}};
  one.shift.resize(size());
  for (std::size_t i = 0; i < size(); ++i) {
    double rest = covariance(i, row);
    for (const Assumed& earlier : assumed_) rest -= earlier.shift[i] * earlier.shift[row];
    one.shift[i] = rest / one.deviation;
  }
  for (std::size_t i = 0; i < size(); ++i) variances_[i] -= one.shift[i] * one.shift[i];
  assumed_.push_back(std::move(one));
}

void Beliefs::tell(double value) {
  CHECK(reported_ < assumed_.size(), "{} assumed", reported_);
  Assumed& one = assumed_[reported_++];
  one.reported = (value - means_[one.row]) / one.deviation;
  for (std::size_t i = 0; i < size(); ++i) means_[i] += one.shift[i] * one.reported;
}

}  // namespace lehr
