// Groups of rows with normalised targets, and their split into training and held-out rows.
#include "costmodel/dataset.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/rng.h"

namespace lehr {
namespace {

/// Minimum size of a group of which rows are held out.
constexpr std::size_t kSmallestSplitGroup = 5;

void copy_row(const Dataset& from, std::size_t i, Dataset& to) {
  to.rows.append(from.rows.row(i));
  to.targets.push_back(from.targets[i]);
  to.groups.push_back(from.groups[i]);
}

}  // namespace

void append_group(Dataset& data, const FeatureMatrix& rows, const std::vector<double>& times_us) {
  CHECK(rows.rows() == times_us.size(), "{} rows with {} times", rows.rows(), times_us.size());
  if (times_us.empty()) return;
  double fastest = times_us[0];
  for (const double time : times_us) {
    CHECK(std::isfinite(time) && time > 0, "a time of {} us; failures are not rows", time);
    fastest = std::min(fastest, time);
  }
  const int group = data.groups.empty() ? 0 : data.groups.back() + 1;
  for (std::size_t i = 0; i < times_us.size(); ++i) {
    data.rows.append(rows.row(i));
    data.targets.push_back(static_cast<float>(fastest / times_us[i]));
    data.groups.push_back(group);
  }
}

void append_failures(Dataset& data, const FeatureMatrix& rows) {
  const int group = data.groups.empty() ? 0 : data.groups.back();
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    data.rows.append(rows.row(i));
    data.targets.push_back(0);
    data.groups.push_back(group);
  }
}

Split split_by_row(const Dataset& data, double share, std::uint64_t seed) {
  CHECK(share > 0 && share < 1, "share={}", share);
  Split split{Dataset(data.rows.columns()), Dataset(data.rows.columns())};
  Rng rng = Rng(seed).fork("split");
  for (std::size_t begin = 0; begin < data.size();) {
    std::size_t end = begin;
    while (end < data.size() && data.groups[end] == data.groups[begin]) ++end;
    const std::size_t n = end - begin;
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), begin);
    rng.shuffle(order);
    std::size_t held = 0;
    if (n >= kSmallestSplitGroup) {
      held = std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(share * static_cast<double>(n))), 1,
                                     n - 1);
    }
    // Both parts keep the original order, so that rows stay traceable.
    std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(held));
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(held), order.end());
    for (std::size_t i = 0; i < n; ++i) copy_row(data, order[i], i < held ? split.held_out : split.train);
    begin = end;
  }
  return split;
}

}  // namespace lehr
