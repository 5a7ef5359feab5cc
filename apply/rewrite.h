// Rewrites a model so that kernels of a bundle compute matches; an inference engine loads it instead of the
// original. A match becomes one node of the domain "ai.lehr", operator "Fused", whose inputs and outputs are
// the workload's tensors in their order. Its attributes, and what the plug-in does with them, are specified
// in plugin/README.md.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "network/constants.h"
#include "network/matches.h"

namespace lehr {

inline constexpr std::string_view kFusedDomain = "ai.lehr";
/// Returns the operator whose output has a type: f32, bf16, u8 or s8.
std::string_view fused_operator(DType output);
bool is_fused_operator(std::string_view op);

/// A match that a kernel shall compute.
struct Replacement {
  const Match* match = nullptr;
  Workload workload;
  int threads = 0;
  /// Whether its kernel does fewer products than the operator's sum has (Winograd's).
  bool saves_products = false;
  double time_us = 0;  ///< its kernel's, expected
};
/// The kernels that can compute a match, at least one. The one that reads and makes values in the graph's own
/// form comes first.
using MatchKernels = std::vector<Replacement>;

/// A match that is not replaced.
struct KeptMatch {
  const Match* match = nullptr;
  std::string reason;  ///< one sentence without a full stop
};

struct RewrittenModel {
  std::string bytes;            ///< the ONNX file
  std::size_t replaced = 0;     ///< number of matches
  std::vector<KeptMatch> kept;  ///< replacements that could not be written
  std::map<const Match*, std::string>
      weights;  ///< for each of the others, the name of the filter (or B) that it reads, if it has one
  ExternalFiles external;  ///< files that the model still refers to
};

/// The version of the nodes' attributes (plugin/README.md).
inline constexpr std::int64_t kNodeVersion = 4;

/// How nodes are written.
struct NodeForm {
  /// The NAME of the exported library with their kernels.
  std::string library = "kernels";
  /// The shapes at the other end of a range of sizes: dimensions that differ may have any size. nullptr: the
  /// sizes are those that the model was read with.
  const GraphShapes* other_end = nullptr;
  /// If not "", nodes stand beside the original's and read their values; this suffix is added to the names of
  /// their outputs. "": they replace the original's.
  std::string_view beside = {};
};
/// Returns the form of a network's nodes, with the other end of its range if it has one.
NodeForm node_form(const Network& network, std::string library = "kernels");

/// Moves the matches that rewrite() would keep to the gaps, each with its reason: the rest can be applied.
/// Matches of a type that no node makes (f16) stay, since programs call their kernels themselves. `matches`
/// must be the network's.
void leave_out_unwritten(const Network& network, Matches& matches);

/// Rewrites the model. Everything that is not replaced is copied from the file. Constants that nobody reads
/// any more are left out, and equal new constants are made once. A match is kept if it varies along a range
/// in dimensions of its output other than those it takes from its first input. Throws Error(kUser) if the
/// model already has nodes of kFusedDomain, and for external files as external_file().
RewrittenModel rewrite(const OnnxModel& model, const GraphShapes& shapes,
                       std::span<const Replacement> replacements, const NodeForm& form = {});

}  // namespace lehr
