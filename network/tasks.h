// What of a graph is tuned: its convolutions and products, each with what follows and is done in one go, as
// workloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/onnx.h"
#include "network/shapes.h"
#include "workload/workload.h"

namespace lehr {

/// A place of the graph that computes a workload.
struct ModelPlace {
  std::vector<std::size_t> nodes;  ///< those that are computed together, the convolution or product first
  std::string_view output;         ///< the value that they make
  /// Of each tensor of the workload but its output, in order, the value that is read; "" where it is made of
  /// several constants, such as a bias into which a normalization is folded.
  std::vector<std::string_view> inputs;
  /// Of `nodes` those that are linear for each channel and come before anything that is not, in order: a
  /// normalization, a factor, a summand. Their work is in the filter (or B) and the bias.
  std::vector<std::size_t> linear;
  /// The same behind something that is not linear: together they are the step scale_shift, whose operands are
  /// made of their constants.
  std::vector<std::size_t> scaling;
};

/// A distinct workload of the graph.
struct ModelTask {
  Workload workload;
  std::vector<ModelPlace> places;
};

/// A convolution or product that is no workload.
struct ModelGap {
  std::size_t node = 0;
  std::string reason;  ///< a clause
  double flops = 0;    ///< 0 where they are not known
};

struct ModelWork {
  std::vector<ModelTask> tasks;  ///< the ones with most operations in all first
  std::vector<ModelGap> gaps;
};
/// Whether something computes a workload.
using IsServed = std::function<bool(const Workload&)>;

/// A convolution takes the pool behind it where `is_served` says so of the two in one; else the pool stays a node
/// of its own. Without it all pools are taken.
ModelWork work_of(const OnnxModel& model, const ModelShapes& shapes, const IsServed& is_served = {});

/// Multiplications and additions of all places of a task.
double flops_of(const ModelTask& task);

}  // namespace lehr
