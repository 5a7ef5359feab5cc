// Workloads of logs, and their texts as tables show them. Such a text is no key of the log: that is
// to_text().
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workload/workload.h"

namespace lehr {

/// The workload of a log's text; nullopt for one that this version cannot read.
std::optional<Workload> read_workload(std::string_view text);

/// The text without fields that are as usual, "gemm m=512 n=512 k=512": parse_workload() reads it as the same
/// workload.
std::string short_text(const Workload& workload);
/// That of a text, which may be from a log; one that this version cannot read stays as it is.
std::string short_text(std::string_view text);

}  // namespace lehr
