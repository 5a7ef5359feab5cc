// Fields that were added later, and the code that reads them. Code that is older than a field would ignore
// the field, and compute something other than requested.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "workload/workload.h"

namespace lehr {

/// Explains why a reader cannot compute this workload if it supports only the optional fields
/// (workload/field.h) in `reads`: "it does not know alpha=0.5". Returns nullopt if all other optional fields
/// have their usual values. Kernel families and vendor libraries list the fields that they read. Thus a
/// family that is older than a field refuses workloads with the field.
std::optional<std::string> why_unread(const Workload& workload, std::span<const std::string_view> reads);

/// Explains the same for a call whose rows are known (fixed_rows()).
std::optional<std::string> why_field_unread(const Workload& workload,
                                            std::span<const std::string_view> reads);

}  // namespace lehr
