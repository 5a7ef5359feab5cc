// One search on a recorded table: the tuner of `tune` with the table in the place of the measurer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/table.h"
#include "tune/knob_features.h"
#include "tune/tuner.h"

namespace lehr {

struct ReplayOptions {
  std::string strategy = "anneal";
  TunerOptions tuner;  ///< as tuner_options(strategy) gives it
  std::size_t trials = 256;
  std::uint64_t seed = 0;
};

/// What a search has to go by on a table, made once for many searches.
class Arena {
 public:
  /// Borrows `table`. Features are those of the kernels where the table is of one of our logs and its configs
  /// can still be lowered, else those of the knobs. `raw_knobs`: the knobs as they are, in any case.
  Arena(const Table& table, bool raw_knobs);

  const Table& table() const { return *table_; }
  const Space& space() const { return space_; }
  const Recorded& recorded() const { return recorded_; }
  std::size_t columns() const { return columns_; }
  const RowOf& row_of() const { return row_of_; }

 private:
  const Table* table_;
  Space space_;
  Recorded recorded_;
  std::unique_ptr<KnobFeatures> knobs_;
  std::size_t columns_ = 0;
  RowOf row_of_;
};

/// Fastest time after each trial, in microseconds; infinity until one has a time. min(trials, rows) long. The
/// same for the same options.
std::vector<double> replay(const Arena& arena, const ReplayOptions& options);

}  // namespace lehr
