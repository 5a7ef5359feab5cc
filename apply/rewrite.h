// A model in which places are computed by kernels of a bundle: what an inference engine loads in its stead. A
// place becomes one node of the domain "ai.lehr", operator "Fused", whose inputs and outputs are the tensors
// of the workload in their order. What its attributes say is specified in plugin/README.md, with what the
// plug-in makes of it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "network/constants.h"
#include "network/places.h"

namespace lehr {

inline constexpr std::string_view kFusedDomain = "ai.lehr";
/// The operator whose output is of a type: f32, bf16, u8 or s8.
std::string_view fused_operator(DType output);
bool is_fused_operator(std::string_view op);

/// A place to be computed by a kernel.
struct Replacement {
  const NetworkPlace* place = nullptr;
  Workload workload;
  int threads = 0;
  bool saves_products = false;  ///< its kernel does fewer products than the operator's sum has (Winograd's)
  double time_us = 0;           ///< of its kernel, expected
};
/// The kernels that can compute a place, at least one; the one that reads and makes values as the graph has
/// them comes first.
using PlaceKernels = std::vector<Replacement>;

/// A place that stays as it is.
struct KeptPlace {
  const NetworkPlace* place = nullptr;
  std::string reason;  ///< one sentence without a full stop
};

struct RewrittenModel {
  std::string bytes;            ///< of the ONNX file
  std::size_t replaced = 0;     ///< places
  std::vector<KeptPlace> kept;  ///< of the replacements those that could not be written
  std::map<const NetworkPlace*, std::string>
      weights;             ///< of the others, by its name, the filter (or B) that is read, if there is one
  ExternalFiles external;  ///< those that the model still refers to
};

/// The version of the nodes' attributes (plugin/README.md).
inline constexpr std::int64_t kNodeVersion = 4;

/// How nodes are written.
struct NodeForm {
  /// The NAME of the exported library that has their kernels.
  std::string library = "kernels";
  /// The shapes at the other end of a range of sizes: dimensions that differ are any there. nullptr: sizes
  /// are those that the model was read with.
  const GraphShapes* other_end = nullptr;
};
/// Returns the form of a network's nodes, with the other end of its range if it has one.
NodeForm node_form(const Network& network, std::string library = "kernels");

/// Moves the places that rewrite() would keep to the gaps, each with its reason: what is left can be applied.
/// Places of a type that no node makes (f16) stay: programs call their kernels themselves. They were found in
/// the network.
void leave_out_unwritten(const Network& network, NetworkPlaces& places);

/// What is not replaced is copied as the file has it; constants that nobody reads any more are left out, and
/// those that are made are one where they are the same. A place that varies along a range in other dimensions
/// than those that its output has of its first input is kept.
/// Throws Error(kUser) where the model has nodes of kFusedDomain already, and for external files as
/// external_file().
RewrittenModel rewrite(const OnnxModel& model, const GraphShapes& shapes,
                       std::span<const Replacement> replacements, const NodeForm& form = {});

}  // namespace lehr
