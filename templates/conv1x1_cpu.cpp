// NCHW with one image: y (k x pixels) = f (k x c) x (c x pixels). NHWC: y (pixels x k) = x (pixels x c) f^T.
#include "templates/conv1x1_cpu.h"

#include <utility>

#include "templates/gemm_cpu.h"
#include "templates/gemm_cpu_space.h"

namespace lehr {
namespace {

constexpr const char* kFamily = "conv1x1_cpu";

Workload as_gemm(const Conv2d& conv) {
  const std::int64_t pixels = conv.n * conv.h * conv.w;
  Workload result;
  Gemm& gemm = result.gemm();
  gemm.k = conv.c;
  const bool nchw = conv.layout == ImageLayout::kNchw;
  gemm.m = nchw ? conv.k : pixels;
  gemm.n = nchw ? pixels : conv.k;
  if (!nchw) gemm.b.layout = Layout::kColumn;
  return result;
}

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  if (limits.target != Target::kCpu) return "made for CPUs";
  const Conv2d& conv = workload.conv2d();
  for (const DType type : {conv.input, conv.filter, conv.output, conv.accum})
    if (type != DType::kF32) return "computes in f32 only";
  const bool plain = conv.r == 1 && conv.s == 1 && conv.stride_h == 1 && conv.stride_w == 1 &&
                     conv.pad_top + conv.pad_bottom + conv.pad_left + conv.pad_right == 0 && conv.groups == 1;
  if (!plain) return "made for 1x1 filters without stride, padding and groups";
  if (conv.layout == ImageLayout::kNchw && conv.n > 1) return "takes nchw images one at a time";
  return std::nullopt;
}

FamilySpace space(const Workload& workload, const Limits& limits) {
  return gemm_cpu_space(as_gemm(workload.conv2d()), limits, kFamily);
}

Config default_config(const Workload& workload, const Limits& limits) {
  return gemm_cpu_default(as_gemm(workload.conv2d()), limits, kFamily);
}

ir::Kernel lower_conv1x1(const Workload& workload, const Config& config, const Limits& limits) {
  ir::Kernel kernel = lower_gemm_cpu(as_gemm(workload.conv2d()), config, limits);
  kernel.name = kFamily;
  // The product's a is the filter where the pixels are columns; the caller's order is input, filter, output.
  if (workload.conv2d().layout == ImageLayout::kNchw) std::swap(kernel.params[0], kernel.params[1]);
  return kernel;
}

}  // namespace

Template conv1x1_cpu_template() {
  return {kFamily, 1, why_not, space, lower_conv1x1, default_config, Operator::kConv2d};
}

}  // namespace lehr
