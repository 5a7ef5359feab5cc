// The winners of a database as one JSON document with their sources: what a build compiles into a deployment.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "codegen/source.h"
#include "deploy/winners.h"
#include "measure/core/device.h"

namespace lehr {

inline constexpr int kBundleVersion = 4;

/// Extents and strides in elements, innermost first.
nlohmann::json to_json(const ir::TensorMap& map);

/// A source as a third party needs it to compile and launch the kernel (codegen/source.h).
nlohmann::json to_json(const Source& source);

struct Bundle {
  std::string text;  ///< the document, indented
  std::size_t kernels = 0;
  std::vector<std::string> skipped;  ///< one sentence for each winner that is not in it
};

/// `here`: this machine's CPU, once for each number of threads. A winner of another CPU or of an older
/// template version is skipped: its source cannot be reproduced.
Bundle make_bundle(std::span<const Winner> winners, std::span<const Device> here,
                   const std::string& tool_version);

/// Writes `text` to `path` so that readers see the old file or the whole new one: a temporary file beside it,
/// flushed to disk, then renamed. Throws Error(kEnvironment) and leaves no temporary file behind.
void write_atomically(const std::string& path, const std::string& text);

}  // namespace lehr
