// Scores points on several threads, with a cache of rows.
#include "tune/scorer.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace lehr {
namespace {

constexpr std::size_t kRowsPerChunk = 4096;
constexpr std::size_t kCacheBytes = 192u << 20;
// Number of candidates that a thread takes at a time: enough to hide the cost of handing them over (a
// microsecond), few enough to balance the threads.
constexpr std::size_t kGrain = 4;
// Number of rows that one thread predicts at once. A call of the model costs about as much as ten rows, and a
// matrix of this size stays in L2.
constexpr std::size_t kPredictRows = 128;

}  // namespace

Scorer::Scorer(std::size_t columns, RowOf row_of, int threads)
    : columns_(columns),
      row_of_(std::move(row_of)),
      capacity_(std::max<std::size_t>(kRowsPerChunk, kCacheBytes / (columns_ * sizeof(float)))),
      threads_(threads) {}

std::span<float> Scorer::row(std::uint32_t index) const {
  return {chunks_[index / kRowsPerChunk].get() + (index % kRowsPerChunk) * columns_, columns_};
}

Scorer::Call Scorer::look_up(std::span<const Point> points) {
  if (used_ + points.size() > capacity_) {
    index_.clear();
    used_ = 0;
  }
  Call call;
  call.of_point.reserve(points.size());
  call.rows.reserve(points.size());
  ++calls_;
  for (const Point& point : points) {
    const auto [found, is_new] = index_.try_emplace(point, Remembered{used_});
    Remembered& remembered = found->second;
    if (remembered.call != calls_) {
      remembered.call = calls_;
      remembered.place = static_cast<std::uint32_t>(call.rows.size());
      call.rows.push_back({remembered.row, &point, &remembered, !is_new, remembered.row == kNoRow});
    }
    call.of_point.push_back(remembered.place);
    if (!is_new) continue;
    if (used_ / kRowsPerChunk >= chunks_.size())
      chunks_.push_back(std::make_unique_for_overwrite<float[]>(kRowsPerChunk * columns_));
    ++used_;
    ++made_;
  }
  return call;
}

void Scorer::make(Needed& needed) {
  if (!needed.known) needed.failed = !row_of_(*needed.point, row(needed.row));
}

void Scorer::settle(const Call& call) {
  for (const Needed& needed : call.rows)
    if (needed.failed) needed.remembered->row = kNoRow;
}

FeatureMatrix Scorer::features(std::span<const Point> points) {
  Call call = look_up(points);
  threads_.run(call.rows.size(), kGrain, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) make(call.rows[i]);
  });
  settle(call);
  FeatureMatrix matrix(columns_);
  const std::vector<float> zeros(columns_, 0.0f);
  for (const std::uint32_t at : call.of_point)
    matrix.append(call.rows[at].failed ? std::span<const float>(zeros) : row(call.rows[at].row));
  return matrix;
}

std::vector<double> Scorer::score(std::span<const Point> points, const Predict& predict) {
  scored_ += points.size();
  Call call = look_up(points);
  std::vector<double> row_scores(call.rows.size(), -std::numeric_limits<double>::infinity());
  // Each thread predicts the rows that it has made, so rows and predictions need only one parallel loop.
  std::vector<std::vector<std::size_t>> ready(static_cast<std::size_t>(threads_.threads()));
  const auto predict_ready = [&](std::size_t thread) {
    if (ready[thread].empty()) return;
    FeatureMatrix matrix(columns_);
    matrix.reserve(ready[thread].size());
    for (const std::size_t i : ready[thread]) matrix.append(row(call.rows[i].row));
    const std::vector<double> predicted = predict(matrix);
    for (std::size_t j = 0; j < predicted.size(); ++j) row_scores[ready[thread][j]] = predicted[j];
    ready[thread].clear();
  };
  // Kernels of one family follow each other, since the same code makes them.
  std::vector<std::size_t> order(call.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return call.rows[i].point->family; });
  const auto make_rows = [&](std::size_t begin, std::size_t end, std::size_t thread) {
    for (std::size_t at = begin; at < end; ++at) {
      const std::size_t i = order[at];
      make(call.rows[i]);
      if (!call.rows[i].failed) ready[thread].push_back(i);
    }
    if (ready[thread].size() >= kPredictRows) predict_ready(thread);
  };
  threads_.run(call.rows.size(), kGrain, make_rows, predict_ready);
  settle(call);
  std::vector<double> scores;
  for (const std::uint32_t at : call.of_point) scores.push_back(row_scores[at]);
  return scores;
}

}  // namespace lehr
