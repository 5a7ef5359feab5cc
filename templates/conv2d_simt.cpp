#include "templates/conv2d_simt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "templates/cuda_common.h"
#include "templates/gemm_simt.h"
#include "templates/gemm_simt_space.h"
#include "templates/image_view.h"

namespace lehr {
namespace {

/// Registers beside a plain product's: the places of the taps and pixels of the loads in flight. Held by the
/// NVRTC test of the family.
constexpr std::int64_t kViewRegisters = 24;
constexpr std::int64_t kLargestTile = 256;  // no tile is larger, along k with the copies ahead of it

Workload as_gemm(const Conv2d& conv) {
  Workload workload;
  Gemm& gemm = workload.gemm();
  gemm.k = conv.products();
  if (conv.layout == ImageLayout::kNchw) {
    gemm.m = conv.k / conv.groups;
    gemm.n = conv.out_h() * conv.out_w();
    gemm.batch = conv.n * conv.groups;
  } else {
    gemm.m = conv.n * conv.out_h() * conv.out_w();
    gemm.n = conv.k;
    gemm.b.layout = Layout::kColumn;
  }
  return workload;
}

GemmSimtForm form_of(const Conv2d& conv) {
  GemmSimtForm form;
  form.problem = cpu::problem_of(as_gemm(conv));
  form.family = "conv2d_simt";
  (conv.layout == ImageLayout::kNchw ? form.vector_b : form.vector_a) = image_vector(conv);
  form.more_registers = kViewRegisters;
  return form;
}

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  if (limits.target != Target::kCuda) return "it is for CUDA devices";
  const Conv2d& conv = workload.conv2d();
  for (const DType type : {conv.input, conv.filter, conv.output, conv.accum})
    if (type != DType::kF32) return fmt::format("it computes in f32 only, not {}", name_of(type));
  if (conv.layout == ImageLayout::kNhwc && conv.groups > 1) return "it takes groups with nchw only";
  const Gemm gemm = as_gemm(conv).gemm();
  if (auto reason = cuda::why_no_grid(gemm)) return reason;
  // Filters and output are matrices of the product; tiles reach beyond the image's view, too.
  Gemm written = gemm;
  written.k = std::min(gemm.k, std::min(gemm.m, gemm.n));
  if (auto reason = cuda::why_no_indices(written, kLargestTile)) return reason;
  const std::int64_t lines = conv.h + conv.r * conv.dilation_h + kLargestTile * conv.stride_h;
  const std::int64_t reach = conv.layout == ImageLayout::kNchw ? kLargestTile : conv.c;
  if (conv.n * conv.c * conv.h * conv.w + lines * (conv.w + conv.s * conv.dilation_w) * reach > INT32_MAX)
    return "the input is too large for 32-bit indices";
  return std::nullopt;
}

FamilySpace space(const Workload& workload, const Limits& limits) {
  return gemm_simt_space_of(form_of(workload.conv2d()), limits);
}

Config default_config(const Workload& workload, const Limits& limits) {
  return gemm_simt_default_of(form_of(workload.conv2d()), limits);
}

ir::Kernel lower_conv2d_simt(const Workload& workload, const Config& config, const Limits&) {
  const Conv2d& conv = workload.conv2d();
  return lower_gemm_simt(form_of(conv).problem, gemm_simt_schedule(config), conv);
}

}  // namespace

Template conv2d_simt_template() {
  return {.name = "conv2d_simt",
          .version = 1,
          .why_not = why_not,
          .space = space,
          .lower = lower_conv2d_simt,
          .default_config = default_config,
          .op = Operator::kConv2d};
}

}  // namespace lehr
