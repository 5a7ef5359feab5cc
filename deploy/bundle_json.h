// The winners of a database as one JSON document with their sources: what a build compiles into a deployment.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "codegen/source.h"
#include "deploy/rebuild.h"

namespace lehr {

inline constexpr int kBundleVersion = 4;

/// Extents and strides in elements, innermost first.
nlohmann::json to_json(const ir::TensorMap& map);

/// A source as a third party needs it to compile and launch the kernel (codegen/source.h).
nlohmann::json to_json(const Source& source);

/// What a document says of a winner, its kernel aside: workload, device, config, time, comparisons, trial.
nlohmann::json to_json(const Winner& winner);

/// The document, indented.
std::string bundle_json(std::span<const RebuiltKernel> kernels, const std::string& tool_version);

/// Throws Error(kUser) where `path` names a file with anything else in it than a document of winners.
void check_is_bundle_json(const std::string& path);

}  // namespace lehr
