// Reads workloads from logs, and makes short texts of them for tables. A short text is not a key of the log:
// to_text() is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workload/workload.h"

namespace lehr {

/// Returns the workload of a log's text; nullopt for one that this version cannot read.
std::optional<Workload> read_workload(std::string_view text);

/// Returns the text without fields that have their usual values, "gemm m=512 n=512 k=512". parse_workload()
/// reads the same workload from it.
std::string short_text(const Workload& workload);
/// Returns the short text for a workload's text, which may come from a log. Returns a text unchanged if this
/// version cannot read it.
std::string short_text(std::string_view text);

}  // namespace lehr
