// Exporting a part of a log's winners. For api/ alone.
#pragma once

#include <set>
#include <string>

#include "api/lehr.h"

namespace lehr::api {

/// export_kernels() of these workloads alone, where any are named. Throws lehr::Error.
Exported export_of(const ExportOptions& options, const std::set<std::string>& workloads);

}  // namespace lehr::api
