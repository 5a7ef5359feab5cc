// With nhwc, y (pixels x k) = x (pixels x c) f^T. With nchw and one image it is the same product, where x and
// y are stored by columns.
#include "templates/conv2d/cpu/conv1x1_cpu.h"

#include "templates/family.h"
#include "templates/gemm/cpu/gemm_cpu.h"
#include "templates/gemm/cpu/gemm_cpu_space.h"
#include "templates/shared/conv_view.h"
#include "templates/shared/cpu_common.h"

namespace lehr {
namespace {

Workload as_gemm(const Workload& workload) {
  const Conv2d conv = cpu::conv_view(workload).conv;
  Gemm gemm;
  gemm.m = conv.n * conv.h * conv.w;
  gemm.n = conv.k;
  gemm.k = conv.c;
  gemm.b.layout = Layout::kColumn;
  gemm.a.type = conv.input;
  gemm.b.type = conv.filter;
  gemm.c.type = conv.output;
  gemm.accum = conv.accum;
  gemm.zero = conv.zero;
  gemm.b.constant = conv.input != DType::kF32;  // filters in f32 are packed in each block
  if (conv.layout == ImageLayout::kNchw) gemm.a.layout = gemm.c.layout = Layout::kColumn;
  return {gemm, workload.epilogue};
}

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  if (auto reason = cpu::why_no_form(workload, limits)) return reason;
  if (is_gated(workload.epilogue)) return kNoGate;
  const ConvView view = cpu::conv_view(workload);
  const Conv2d& conv = view.conv;
  const bool plain = view.stored_taps == 1 && conv.stride_h == 1 && conv.stride_w == 1 &&
                     conv.pad_top + conv.pad_bottom + conv.pad_left + conv.pad_right == 0 && conv.groups == 1;
  if (!plain) return "made for 1x1 filters without stride, padding and groups";
  if (conv.layout == ImageLayout::kNchw && !cpu::dot_form(workload, limits)->is_plain())
    return "writes pixels that are rows (nhwc), where the operands are not f32";
  if (conv.layout == ImageLayout::kNchw && conv.n > 1) return "takes nchw images one at a time";
  return std::nullopt;
}

void knobs(Knobs<GemmCpuSchedule>& k, const Workload& workload, const Limits& limits) {
  gemm_cpu_knobs(k, as_gemm(workload), limits);
}

// With nchw the planes of the image are the rows of B. If output channels are few, packing them does not pay.
// Without packing but with prefetch, the kernel is faster by a seventh on 56 x 56 x 64 -> 64 and by a tenth
// on 28 x 28 x 512 -> 128, but slower on 56 x 56 x 64 -> 256 and on 112 x 112 x 32 -> 64.
GemmCpuSchedule wanted(const Workload& workload, const Limits& limits) {
  constexpr std::int64_t kFewestOutputs = 48, kMostOutputs = 128, kFewestInputs = 64;
  const Conv2d conv = cpu::conv_view(workload).conv;
  if (conv.layout != ImageLayout::kNchw || conv.k < kFewestOutputs || conv.k > kMostOutputs ||
      conv.c < kFewestInputs || limits.vector_registers < 32)
    return gemm_cpu_wanted(as_gemm(workload), limits);
  return {.threads = cpu::default_threads(workload, limits),
          .split = 1,
          .lanes = cpu::lane_counts(limits).back(),
          .mr = 8,
          .nv = 3,
          .kc = 512,
          .mc = 16,
          .nc = 8,
          .prefetch = 4};
}

ir::Kernel lower_conv1x1(const Workload& workload, const GemmCpuSchedule& schedule, const Limits& limits) {
  ir::Kernel kernel = lower_gemm_cpu(as_gemm(workload), schedule, limits);
  kernel.name = "conv1x1_cpu";
  return kernel;
}

}  // namespace

Template conv1x1_cpu_template() {
  return family<"conv1x1_cpu", knobs, wanted, lower_conv1x1>({.version = 4,
                                                              .target = Target::kCpu,
                                                              .why_not = why_not,
                                                              .op = Operator::kConv2d,
                                                              .reads = {"math", "zero"}});
}

}  // namespace lehr
