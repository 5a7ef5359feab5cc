// What somebody wants measured, and what became of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "record/outcome.h"
#include "space/config.h"

namespace lehr {

/// A config that is to be measured, and who wants it.
struct Pick {
  Config config;
  std::string picked_by;            ///< "default", "trees", "process", "transfer", ... (tune/README.md)
  std::optional<double> predicted;  ///< the model's score when it was picked; nullopt: picked without a model
};

/// One measured config.
struct Trial : Pick {
  Outcome outcome;
  std::string id;  ///< of its row: unique, 32 hex digits; given by the database when empty
  /// Hash of the source that was measured (codegen/source_hash.h); 0: there was none.
  std::uint64_t source_hash = 0;

  /// Microseconds; nullopt when it failed.
  std::optional<double> time_us() const { return time_of(outcome); }
};

}  // namespace lehr
