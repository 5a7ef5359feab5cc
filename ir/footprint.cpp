// Counts the elements of a sum of arithmetic progressions, from the innermost loop outwards.
#include "ir/footprint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace lehr::ir {
namespace {

// The indices that an access reaches, relative to its first index, as a sum of arithmetic progressions: {0,
// s, ..., (n-1) s} + {0, t, ..., (m-1) t} + ...
class ProgressionSum {
 public:
  void add(std::int64_t step, std::int64_t count) {
    if (step == 0 || count <= 1) return;
    // A merged progression may close the gap of another one, so the search starts again.
    for (std::size_t i = 0; i < size_;) {
      if (!merge(parts_[i], step, count)) {
        ++i;
        continue;
      }
      parts_[i] = parts_[--size_];
      i = 0;
    }
    if (size_ == parts_.size()) {
      overflow_ *= static_cast<double>(count);
    } else {
      parts_[size_++] = {step, count};
    }
  }

  double count() const {
    double result = overflow_;
    for (std::size_t i = 0; i < size_; ++i) result *= static_cast<double>(parts_[i].count);
    return result;
  }

 private:
  struct Part {
    std::int64_t step;
    std::int64_t count;
  };

  // Merges `part` with the progression that `step` and `count` describe, if the sum of the two is a
  // progression again. In this case sets `step` and `count` to the merged progression and returns true.
  static bool merge(const Part& part, std::int64_t& step, std::int64_t& count) {
    const bool part_is_fine = part.step <= step;
    const std::int64_t fine_step = part_is_fine ? part.step : step;
    const std::int64_t fine_count = part_is_fine ? part.count : count;
    const std::int64_t coarse_step = part_is_fine ? step : part.step;
    const std::int64_t coarse_count = part_is_fine ? count : part.count;
    const std::int64_t ratio = coarse_step / fine_step;
    if (ratio > fine_count || coarse_step % fine_step != 0) return false;
    step = fine_step;
    count = fine_count + (coarse_count - 1) * ratio;
    return true;
  }

  // Only the first size_ elements are used. The array is not initialised, because that would take as long as
  // the whole count.
  std::array<Part, 16> parts_;
  std::size_t size_ = 0;
  // Product of the lengths of the progressions that found no room in parts_. These progressions are never
  // merged.
  double overflow_ = 1;
};

}  // namespace

IndexRange footprints(const IndexForm& form, const LoopNest& nest, const Run& run, std::int64_t elements,
                      PerLoop<double>& result) {
  ProgressionSum indices;
  indices.add(1, run.lanes);
  indices.add(run.stride, run.rows);
  IndexRange range{form.offset, form.offset + run.lanes + (run.rows - 1) * run.stride};
  double own = 1;  // number of values that one loop contributes
  const auto extend = [&](std::int64_t step, std::int64_t count) {
    own *= static_cast<double>(count);
    (step > 0 ? range.high : range.low) += step * (count - 1);
    indices.add(std::abs(step), count);
  };
  const auto size = static_cast<double>(elements);
  double reached = std::min(indices.count(), size);
  for (int depth = nest.depth; depth-- > 0;) {
    const auto d = static_cast<std::size_t>(depth);
    if ((form.loops >> d & 1) != 0) {  // most loops do not move most indices
      own = 1;
      const std::int64_t coefficient = form.along(depth).coefficient;
      if (coefficient != 0) extend(coefficient, nest.extents[d]);
      for (const IndexTerm& term : form.terms)
        if (term.depth == depth) extend(term.step, term.count);
      // A loop with n iterations reaches at most n times as many elements as the loops inside it. An index
      // with divisions and remainders gives one loop several progressions, and their product may exceed this
      // limit.
      const double most = reached * std::min(own, static_cast<double>(nest.extents[d]));
      reached = std::min({indices.count(), static_cast<double>(range.high - range.low), size, most});
    }
    result[d] = reached;
  }
  return range;
}

void TouchedBytes::add(BufferId buffer, IndexRange range, double footprint) {
  for (const Entry& entry : entries_)
    if (entry.buffer == buffer && entry.range.low == range.low && entry.range.high == range.high &&
        entry.footprint == footprint)
      return;
  entries_.push_back({buffer, range, footprint});
}

double TouchedBytes::bytes(const Kernel& kernel) const {
  double total = 0;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    if (buffer.scope != Scope::kGlobal) continue;
    double sum = 0;
    IndexRange all{buffer.elements, 0};
    for (const Entry& entry : entries_) {
      if (entry.buffer != static_cast<BufferId>(i)) continue;
      sum += entry.footprint;
      all.low = std::min(all.low, std::max<std::int64_t>(entry.range.low, 0));
      all.high = std::max(all.high, std::min(entry.range.high, buffer.elements));
    }
    if (sum > 0)
      total += std::min(sum, static_cast<double>(std::max<std::int64_t>(all.high - all.low, 0))) *
               size_of(buffer.type);
  }
  return total;
}

}  // namespace lehr::ir
