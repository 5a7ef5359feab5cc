// Fields that were added later, and their readers. Code that is older than a field would ignore it, and
// compute something else than requested.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "workload/workload.h"

namespace lehr {

/// Explains why a reader that supports only the later fields (workload/field.h) in `reads` does not compute
/// this workload: "it does not know alpha=0.5". Returns nullopt if all other fields have usual values. Kernel
/// families and vendor libraries list the fields that they read, so that one that is older than a field
/// refuses it by itself.
std::optional<std::string> why_unread(const Workload& workload, std::span<const std::string_view> reads);

/// Explains the same for a call whose rows are known (fixed_rows()).
std::optional<std::string> why_field_unread(const Workload& workload,
                                            std::span<const std::string_view> reads);

}  // namespace lehr
