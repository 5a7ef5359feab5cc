// Documents about a winner and its kernel. They have everything that a third party needs to compile and
// launch the kernel.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "codegen/source.h"
#include "deploy/winners.h"

namespace lehr {

/// Describes a tensor map. Extents and strides are in elements, innermost first.
nlohmann::json to_json(const ir::TensorMap& map);

/// Describes a source, with everything that a third party needs to compile and launch the kernel
/// (codegen/source.h).
nlohmann::json to_json(const Source& source);

/// Describes a winner without its kernel: workload, device, config, time, comparisons, trial.
nlohmann::json to_json(const Winner& winner);

/// Returns the GFLOP/s of a winner; 0 for a workload that this version cannot read.
double gflops_of(const Winner& winner);
/// Returns a winner's document as in `lehr best --json`, but without the reason why an export would leave the
/// winner out.
nlohmann::json report_of(const Winner& winner);

}  // namespace lehr
