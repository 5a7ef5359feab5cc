// What documents say of a winner and of its kernel: what a third party needs to compile and launch it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "codegen/source.h"
#include "deploy/winners.h"

namespace lehr {

/// Extents and strides in elements, innermost first.
nlohmann::json to_json(const ir::TensorMap& map);

/// A source as a third party needs it to compile and launch the kernel (codegen/source.h).
nlohmann::json to_json(const Source& source);

/// What a document says of a winner, its kernel aside: workload, device, config, time, comparisons, trial.
nlohmann::json to_json(const Winner& winner);

/// Gigaflops per second of a winner; 0 for a workload that this version cannot read.
double gflops_of(const Winner& winner);
/// What `lehr best --json` says of a winner, but for why an export would leave it out.
nlohmann::json told_of(const Winner& winner);

}  // namespace lehr
