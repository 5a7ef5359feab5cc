#include "workload/unread.h"

#include <fmt/core.h>

#include <algorithm>

#include "workload/operator.h"

namespace lehr {

std::optional<std::string> why_unread(const Workload& workload, std::span<const std::string_view> reads) {
  const CallRows rows = call_rows(workload);
  if (rows.least > 0) return "a range of rows is covered by a set of kernels, not by one";
  if (rows.any && std::ranges::find(reads, "rows") == reads.end())
    return "its kernels are for a fixed number of rows";
  return why_field_unread(workload, reads);
}

std::optional<std::string> why_field_unread(const Workload& workload,
                                            std::span<const std::string_view> reads) {
  for (const Field& field : operator_of(workload).fields) {
    if (!field.is_new_in(workload) || std::ranges::find(reads, field.key) != reads.end()) continue;
    std::string value;
    field.append(workload, value);
    return fmt::format("it does not know {}={}", field.key, value);
  }
  return std::nullopt;
}

}  // namespace lehr
