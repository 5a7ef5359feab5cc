// Feature rows from the knobs alone, for tasks without a kernel to look at: recorded tables of other
// programs, and AutoTVM's features.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "space/space.h"
#include "tune/scorer.h"

namespace lehr {

enum class KnobColumns {
  kRaw,  ///< the values themselves: AutoTVM's feature_type='knob'
  /// The values; the largest power of two that divides each value, unless all values are powers of two; and
  /// the products and quotients of each pair of knobs that have more than two values each. The cost of a
  /// schedule depends on sizes (threads, work per thread, bytes of shared memory) that are such products, and
  /// a tree does not find products itself.
  kWithPairs,
};

/// The columns of one space: the config's family (if there are several), then the columns of each family. A
/// row has 0 in the columns of other families.
class KnobFeatures {
 public:
  /// Borrows `space`.
  KnobFeatures(const Space& space, KnobColumns columns);

  /// Returns "MWG", "alignment MWG", "MWG * NWG", "MWG / NWG", ...; the family comes first if there are
  /// several.
  const std::vector<std::string>& names() const { return names_; }
  RowOf rows() const;
  /// Fills the row of a config whose values need not be in the space, such as a config of another table.
  /// CHECKs that the family and the knobs are in the space.
  void row_of(const Config& config, std::span<float> row) const;

 private:
  enum class Form { kValue, kAlignment, kProduct, kQuotient };
  struct Column {
    std::size_t knob, other;  // the second knob of a pair
    Form form;
  };
  struct Family {
    const FamilySpace* space;
    std::size_t first;  ///< position of its first column
    std::vector<Column> columns;
  };
  void fill(std::size_t number, const Members& values, std::span<float> row) const;

  std::vector<Family> families_;
  std::vector<std::string> names_;
};

}  // namespace lehr
