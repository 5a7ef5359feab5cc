// Fields that came later, and who knows them: code that was written before a field would ignore it, and
// compute something else than was asked for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "workload/workload.h"

namespace lehr {

/// Why whoever heeds of the fields that came later (workload/field.h) only `reads` does not compute this
/// workload: "it does not know alpha=0.5"; nullopt where all others are as usual. Kernel families and vendor
/// libraries say what they read, so that one that is older than a field refuses it by itself.
std::optional<std::string> why_unread(const Workload& workload, std::span<const std::string_view> reads);

/// The same of a call whose rows are known (fixed_rows()).
std::optional<std::string> why_field_unread(const Workload& workload,
                                            std::span<const std::string_view> reads);

}  // namespace lehr
