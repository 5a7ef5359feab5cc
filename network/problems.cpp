#include "network/problems.h"

#include <fmt/format.h>

#include <algorithm>

#include "workload/operator.h"

namespace lehr {
namespace {

// Returns the windows of a pool with input shape `image` and output shape `pooled`. Returns nullopt if window
// size, stride or padding differs between height and width, if the stride is too large, or if the windows do
// not give the output's shape. If ONNX rounds the output's size up, the last window may end after the padded
// image. The padding after the image is then increased to include the last window.
std::optional<PoolWindows> windows_over(const ImageWindow& window, const Sizes& image, const Sizes& pooled) {
  PoolWindows windows = {window.kernel[0], window.stride[0], window.before[0], window.after[0]};
  if (windows.stride > kMostWindow) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    if (window.kernel[i] != window.kernel[0] || window.stride[i] != window.stride[0] ||
        window.before[i] != window.before[0] || window.after[i] != window.after[0])
      return std::nullopt;
    const std::int64_t end = (pooled[i + 2] - 1) * windows.stride + windows.window - windows.before;
    if (windows.over(image[i + 2]) < pooled[i + 2])
      windows.after = std::max(windows.after, end - image[i + 2]);
  }
  for (std::size_t i = 0; i < 2; ++i)
    if (windows.over(image[i + 2]) != pooled[i + 2]) return std::nullopt;
  return windows;
}

}  // namespace

std::int64_t product(const Sizes& sizes, std::size_t begin, std::size_t end) {
  std::int64_t value = 1;
  for (std::size_t i = begin; i < end; ++i)
    if (__builtin_mul_overflow(value, sizes[i], &value)) return -1;
  return value;
}

bool is_per_channel(const Sizes& shape, std::int64_t channels, std::size_t axis) {
  if (shape.size() < axis || product(shape, 0, shape.size()) != channels) return false;
  return shape[shape.size() - axis] == channels;
}

std::size_t channel_axis(const Workload& workload, std::size_t rank) {
  return images_of(workload) ? rank - 1 : 1;
}

ProblemOr<Conv2d> conv_problem(const OnnxNode& node, std::optional<Sizes> image,
                               std::optional<Sizes> filter) {
  if (!image || !filter) return "its shape is not known";
  if (image->size() < 3 || image->size() > 4 || filter->size() != image->size())
    return fmt::format("its images have {} dimensions", image->size());
  const auto spatial = [](const Sizes& sizes) { return std::vector<Dim>(sizes.begin() + 2, sizes.end()); };
  const auto window = window_of(node, spatial(*image), spatial(*filter));
  if (!window) return "its attributes do not go together";
  for (auto* sizes : {&image, &filter})
    if ((*sizes)->size() == 3) (*sizes)->insert((*sizes)->begin() + 2, 1);
  Conv2d problem;
  problem.n = (*image)[0];
  problem.c = (*image)[1];
  problem.h = (*image)[2];
  problem.w = (*image)[3];
  problem.k = (*filter)[0];
  problem.r = (*filter)[2];
  problem.s = (*filter)[3];
  problem.stride_h = window->stride[0];
  problem.stride_w = window->stride[1];
  problem.dilation_h = window->dilation[0];
  problem.dilation_w = window->dilation[1];
  problem.pad_top = window->before[0];
  problem.pad_left = window->before[1];
  problem.pad_bottom = window->after[0];
  problem.pad_right = window->after[1];
  problem.groups = node.whole("group", 1);
  if (window->kernel[0] != problem.r || window->kernel[1] != problem.s)
    return "its filter is not of the size that it states";
  if (problem.groups < 1 || (*filter)[1] * problem.groups != problem.c)
    return "its groups do not fit its channels";
  return problem;
}

ProblemOr<Gemm> gemm_problem(const OnnxNode& node, const std::optional<Sizes>& a,
                             const std::optional<Sizes>& b) {
  if (!a || !b) return "its shape is not known";
  if (a->size() != 2 || b->size() != 2) return "its operands are no matrices";
  const bool a_turned = node.whole("transA", 0) != 0, b_turned = node.whole("transB", 0) != 0;
  Gemm problem;
  problem.m = (*a)[a_turned ? 1 : 0];
  problem.k = (*a)[a_turned ? 0 : 1];
  problem.n = (*b)[b_turned ? 0 : 1];
  if ((*b)[b_turned ? 1 : 0] != problem.k) return "its operands do not fit";
  problem.alpha = node.number("alpha", 1);
  if (a_turned) problem.a.layout = Layout::kColumn;
  if (b_turned) problem.b.layout = Layout::kColumn;
  return problem;
}

ProblemOr<Gemm> matmul_problem(const std::optional<Sizes>& a, const std::optional<Sizes>& b) {
  if (!a || !b) return "its shape is not known";
  if (a->size() < 2 || b->size() < 2) return "one of its operands is a vector";
  Gemm problem;
  problem.k = a->back();
  problem.n = b->back();
  problem.m = (*a)[a->size() - 2];
  if ((*b)[b->size() - 2] != problem.k) return "its operands do not fit";
  const Sizes a_batch(a->begin(), a->end() - 2), b_batch(b->begin(), b->end() - 2);
  const std::int64_t batch = product(a_batch, 0, a_batch.size());
  if (product(b_batch, 0, b_batch.size()) == 1) {
    // All products of the batch have the same B, so the rows of all A form the rows of one larger product.
    if (__builtin_mul_overflow(problem.m, batch, &problem.m)) return "it is too large";
  } else if (a_batch == b_batch) {
    problem.batch = batch;
  } else {
    return "its operands are broadcast";
  }
  return problem;
}

std::optional<EpilogueStep> pool_step(const OnnxNode& node, const std::optional<Sizes>& image,
                                      const std::optional<Sizes>& pooled) {
  if ((node.op != "MaxPool" && node.op != "AveragePool") || !node.domain.empty() || node.outputs.size() != 1)
    return std::nullopt;
  if (!image || !pooled || image->size() != 4 || pooled->size() != 4) return std::nullopt;
  const auto window = window_of(node, {(*image)[2], (*image)[3]}, {});
  if (!window || window->dilation[0] != 1 || window->dilation[1] != 1) return std::nullopt;
  const auto windows = windows_over(*window, *image, *pooled);
  if (!windows) return std::nullopt;
  return pool_over(node.op == "MaxPool" ? EpilogueOp::kMaxPool : EpilogueOp::kAvgPool, *windows);
}

}  // namespace lehr
