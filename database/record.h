// One trial as stored: a row that stands on its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/core/outcome.h"
#include "space/config.h"

namespace lehr {

struct Record {
  std::string id;        ///< unique, 32 hex digits; given by the database when empty
  std::string workload;  ///< canonical text
  std::string device;    ///< identity text (measure/host/device.h)
  std::string target;    ///< "cpu" or "cuda"
  std::string arch;
  Config config;
  int template_version = 1;
  Outcome outcome;
  std::optional<double> predicted;  ///< the model's score when it was picked; nullopt: picked without a model
  std::string picked_by;            ///< "default", "anneal", "random", "transfer", "resume", ...
  std::string session;              ///< id of the tuner run
  std::uint64_t seed = 0;           ///< of that run
  std::int64_t created_unix_ms = 0;  ///< given by the database when 0
  std::string tool_version;          ///< of lehr
};

}  // namespace lehr
