// A config to measure, and its outcome.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "record/outcome.h"
#include "space/config.h"

namespace lehr {

/// A config that is to be measured, and the proposer that picked it.
struct Pick {
  Config config;
  std::string picked_by;  ///< "default", "trees", "process", "transfer", ... (tune/README.md)
  /// The cost model's score when the config was picked; nullopt: it was picked without a model.
  std::optional<double> predicted;
};

/// One measured config.
struct Trial : Pick {
  Outcome outcome;
  std::string id;  ///< id of its row: unique, 32 hex digits; if empty, the database gives it one
  /// Hash of the source that was measured (codegen/source_hash.h); 0: there was no source.
  std::uint64_t source_hash = 0;

  /// Returns the time in microseconds; nullopt for a failure.
  std::optional<double> time_us() const { return time_of(outcome); }
};

}  // namespace lehr
