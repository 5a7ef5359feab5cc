// Ranking metrics, exact with ties.
#include "costmodel/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace lehr {
namespace {

std::vector<std::size_t> best_first(std::span<const double> scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return order;
}

/// The first k rows of the model's ranking: rows that are certainly among them, and tied rows from which the
/// last `open` ones are drawn.
struct FirstK {
  std::span<const std::size_t> certain;
  std::span<const std::size_t> tied;
  std::size_t open;
};
FirstK first_k(std::span<const std::size_t> order, std::span<const double> predicted, std::size_t k) {
  const double last = predicted[order[k - 1]];
  std::size_t begin = k - 1, end = k;
  while (begin > 0 && predicted[order[begin - 1]] == last) --begin;
  while (end < order.size() && predicted[order[end]] == last) ++end;
  return {order.subspan(0, begin), order.subspan(begin, end - begin), k - begin};
}

void check_lengths(std::span<const double> predicted, std::span<const double> truth) {
  CHECK(predicted.size() == truth.size(), "{} predictions for {} truths", predicted.size(), truth.size());
}

}  // namespace

PairCount count_pairs(std::span<const double> predicted, std::span<const double> truth) {
  check_lengths(predicted, truth);
  PairCount count;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (std::size_t j = i + 1; j < truth.size(); ++j) {
      if (truth[i] == truth[j]) continue;
      count.pairs += 1;
      if (predicted[i] == predicted[j]) {
        count.right += 0.5;
      } else if ((predicted[i] > predicted[j]) == (truth[i] > truth[j])) {
        count.right += 1;
      }
    }
  }
  return count;
}

double pairwise_accuracy(std::span<const double> predicted, std::span<const double> truth) {
  const PairCount count = count_pairs(predicted, truth);
  return count.pairs > 0 ? count.right / count.pairs : 0.5;
}

double near_pairwise_accuracy(std::span<const double> predicted, std::span<const double> truth) {
  PairCount sum;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const std::size_t last = std::min(truth.size() - 1, i + kNearPicks);
    for (std::size_t j = i + 1; j <= last; ++j) {
      const PairCount pair =
          count_pairs(std::array{predicted[i], predicted[j]}, std::array{truth[i], truth[j]});
      sum.right += pair.right;
      sum.pairs += pair.pairs;
    }
  }
  return sum.pairs > 0 ? sum.right / sum.pairs : 0.5;
}

double top_k_recall(std::span<const double> predicted, std::span<const double> truth, std::size_t k) {
  check_lengths(predicted, truth);
  k = std::min(k, truth.size());
  if (k == 0) return 0;
  const double bar = truth[best_first(truth)[k - 1]];
  const std::vector<std::size_t> order = best_first(predicted);
  const FirstK first = first_k(order, predicted, k);
  const auto good = [&](std::span<const std::size_t> rows) {
    return static_cast<double>(std::ranges::count_if(rows, [&](std::size_t i) { return truth[i] >= bar; }));
  };
  const double drawn = static_cast<double>(first.open) / static_cast<double>(first.tied.size());
  return (good(first.certain) + good(first.tied) * drawn) / static_cast<double>(k);
}

std::vector<double> mean_ranks(std::span<const double> values) {
  const std::vector<std::size_t> order = best_first(values);
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = static_cast<double>(begin + end - 1) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
    begin = end;
  }
  return ranks;
}

double spearman(std::span<const double> predicted, std::span<const double> truth) {
  check_lengths(predicted, truth);
  const std::vector<double> a = mean_ranks(predicted), b = mean_ranks(truth);
  const double mean = (static_cast<double>(truth.size()) - 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

double average_recall(std::span<const double> predicted, std::span<const double> truth, std::size_t k) {
  check_lengths(predicted, truth);
  k = std::min(k, truth.size());
  if (k == 0) return 0;
  const std::vector<std::size_t> by_truth = best_first(truth), by_model = best_first(predicted);
  // A row is among the first i of both rankings if i is beyond the later one of its two ranks.
  std::vector<std::size_t> place(truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) place[by_truth[i]] = i;
  std::vector<std::size_t> entering(k, 0);
  for (std::size_t i = 0; i < k; ++i) {
    const std::size_t from = std::max(i, place[by_model[i]]);
    if (from < k) ++entering[from];
  }
  double sum = 0;
  std::size_t common = 0;
  for (std::size_t i = 0; i < k; ++i) {
    common += entering[i];
    sum += static_cast<double>(common) / static_cast<double>(i + 1);
  }
  return sum / static_cast<double>(k);
}

RankQuality rank_quality(std::span<const double> predicted, std::span<const double> truth) {
  RankQuality quality{.rows = truth.size(),
                      .spearman = spearman(predicted, truth),
                      .pairwise_accuracy = pairwise_accuracy(predicted, truth)};
  for (std::size_t i = 0; i < kTopShares.size(); ++i) {
    const auto k = static_cast<std::size_t>(std::lround(kTopShares[i] * static_cast<double>(truth.size())));
    quality.recall[i] = top_k_recall(predicted, truth, std::max<std::size_t>(1, k));
  }
  return quality;
}

}  // namespace lehr
