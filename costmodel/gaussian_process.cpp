// Fits by a grid, predicts by solving: see gaussian_process.h.
#include "costmodel/gaussian_process.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "costmodel/metrics.h"

namespace lehr {
namespace {

constexpr std::array<double, 5> kLengths = {0.35, 0.7, 1.4, 2.8, 5.6};
constexpr std::array<double, 3> kNoises = {0.003, 0.03, 0.2};  // variance, of the whole variance

float distance_squared(const float* a, const float* b, std::size_t n) {
  std::array<float, 8> sums{};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t j = 0; j < 8; ++j) sums[j] += (a[i + j] - b[i + j]) * (a[i + j] - b[i + j]);
  for (; i < n; ++i) sums[0] += (a[i] - b[i]) * (a[i] - b[i]);
  return std::accumulate(sums.begin(), sums.end(), 0.0f);
}

double matern(double squared, double length) {
  const double r = std::sqrt(5 * squared) / length;
  return (1 + r + r * r / 3) * std::exp(-r);
}

double dot(const double* a, const double* b, std::size_t n) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (std::size_t j = 0; j < 4; ++j) sums[j] += a[i + j] * b[i + j];
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

// How much of `prior` the targets hold, both solved by the factor: its mean given them, if a priori its
// deviation is the process's own (Rasmussen and Williams, Eq. 2.42 with b = 0 and B = variance).
double prior_share(std::span<const double> prior, std::span<const double> targets) {
  const std::size_t n = prior.size();
  return std::max(0.0, dot(prior.data(), targets.data(), n) / (dot(prior.data(), prior.data(), n) + 1));
}

// In place, the lower half; false if the matrix is not positive definite.
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

// Positions of the rows to learn from, in the order of the times.
std::vector<std::size_t> chosen(std::span<const double> times_us) {
  std::vector<std::size_t> order(times_us.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return times_us[i]; });
  constexpr std::size_t kMost = GaussianProcess::kMostRows, kFastest = kMost / 2;
  if (order.size() <= kMost) return order;
  const std::size_t others = order.size() - kFastest;
  for (std::size_t i = kFastest; i < kMost; ++i)
    order[i] = order[kFastest + (i - kFastest) * others / (kMost - kFastest)];
  order.resize(kMost);
  return order;
}

// Logistic quantiles of the ranks, deviation 1; equal times get their mean rank.
std::vector<double> targets_of(const std::vector<std::size_t>& order, std::span<const double> times_us) {
  const std::size_t n = order.size();
  std::vector<double> chosen_us;
  for (const std::size_t i : order) chosen_us.push_back(times_us[i]);
  std::vector<double> targets = mean_ranks(chosen_us);  // 0: the slowest
  for (double& target : targets) {
    const double share = (target + 0.5) / static_cast<double>(n);
    target = std::log(share / (1 - share));
  }
  double sum = 0, squares = 0;
  for (const double t : targets) sum += t;
  for (double& t : targets) t -= sum / static_cast<double>(n);
  for (const double t : targets) squares += t * t;
  const double deviation = std::sqrt(squares / static_cast<double>(n));
  for (double& t : targets) t = deviation > 0 ? t / deviation : 0;
  return targets;
}

}  // namespace

void GaussianProcess::take_columns(const FeatureMatrix& rows, std::span<const std::size_t> order) {
  const auto n = static_cast<double>(std::max<std::size_t>(1, order.size()));
  for (std::size_t c = 0; c < rows.columns(); ++c) {
    double sum = 0, squares = 0;
    for (const std::size_t i : order) sum += rows.row(i)[c];
    const double mean = sum / n;
    for (const std::size_t i : order) squares += (rows.row(i)[c] - mean) * (rows.row(i)[c] - mean);
    const double deviation = std::sqrt(squares / n);
    if (deviation <= 1e-6 * std::abs(mean) || deviation == 0) continue;
    columns_.push_back(c);
    inverse_.push_back(static_cast<float>(1 / deviation));
  }
  for (float& each : inverse_) each /= std::sqrt(static_cast<float>(columns_.size()));
  points_.resize(order.size() * columns_.size());
  for (std::size_t i = 0; i < order.size(); ++i) scale(rows.row(order[i]), &points_[i * columns_.size()]);
}

