// A log's facts about the device on which the rows of a task were measured. They are enough to lower the
// rows' configs again, on any machine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "database/record.h"
#include "replay/table.h"
#include "target/archs.h"
#include "templates/catalog.h"

namespace lehr {

/// The devices of a log. The key is Record::device_hash (Database::devices).
using LoggedFacts = std::map<std::uint64_t, StoredDevice>;

/// Returns the workload and the limits of `rows`, which are at least one row, all of one workload on one
/// device. The limits are the facts of the device that the newest row names. Returns nullopt if this version
/// does not know the workload, or if the log lacks a device that a row names.
std::optional<TableOrigin> origin_of(std::span<const Record> rows, const LoggedFacts& facts);

/// Returns the kernels that this version makes from the configs of a table with this origin; nullopt if no
/// family serves the workload any more.
std::optional<KernelSpace> kernels_of(const TableOrigin& origin);

/// Returns the number after "cores=" in an identity such as "... | cores=2 | ..." (record/device.h); 1 if
/// the identity lacks it.
int cores_of(const std::string& identity);

/// Returns a short text that distinguishes devices, "Intel Xeon, 2 cores" or "Intel Xeon as x86-64-v3, 2
/// cores", for an identity (record/device.h).
std::string short_name(const std::string& identity);

/// A filter for rows of a log. "" and 0 allow any value.
struct LoggedDevices {
  std::string target, arch;
  int threads = 0;  ///< threads of a CPU
  Isa isa = {};     ///< instruction set that kernels were made for; native: any
  bool include(const Record& record) const;
};

}  // namespace lehr
