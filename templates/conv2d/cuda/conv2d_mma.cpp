#include "templates/conv2d/cuda/conv2d_mma.h"

#include <cstdint>

#include "templates/conv2d/cuda/conv2d_wgmma.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_mma.h"
#include "templates/gemm/cuda/gemm_mma_space.h"
#include "templates/shared/image_view.h"

namespace lehr {
namespace {

// Largest block tile, and the largest extent along k of all tiles in flight.
constexpr std::int64_t kLargestTile = 512;

GemmMmaProblem problem_of(const Workload& workload, const Limits& limits) {
  const ImageView view = image_view_of(workload);
  GemmMmaProblem problem = gemm_mma_problem(image_product(view.conv), limits);
  problem.image = view;
  return problem;
}

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  const Conv2d& conv = workload.conv2d();
  if (auto reason = why_no_view_window(workload)) return reason;
  if (conv.groups > 1 && conv.groups == conv.c && conv.groups == conv.k)
    return "one filter per channel is no product of matrices";
  if (conv.layout == ImageLayout::kNchw && window_of(workload.epilogue) > 1)
    return "it pools nhwc images only";
  const Workload product = image_product(conv);
  if (auto reason = why_not_gemm_mma(product.gemm(), limits)) return reason;
  if (auto reason = why_served_by(conv2d_wgmma_template(), conv.input, workload, limits)) return reason;
  return why_no_view_indices(conv, kLargestTile);
}

void knobs(Knobs<GemmMmaSchedule>& k, const Workload& workload, const Limits& limits) {
  gemm_mma_problem_knobs(k, problem_of(workload, limits), limits);
}

GemmMmaSchedule wanted(const Workload& workload, const Limits& limits) {
  return gemm_mma_problem_wanted(problem_of(workload, limits), limits);
}

ir::Kernel lower_conv2d_mma(const Workload& workload, const GemmMmaSchedule& schedule, const Limits& limits) {
  return lower_gemm_mma(workload, problem_of(workload, limits), schedule);
}

}  // namespace

Template conv2d_mma_template() {
  return family<"conv2d_mma", knobs, wanted, lower_conv2d_mma>({.version = 5,
                                                                .target = Target::kCuda,
                                                                .why_not = why_not,
                                                                .op = Operator::kConv2d,
                                                                .pools = ServedPools::kApart});
}

}  // namespace lehr
