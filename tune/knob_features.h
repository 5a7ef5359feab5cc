// Feature rows from the knobs alone, where there is no kernel to look at: recorded tables of other programs,
// and AutoTVM's features.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "space/space.h"
#include "tune/scorer.h"

namespace lehr {

enum class KnobColumns {
  kRaw,  ///< the values as they are: AutoTVM's feature_type='knob'
  /// Values, the largest power of two that divides them where they are not all powers of two, and the
  /// products and quotients of each two knobs of more than two values: what a schedule costs hangs on sizes
  /// (threads, work per thread, bytes shared) that are such products, and a tree finds none by itself.
  kWithPairs,
};

/// The columns of one space: which family a config is of (where there are several), then for each family its
/// columns, 0 in the rows of other families.
class KnobFeatures {
 public:
  /// Borrows `space`.
  KnobFeatures(const Space& space, KnobColumns columns);

  /// "MWG", "alignment MWG", "MWG * NWG", "MWG / NWG", ...; with the family in front where there are several.
  const std::vector<std::string>& names() const { return names_; }
  RowOf rows() const;
  /// The same of a config whose values need not be of the space, as one of another table. CHECKs that family
  /// and knobs are.
  void row_of(const Config& config, std::span<float> row) const;

 private:
  enum class Form { kValue, kAlignment, kProduct, kQuotient };
  struct Column {
    std::size_t knob, other;  // the second of a pair
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
