// The winners of a database as one JSON document with their sources: what a build compiles into a deployment.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "codegen/source.h"
#include "deploy/winners.h"

namespace lehr {

inline constexpr int kBundleVersion = 4;

/// Extents and strides in elements, innermost first.
nlohmann::json to_json(const ir::TensorMap& map);

/// A source as a third party needs it to compile and launch the kernel (codegen/source.h).
nlohmann::json to_json(const Source& source);

/// A winner that is not in a bundle.
struct Skipped {
  std::size_t winner = 0;          ///< its position
  std::string reason;              ///< one sentence that says what to do
  bool remeasuring_helps = false;  ///< its config can still be made, checked and timed: as a new trial
};
struct Bundle {
  std::string text;  ///< the document, indented
  std::size_t kernels = 0;
  std::vector<Skipped> skipped;
};

/// Each winner's kernel is made again with the stored facts of its device, which need not be here. One whose
/// hash is not that of what was measured, or that tells none, is skipped: another kernel never goes under its
/// time.
Bundle make_bundle(std::span<const Winner> winners, const std::string& tool_version);

/// Writes `text` to `path` so that readers see the old file or the whole new one: a temporary file beside it,
/// flushed to disk, then renamed. Throws Error(kEnvironment) and leaves no temporary file behind.
void write_atomically(const std::string& path, const std::string& text);

}  // namespace lehr
