// Internal to ir/analyze: counts the distinct elements that an access touches, per enclosing loop and over
// the whole kernel.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "ir/index_form.h"

namespace lehr::ir {

/// Estimated range [low, high) of the flat indices of an access.
struct IndexRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// Elements that one execution touches: `rows` sequences of `lanes` consecutive elements, which begin
/// `stride` elements apart.
struct Run {
  int lanes = 1;
  std::int64_t rows = 1;
  std::int64_t stride = 0;
};

/// Sets `result` (one entry per loop of `nest`, outermost first) to the values that Access::footprint
/// documents. Returns the range of all indices.
IndexRange footprints(const IndexForm& form, const LoopNest& nest, const Run& run, std::int64_t elements,
                      PerLoop<double>& result);

/// Estimates how many bytes of each global buffer all accesses touch together. Accesses with equal range and
/// footprint count as the same set of elements. The sizes of different sets add up, capped by the range that
/// they span together and by the buffer's size.
class TouchedBytes {
 public:
  explicit TouchedBytes(std::pmr::memory_resource* memory) : entries_(memory) { entries_.reserve(16); }
  void add(BufferId buffer, IndexRange range, double footprint);
  double bytes(const Kernel& kernel) const;

 private:
  struct Entry {
    BufferId buffer;
    IndexRange range;
    double footprint;
  };
  std::pmr::vector<Entry> entries_;
};

}  // namespace lehr::ir
