// What of a graph is tuned: its convolutions and products, each with what follows and is done in one go, and
// what is computed row by row between them, as workloads.
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

/// What a place reads and the file does not have in the form that it is read in: scales, zero points.
struct PlaceConstant {
  DType type = DType::kF32;
  std::vector<std::int64_t> shape;
  std::string bytes;  ///< of the elements, little-endian
};

/// A place of the graph that computes a workload.
struct NetworkPlace {
  /// Nodes that are computed together: the convolution or product first, those of a row expression ascending.
  std::vector<std::size_t> nodes;
  /// Nodes before it whose work it does, too: they dequantize what it reads as it is. Others may read what
  /// they make. In the order of the graph.
  std::vector<std::size_t> before;
  std::string_view output;  ///< the value that they make, the first one of a row expression
  /// What a row expression makes beside it, in the order of the workload's outputs.
  std::vector<std::string_view> more_outputs = {};
  /// Of each tensor of the workload but its output, in order, the value that is read; "" where it is made of
  /// several constants, such as a bias into which a normalization is folded.
  std::vector<std::string_view> inputs;
  std::map<std::size_t, PlaceConstant> made;  ///< by the number of an input that is "" in `inputs`
  /// Of `nodes` those that are linear for each channel and come before anything that is not, in order: a
  /// normalization, a factor, a summand. Their work is in the filter (or B) and the bias.
  std::vector<std::size_t> linear;
  /// The same behind something that is not linear: together they are the step scale_shift, whose operands are
  /// made of their constants.
  std::vector<std::size_t> scaling;
  bool by_rows = false;  ///< it is a row expression, which has no filter and nothing folded into its operands
};
/// All values that a place makes, in the order of the workload's outputs.
std::vector<std::string_view> outputs_of(const NetworkPlace& place);

/// A distinct workload of the graph, and where it is computed.
struct PlacedWorkload {
  Workload workload;
  std::vector<NetworkPlace> places;
};

/// A convolution or product that is no workload.
struct Gap {
  std::string reason;    ///< a clause
  double flops = 0;      ///< 0 where they are not known
  std::size_t node = 0;  ///< its number
};

/// What of a graph kernels can serve, and what not.
struct NetworkPlaces {
  std::vector<PlacedWorkload> workloads;  ///< the ones with most operations in all first
  std::vector<Gap> gaps;
};

/// A network as it was read, with what follows from the sizes of its inputs. To be moved, not copied: they
/// refer to each other.
struct Network {
  OnnxModel model;
  GraphShapes shapes;  ///< where a dimension has a range of sizes, at the largest
  /// The same at others of the range, the least first, enough to tell what varies; empty: no range is stated.
  std::vector<GraphShapes> smaller = {};
  NetworkPlaces places;
};

/// Whether something computes a workload.
using IsServed = std::function<bool(const Workload&)>;

/// A convolution takes the pool behind it where `is_served` says so of the two in one; else the pool stays a
/// node of its own. Without it all pools are taken. Row expressions are made of what convolutions and
/// products leave; those that `is_served` does not say are no places, and no gaps.
NetworkPlaces places_of(const OnnxModel& model, const GraphShapes& shapes, const IsServed& is_served = {});

/// The same of a network. Where a dimension has a range of sizes, a product of which nothing but m varies is
/// a product of that range of rows; what varies in another way is a gap.
NetworkPlaces places_of(const Network& network, const IsServed& is_served = {});

/// Multiplications and additions of all its places.
double flops_of(const PlacedWorkload& placed);

}  // namespace lehr
