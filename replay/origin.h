// What a row of our log tells of the device that it was measured on: enough to lower its config again, there
// or anywhere.
#pragma once

#include <optional>
#include <string>

#include "database/record.h"
#include "replay/table.h"

namespace lehr {

/// Workload and limits of a row. Of a CPU the log keeps the instruction set and the number of cores; cache
/// sizes and rates are those of current server cores, the same wherever the log is read. nullopt for a
/// workload or an architecture that this version does not know.
std::optional<TableOrigin> origin_of(const Record& row);

/// "Intel Xeon, 2 cores" of an identity (measure/core/device.h): what tells devices apart and still fits a table.
std::string short_name(const std::string& identity);

}  // namespace lehr
