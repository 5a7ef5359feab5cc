// Documents about a winner and its kernel, with what a third party needs to compile and launch it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "codegen/source.h"
#include "deploy/winners.h"

namespace lehr {

/// Writes extents and strides in elements, innermost first.
nlohmann::json to_json(const ir::TensorMap& map);

/// Writes a source with what a third party needs to compile and launch the kernel (codegen/source.h).
nlohmann::json to_json(const Source& source);

/// Writes a winner without its kernel: workload, device, config, time, comparisons, trial.
nlohmann::json to_json(const Winner& winner);

/// Returns the GFLOP/s of a winner; 0 for a workload that this version cannot read.
double gflops_of(const Winner& winner);
/// Returns a winner's document in `lehr best --json`, without the reason why an export would leave it out.
nlohmann::json told_of(const Winner& winner);

}  // namespace lehr
