// What a convolution, a product or a pool of a graph computes, without the types of its tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "network/onnx.h"
#include "network/shapes.h"
#include "workload/workload.h"

namespace lehr {

using Sizes = std::vector<std::int64_t>;

/// Or why it is no workload, a clause.
template <typename Problem>
using ProblemOr = std::variant<Problem, std::string>;

/// Of a Conv, or of what has its attributes, over images or signals of these shapes; nullopt: not known. A
/// signal is an image of height 1.
ProblemOr<Conv2d> conv_problem(const OnnxNode& node, std::optional<Sizes> image, std::optional<Sizes> filter);
/// Of a Gemm, or of what has its attributes; its C is not looked at.
ProblemOr<Gemm> gemm_problem(const OnnxNode& node, const std::optional<Sizes>& a,
                             const std::optional<Sizes>& b);
/// Of a MatMul.
ProblemOr<Gemm> matmul_problem(const std::optional<Sizes>& a, const std::optional<Sizes>& b);

/// The step that a MaxPool or AveragePool is, of square windows that lie alike over height and width; nullopt
/// for others.
std::optional<EpilogueStep> pool_step(const OnnxNode& node, const std::optional<Sizes>& image,
                                      const std::optional<Sizes>& pooled);

/// Product of sizes [begin, end); -1 where it is too large.
std::int64_t product(const Sizes& sizes, std::size_t begin, std::size_t end);

/// Whether elements go with the channels of an output whose channels are its dimension `axis` from the end
/// (1: the last): (1, c, 1, 1), (c, 1, 1) or, with axis 1, (c).
bool is_per_channel(const Sizes& shape, std::int64_t channels, std::size_t axis);
/// From the end, which dimension has the channels: of images the second, of rows the last.
std::size_t channel_axis(const Workload& workload, std::size_t rank);

}  // namespace lehr
