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

/// A match, and the kernel that replaces it.
struct Replacement {
  const Match* match = nullptr;
  Workload workload;
  int threads = 0;
  /// Whether the kernel does fewer multiplications than the operator's definition (Winograd's algorithm).
  bool is_winograd = false;
  double time_us = 0;  ///< expected time of the kernel
};
/// The kernels that can compute one match, at least one. A kernel that reads and writes values in the graph's
/// own type and layout comes first.
using MatchKernels = std::vector<Replacement>;

/// A match that is not replaced.
struct KeptMatch {
  const Match* match = nullptr;
  std::string reason;  ///< one sentence without a full stop
};

struct RewrittenModel {
  std::string bytes;            ///< the ONNX file
  std::size_t replaced = 0;     ///< number of replaced matches
  std::vector<KeptMatch> kept;  ///< replacements that could not be written
  std::map<const Match*, std::string>
      /// For each replaced match with a filter (or B), the name under which its node reads the filter (or B).
      weights;
  ExternalFiles external;  ///< files that the model still refers to
};

/// The version of the nodes' attributes (plugin/README.md).
inline constexpr std::int64_t kNodeVersion = 4;

/// How nodes are written.
struct NodeForm {
  /// The NAME of the exported library that has the nodes' kernels.
  std::string library = "kernels";
  /// The shapes at the other end of a range of sizes. A dimension whose size differs between the two ends may
  /// have any size at run time. nullptr: there is no range, and all sizes are the sizes that the model was
  /// read with.
  const GraphShapes* other_end = nullptr;
  /// If "", the new nodes replace nodes of the original. If not, all nodes of the original stay, the new
  /// nodes read values of the original, and the names of the new nodes' outputs get this suffix.
  std::string_view beside = {};
};
/// Returns the form of a network's nodes, with the other end of its range if it has one.
NodeForm node_form(const Network& network, std::string library = "kernels");

/// Moves each match that rewrite() would not replace to `matches.gaps`, with the reason. A match whose output
/// has a type that no fused node supports (f16) is not moved, since programs call the kernel of such a match
/// themselves. `matches` must be the matches of `network`.
void leave_out_unwritten(const Network& network, Matches& matches);

/// Rewrites the model. Everything that is not replaced is copied from the file. Constants that no node reads
/// any more are left out, and equal new constants are written once. With a range of sizes, a match is
/// replaced only if the dimensions that vary in its output are also dimensions of its first input. Throws
/// Error(kUser) if the model already has nodes of kFusedDomain. Throws the errors of external_file() for
/// external files.
RewrittenModel rewrite(const OnnxModel& model, const GraphShapes& shapes,
                       std::span<const Replacement> replacements, const NodeForm& form = {});

}  // namespace lehr
