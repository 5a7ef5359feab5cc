// Finds the workloads of a graph: its convolutions and products, each with the following nodes that the same
// kernel computes, and the row expressions between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "network/onnx.h"
#include "network/shapes.h"
#include "workload/workload.h"

namespace lehr {

/// A constant that a match reads but the file does not have in this form, such as combined scales or zero
/// points.
struct MatchConstant {
  DType type = DType::kF32;
  std::vector<std::int64_t> shape;
  std::string bytes;  ///< the elements, little-endian
};

/// A match: the part of the graph that one kernel of a workload replaces.
struct Match {
  /// Nodes that are computed together: the convolution or product first; ascending for a row expression.
  std::vector<std::size_t> nodes;
  /// Nodes before the match that dequantize its inputs, in the order of the graph. The match does their work,
  /// too, but other nodes may still read their outputs.
  std::vector<std::size_t> before;
  std::string_view output;  ///< the value that the nodes make; the first output of a row expression
  /// All outputs of a row expression but the first, in the order of the workload's outputs.
  std::vector<std::string_view> more_outputs = {};
  /// The value for each tensor of the workload except its output, in order. "" if it is made from several
  /// constants, such as a bias into which a normalization is folded.
  std::vector<std::string_view> inputs;
  std::map<std::size_t, MatchConstant> made;  ///< constants for positions at which `inputs` has ""
  /// Nodes in `nodes` that are linear per channel (a normalization, a factor, a summand) and come before all
  /// other steps, in order. They are folded into the filter (or B) and the bias.
  std::vector<std::size_t> linear;
  /// Nodes in `nodes` that are linear per channel but come after a step that is not linear. Together they
  /// become the step scale_shift, whose operands are made from the nodes' constants.
  std::vector<std::size_t> scaling;
  bool by_rows = false;  ///< whether it is a row expression, which has no filter and no folded operands
};
/// Returns all values that a match makes, in the order of the workload's outputs.
std::vector<std::string_view> outputs_of(const Match& match);

/// A distinct workload of the graph, with its matches.
struct MatchedWorkload {
  Workload workload;
  std::vector<Match> matches;
};

/// A convolution or product that does not become a workload.
struct Gap {
  std::string reason;    ///< a clause
  double flops = 0;      ///< 0 if not known
  std::size_t node = 0;  ///< the node's position in the graph
};

/// The workloads of a graph that kernels can serve, and the convolutions and products that no kernel can
/// serve.
struct Matches {
  std::vector<MatchedWorkload> workloads;  ///< ordered by total operations, the most first
  std::vector<Gap> gaps;
};

/// A model as it was read, with the shapes and matches for the sizes of its inputs. It may be moved but not
/// copied, since its members refer to each other.
struct Network {
  OnnxModel model;
  GraphShapes shapes;  ///< if a dimension has a range, the shapes at its largest size
  /// Shapes at a few smaller sizes of the range, the least size first, which show the dimensions that vary.
  /// Empty if there is no range.
  std::vector<GraphShapes> smaller = {};
  Matches matches;
};

/// Whether a family computes a workload.
using IsServed = std::function<bool(const Workload&)>;

/// Returns the matches of a graph. A convolution includes the pool after it if `is_served` accepts the
/// workload of both; else the pool stays a node. Without `is_served` all pools are included. Row expressions
/// consist of nodes that are not part of convolutions and products. Row expressions that `is_served` rejects
/// are neither matches nor gaps.
Matches matches_of(const OnnxModel& model, const GraphShapes& shapes, const IsServed& is_served = {});

/// Returns the matches of a network. If a dimension has a range of sizes, a product in which only m varies
/// becomes one workload for all numbers of rows in the range. A match that varies in another way is a gap.
Matches matches_of(const Network& network, const IsServed& is_served = {});

/// Returns the number of multiplications and additions of all matches together.
double flops_of(const MatchedWorkload& matched);

}  // namespace lehr
