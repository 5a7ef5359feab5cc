#include "runtime/parts.h"

#include <algorithm>
#include <cstddef>

namespace lehr::runtime {
namespace {

struct Candidate {
  PartSize size;
  double us_per_row;
  double least_us;  ///< of one call of it or of any behind it
  std::uint32_t index;
};

/// Branch and bound. Candidates stand in the order of their time a row, and of each the larger numbers of
/// calls are tried first: good covers are found first, and a branch is given up as soon as its rest would
/// take too long at the time a row of the candidates behind. Covers need not be exact: of a cover that can do
/// without none of its calls, any may be the one that overlaps.
class Search {
 public:
  explicit Search(const Array<Candidate>& candidates) : candidates_(candidates) {}

  void cover(std::uint64_t rows) { from(0, rows, 0, 0); }

  double best_us = __builtin_inf();
  PartCalls best[kMostSizesOfParts];
  std::size_t best_count = 0;

 private:
  // What is faster by less is the same: sums have rounding errors.
  static constexpr double kFaster = 1 - 1e-9;

  bool is_faster(double us) const { return us < best_us * kFaster; }

  void from(std::size_t first, std::uint64_t left, double us, std::size_t depth) {
    for (std::size_t i = first; i < candidates_.size() && steps_left_ > 0; ++i, --steps_left_) {
      const Candidate& one = candidates_[i];
      if (!is_faster(us + static_cast<double>(left) * one.us_per_row)) return;
      const std::uint64_t all = (left + one.size.rows - 1) / one.size.rows;
      chosen_[depth] = {one.index, all};
      keep(us + static_cast<double>(all) * one.size.us, depth + 1);
      if (depth + 1 < kMostSizesOfParts && i + 1 < candidates_.size()) some_of(i, left, us, depth);
    }
  }

  // Fewer of this candidate than cover all that is left, and then others.
  void some_of(std::size_t i, std::uint64_t left, double us, std::size_t depth) {
    const PartSize size = candidates_[i].size;
    const Candidate& behind = candidates_[i + 1];
    for (std::uint64_t count = (left - 1) / size.rows; count > 0 && steps_left_ > 0; --count, --steps_left_) {
      const std::uint64_t rest = left - count * size.rows;
      const double so_far = us + static_cast<double>(count) * size.us;
      if (!is_faster(so_far + static_cast<double>(rest) * behind.us_per_row)) return;
      if (!is_faster(so_far + behind.least_us)) continue;
      chosen_[depth].count = count;
      from(i + 1, rest, so_far, depth + 1);
    }
  }

  void keep(double us, std::size_t count) {
    if (!is_faster(us)) return;
    best_us = us;
    best_count = count;
    std::copy_n(chosen_, count, best);
  }

  const Array<Candidate>& candidates_;
  PartCalls chosen_[kMostSizesOfParts];
  std::size_t steps_left_ = kMostStepsForParts;
};

// Without those that are no larger than one that takes no longer. False where there is no memory.
bool candidates_of(const Array<PartSize>& sizes, Array<Candidate>& candidates) {
  Array<Candidate> all;
  for (std::uint32_t i = 0; i < sizes.size(); ++i)
    if (!all.add({sizes[i], sizes[i].us / static_cast<double>(sizes[i].rows), 0, i})) return false;
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.size.us != b.size.us ? a.size.us < b.size.us : a.size.rows > b.size.rows;
  });
  std::uint64_t largest = 0;
  for (const Candidate& one : all) {
    if (one.size.rows <= largest) continue;
    largest = one.size.rows;
    if (!candidates.add(one)) return false;
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.us_per_row != b.us_per_row ? a.us_per_row < b.us_per_row : a.size.rows > b.size.rows;
  });
  double least_us = __builtin_inf();
  for (std::size_t i = candidates.size(); i-- > 0;)
    least_us = candidates[i].least_us = std::min(least_us, candidates[i].size.us);
  return true;
}

}  // namespace

double cheapest_calls(const Array<PartSize>& sizes, std::uint64_t rows, Array<PartCalls>& calls) {
  Array<Candidate> candidates;
  if (!candidates_of(sizes, candidates)) return __builtin_inf();
  Search search(candidates);
  search.cover(rows);
  for (std::size_t i = 0; i < search.best_count; ++i)
    if (!calls.add(search.best[i])) return __builtin_inf();
  return search.best_us;
}

}  // namespace lehr::runtime
