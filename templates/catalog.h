// The explicit list of kernel families, and the three questions that everyone else asks of it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "templates/template.h"

namespace lehr {

std::span<const Template> catalog();

/// The template of that name. Throws Error(kUser) naming the known ones.
const Template& template_named(std::string_view name);

/// nullopt if the family serves the workload on the device, else the reason.
std::optional<std::string> why_unserved(const Template& entry, const Workload& workload,
                                        const Limits& limits);

/// The union of all families that serve the workload on the device. Throws Error(kUser) with each family's
/// reason when there is none.
Space space_for(const Workload& workload, const Limits& limits);

/// The AST of a config of that space. CHECKs validity in debug builds only: it is the search's inner loop.
ir::Kernel lower(const Workload& workload, const Config& config, const Limits& limits);

/// One default per family that serves the workload, the most promising first (e.g. the GEMV family first for
/// m = 1).
std::vector<Config> default_configs(const Workload& workload, const Limits& limits);

}  // namespace lehr
