// The facts of a log about the device that a task's rows were measured on: enough to lower their configs
// again, there or anywhere.
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

/// The devices of a log by Record::device_hash (Database::devices).
using LoggedFacts = std::map<std::uint64_t, StoredDevice>;

/// Returns workload and limits of the rows of one workload on one device, at least one row, with the facts of
/// the device that the newest row names. Returns nullopt for a workload that this version does not know, and
/// if the log lacks a device that a row names.
std::optional<TableOrigin> origin_of(std::span<const Record> rows, const LoggedFacts& facts);

/// Returns the kernels that this version makes from the configs of such a table; nullopt if no family serves
/// its workload any more.
std::optional<KernelSpace> kernels_of(const TableOrigin& origin);

/// Returns the number in " | cores=2 | " of an identity (record/device.h); 1 if it has no such part.
int cores_of(const std::string& identity);

/// Returns "Intel Xeon, 2 cores" or "Intel Xeon as x86-64-v3, 2 cores" for an identity (record/device.h): a
/// text that distinguishes devices and still fits in a table.
std::string short_name(const std::string& identity);

/// A filter for rows of a log; "" and 0 mean any.
struct LoggedDevices {
  std::string target, arch;
  int threads = 0;  ///< of CPUs
  Isa isa = {};     ///< that kernels were made for; native: any
  bool include(const Record& record) const;
};

}  // namespace lehr
