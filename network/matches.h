// The workloads of a graph: its convolutions and products, each with the nodes after it that are computed
// together with it, and row expressions between them.
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

/// A constant that a match reads in a form that the file does not have: scales, zero points.
struct MatchConstant {
  DType type = DType::kF32;
  std::vector<std::int64_t> shape;
  std::string bytes;  ///< the elements, little-endian
};

/// A match: the part of the graph that one kernel of a workload replaces.
struct Match {
  /// Nodes that are computed together: the convolution or product first; ascending for a row expression.
  std::vector<std::size_t> nodes;
  /// Nodes before the match whose work it does, too: they dequantize its inputs. Other nodes may read their
  /// outputs. In the order of the graph.
  std::vector<std::size_t> before;
  std::string_view output;  ///< the value that they make; the first one of a row expression
  /// The other outputs of a row expression, in the order of the workload's outputs.
  std::vector<std::string_view> more_outputs = {};
  /// The value for each tensor of the workload except its output, in order. "" if it is made from several
  /// constants, such as a bias into which a normalization is folded.
  std::vector<std::string_view> inputs;
  std::map<std::size_t, MatchConstant> made;  ///< by position of the inputs that are "" in `inputs`
  /// The ones of `nodes` that are linear per channel and precede every step that is not, in order: a
  /// normalization, a factor, a summand. They are folded into the filter (or B) and the bias.
  std::vector<std::size_t> linear;
  /// Such nodes after a step that is not linear. Together they are the step scale_shift, whose operands are
  /// made from their constants.
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
  std::size_t node = 0;  ///< its position in the graph
};

/// The workloads of a graph that kernels can serve, and the gaps.
struct Matches {
  std::vector<MatchedWorkload> workloads;  ///< ordered by total operations, the most first
  std::vector<Gap> gaps;
};

/// A network as it was read, with all that follows from the sizes of its inputs. It may be moved but not
/// copied: its members refer to each other.
struct Network {
  OnnxModel model;
  GraphShapes shapes;  ///< at the largest size of a dimension that has a range
  /// Shapes at other sizes of the range, the least first: enough to see what varies. Empty without a range.
  std::vector<GraphShapes> smaller = {};
  Matches matches;
};

/// Whether a family computes a workload.
using IsServed = std::function<bool(const Workload&)>;

/// Returns the matches of a graph. A convolution takes the pool after it if `is_served` is true for both in
/// one; else the pool stays a node. Without `is_served` all pools are taken. Row expressions are made from
/// nodes that convolutions and products leave; those that `is_served` rejects are neither matches nor gaps.
Matches matches_of(const OnnxModel& model, const GraphShapes& shapes, const IsServed& is_served = {});

/// Returns the matches of a network. If a dimension has a range of sizes, a product in which only m varies
/// becomes a product of that range of rows. A match that varies in another way is a gap.
Matches matches_of(const Network& network, const IsServed& is_served = {});

/// Returns the multiplications and additions of all its matches.
double flops_of(const MatchedWorkload& matched);

}  // namespace lehr
