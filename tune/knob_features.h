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
  /// Values, their logarithms, the largest power of two that divides them where they are not all powers of
  /// two, and products that the knobs' names allow to guess.
  kGuessed,
};

/// The columns of one space: which family a config is of (where there are several), then for each family its
/// columns, 0 in the rows of other families.
///
/// Names are read by the conventions of two programs, in capitals or not. Kernel Tuner: block_size_x, _y and
/// _z are the threads of a block, tile_size_x, _y and _z (or work_per_thread_...) what a thread computes;
/// then threads per block, work per thread, and their products per axis and over the axes are columns.
/// CLBlast's Xgemm: MDIMC x NDIMC threads compute a tile of MWG x NWG, and SA and SB put KWG rows of it into
/// shared memory; then threads, work per thread and axis, loads per thread, and shared elements are columns.
/// A product whose names are not all there is left out.
class KnobFeatures {
 public:
  /// Borrows `space`.
  KnobFeatures(const Space& space, KnobColumns columns);

  /// "MWG", "log2 MWG", "threads", ...; with the family in front where there are several.
  const std::vector<std::string>& names() const { return names_; }
  RowOf rows() const;
  /// The same of a config whose values need not be of the space, as one of another table. CHECKs that family
  /// and knobs are.
  void row_of(const Config& config, std::span<float> row) const;

 private:
  /// A column of a family: the product of knobs to whole powers (-1, 0, 1): as it is, as a logarithm, or log2
  /// of the largest power of two that divides it.
  enum class Form { kValue, kLogarithm, kAlignment };
  struct Column {
    std::vector<std::size_t> times, over;
    Form form = Form::kValue;
  };
  struct Family {
    const FamilySpace* space;
    std::size_t first;  ///< position of its first column
    std::vector<Column> columns;
  };
  void add_guesses(Family& family, const std::string& prefix);
  void add(Family& family, const std::string& name, std::vector<std::size_t> times,
           std::vector<std::size_t> over, Form form = Form::kLogarithm);
  void fill(std::size_t number, const Members& values, std::span<float> row) const;

  std::vector<Family> families_;
  std::vector<std::string> names_;
};

}  // namespace lehr
