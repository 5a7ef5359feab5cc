// The scorer: a row cache keyed by the config's stable hash, filled by the pool.
#include "tune/scorer.h"

#include <algorithm>
#include <limits>

namespace lehr {
namespace {

constexpr std::size_t kRowsPerChunk = 4096;
constexpr std::size_t kCacheBytes = 192u << 20;
// Candidates per task of the pool: long enough to hide the hand-over (a microsecond), short enough to
// balance.
constexpr std::size_t kGrain = 4;
// The same for predictions, which take less each and have a cost per call, too.
constexpr std::size_t kPredictGrain = 64;

}  // namespace

RowOf kernel_rows(const Candidates& candidates, const Limits& limits) {
  return [&candidates, limits](const Config& config, std::span<float> row) {
    const auto kernel = try_lower(candidates, config);
    const auto* lowered = std::get_if<ir::Kernel>(&kernel);
    if (lowered) std::ranges::copy(featurize(*lowered, limits), row.begin());
    return lowered != nullptr;
  };
}

Scorer::Scorer(std::size_t columns, RowOf row_of, int threads)
    : columns_(columns),
      row_of_(std::move(row_of)),
      capacity_(std::max<std::size_t>(kRowsPerChunk, kCacheBytes / (columns_ * sizeof(float)))),
      pool_(threads) {}

std::span<float> Scorer::row(std::uint32_t index) const {
  return {chunks_[index / kRowsPerChunk].get() + (index % kRowsPerChunk) * columns_, columns_};
}

std::vector<std::uint32_t> Scorer::rows_of(std::span<const Config> configs) {
  if (used_ + configs.size() > capacity_) {
    index_.clear();
    used_ = 0;
  }
  std::vector<std::uint32_t> rows(configs.size());
  std::vector<std::size_t> missing;
  std::vector<std::uint64_t> hashes(configs.size());
  for (std::size_t i = 0; i < configs.size(); ++i) {
    hashes[i] = ConfigHash{}(configs[i]);
    const auto [found, inserted] = index_.try_emplace(hashes[i], used_);
    rows[i] = found->second;
    if (!inserted) continue;
    missing.push_back(i);
    if (used_ / kRowsPerChunk >= chunks_.size())
      chunks_.push_back(std::make_unique<float[]>(kRowsPerChunk * columns_));
    ++used_;
  }
  std::vector<char> failed(missing.size(), 0);
  pool_.run(missing.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      const std::size_t i = missing[j];
      failed[j] = row_of_(configs[i], row(rows[i])) ? 0 : 1;
    }
  });
  made_ += missing.size();
  if (std::ranges::find(failed, 1) == failed.end()) return rows;
  for (std::size_t j = 0; j < missing.size(); ++j)
    if (failed[j]) index_[hashes[missing[j]]] = kNoRow;
  for (std::size_t i = 0; i < configs.size(); ++i)
    rows[i] = index_[hashes[i]];  // repeats of a failed one too
  return rows;
}

FeatureMatrix Scorer::features(std::span<const Config> configs) {
  FeatureMatrix matrix(columns_);
  const std::vector<float> zeros(columns_, 0.0f);
  for (const std::uint32_t index : rows_of(configs))
    matrix.append(index == kNoRow ? std::span<const float>(zeros) : row(index));
  return matrix;
}

std::vector<double> Scorer::score(std::span<const Config> configs, const Predict& predict) {
  scored_ += configs.size();
  const std::vector<std::uint32_t> rows = rows_of(configs);
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] != kNoRow) usable.push_back(i);
  std::vector<double> scores(configs.size(), -std::numeric_limits<double>::infinity());
  pool_.run(usable.size(), kPredictGrain, [&](std::size_t begin, std::size_t end) {
    FeatureMatrix matrix(columns_);
    matrix.reserve(end - begin);
    for (std::size_t j = begin; j < end; ++j) matrix.append(row(rows[usable[j]]));
    const std::vector<double> predicted = predict(matrix);
    for (std::size_t j = begin; j < end; ++j) scores[usable[j]] = predicted[j - begin];
  });
  return scores;
}

}  // namespace lehr