void GaussianProcess::fit(const FeatureMatrix& rows, std::span<const double> times_us,
                          std::span<const double> prior) {
  CHECK(rows.rows() == times_us.size() && (prior.empty() || prior.size() == times_us.size()),
        "rows={} times={} prior={}", rows.rows(), times_us.size(), prior.size());
  *this = {};
  has_prior_ = !prior.empty();
  const std::vector<std::size_t> order = chosen(times_us);
  const std::size_t n = order.size();
  take_columns(rows, order);
  if (columns_.empty()) return;

  const std::vector<double> targets = targets_of(order, times_us);
  std::vector<double> squared(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      squared[i * n + j] =
          distance_squared(&points_[i * columns_.size()], &points_[j * columns_.size()], columns_.size());
  double best = -std::numeric_limits<double>::infinity();
  for (const double length : kLengths) {
    std::vector<double> covariance(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) covariance[i * n + j] = matern(squared[i * n + j], length);
    for (const double noise : kNoises) {
      std::vector<double> factor = covariance;
      for (std::size_t i = 0; i < n; ++i) factor[i * n + i] = 1 + noise;
      if (!factorize(factor, n)) continue;
      std::vector<double> solved = targets;
      solve_lower(factor, solved);
      double share = 0;
      if (has_prior_) {
        std::vector<double> expected;
        for (const std::size_t i : order) expected.push_back(prior[i]);
        solve_lower(factor, expected);
        share = prior_share(expected, solved);
        for (std::size_t i = 0; i < n; ++i) solved[i] -= share * expected[i];
      }
      const double variance = dot(solved.data(), solved.data(), n) / static_cast<double>(n);
      double log_determinant = 0;
      for (std::size_t i = 0; i < n; ++i) log_determinant += 2 * std::log(factor[i * n + i]);
      const double likelihood =
          -0.5 * (static_cast<double>(n) * std::log(std::max(1e-12, variance)) + log_determinant);
      if (likelihood <= best) continue;
      best = likelihood;
      length_ = length;
      noise_ = noise;
      variance_ = variance;
      prior_share_ = share;
      solve_upper(factor, solved);
      weights_ = std::move(solved);
      factor_ = std::move(factor);
    }
  }
}

void GaussianProcess::scale(std::span<const float> row, float* out) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) out[i] = row[columns_[i]] * inverse_[i];
}

void GaussianProcess::covariances(const float* scaled, std::span<double> out) const {
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = matern(distance_squared(scaled, &points_[i * columns_.size()], columns_.size()), length_);
}

Beliefs::Beliefs(const GaussianProcess& process, const FeatureMatrix& rows, std::span<const double> prior)
    : process_(&process), known_(process.rows()) {
  CHECK(process.learnt() && prior.size() == (process.has_prior() ? rows.rows() : 0), "rows={} prior={}",
        rows.rows(), prior.size());
  const std::size_t columns = process.columns_.size();
  points_.resize(rows.rows() * columns);
  solved_.resize(rows.rows() * known_);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    process.scale(rows.row(i), &points_[i * columns]);
    const std::span<double> mine(&solved_[i * known_], known_);
    process.covariances(&points_[i * columns], mine);
    const double expected = prior.empty() ? 0 : process.prior_share_ * prior[i];
    means_.push_back(expected + dot(mine.data(), process.weights_.data(), known_));
    solve_lower(process.factor_, mine);
    variances_.push_back(1 - dot(mine.data(), mine.data(), known_));
  }
}

double Beliefs::deviation(std::size_t row) const {
  return std::sqrt(process_->variance_ * std::max(0.0, variances_[row]));
}

std::span<const double> Beliefs::solved(std::size_t row) const {
  return {&solved_[row * known_], known_};
}

void Beliefs::assume_measured(std::size_t row) {
  const std::size_t columns = process_->columns_.size(), count = means_.size();
  const double total = std::max(1e-9, variances_[row] + process_->noise_);
  std::vector<double> shift(count);
  for (std::size_t i = 0; i < count; ++i) {
    double covariance =
        matern(distance_squared(&points_[i * columns], &points_[row * columns], columns), process_->length_) -
        dot(solved(i).data(), solved(row).data(), known_);
    for (const std::vector<double>& earlier : shifts_) covariance -= earlier[i] * earlier[row];
    shift[i] = covariance / std::sqrt(total);
  }
  for (std::size_t i = 0; i < count; ++i) variances_[i] -= shift[i] * shift[i];
  shifts_.push_back(std::move(shift));
}

}  // namespace lehr
