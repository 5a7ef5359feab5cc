// Workloads of logs, and their short texts in tables. A short text is not a key of the log: that is
// to_text().
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workload/workload.h"

namespace lehr {

/// Returns the workload of a log's text; nullopt for one that this version cannot read.
std::optional<Workload> read_workload(std::string_view text);

/// Returns the text without fields that have usual values, "gemm m=512 n=512 k=512". parse_workload() reads
/// it as the same workload.
std::string short_text(const Workload& workload);
/// Returns the short text of a text, which may be from a log. One that this version cannot read stays as it
/// is.
std::string short_text(std::string_view text);

}  // namespace lehr
