// Derives the problem that a convolution, a product or a pool of a graph computes, without the types of its
// tensors.
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

/// A problem, or a clause that explains why it cannot be a workload.
template <typename Problem>
using ProblemOr = std::variant<Problem, std::string>;

/// Returns the problem of a Conv, or of another operator with Conv's attributes. `image` and `filter` are the
/// shapes of its inputs; nullopt if they are not known. A signal of one dimension becomes an image of height
/// 1.
ProblemOr<Conv2d> conv_problem(const OnnxNode& node, std::optional<Sizes> image, std::optional<Sizes> filter);
/// Returns the problem of a Gemm, or of another operator with Gemm's attributes. The input C is ignored.
ProblemOr<Gemm> gemm_problem(const OnnxNode& node, const std::optional<Sizes>& a,
                             const std::optional<Sizes>& b);
/// Returns the problem of a MatMul.
ProblemOr<Gemm> matmul_problem(const std::optional<Sizes>& a, const std::optional<Sizes>& b);

/// Returns the step of a MaxPool or AveragePool whose window, stride and padding are the same in height and
/// width; nullopt for other pools.
std::optional<EpilogueStep> pool_step(const OnnxNode& node, const std::optional<Sizes>& image,
                                      const std::optional<Sizes>& pooled);

/// Returns the product of the sizes [begin, end); -1 if it is too large.
std::int64_t product(const Sizes& sizes, std::size_t begin, std::size_t end);

/// Whether a tensor has one element per channel of an output whose channels are the dimension `axis` from the
/// end (1: the last): (1, c, 1, 1), (c, 1, 1) or, with axis 1, (c).
bool is_per_channel(const Sizes& shape, std::int64_t channels, std::size_t axis);
/// Returns the dimension with the channels, counted from the end (1: the last). For images it is the second
/// dimension from the front, for rows the last.
std::size_t channel_axis(const Workload& workload, std::size_t rank);

}  // namespace lehr
