#include "templates/conv2d/cuda/conv2d_simt.h"

#include <fmt/core.h>

#include <cstdint>

#include "templates/family.h"
#include "templates/gemm/cuda/gemm_simt.h"
#include "templates/gemm/cuda/gemm_simt_space.h"
#include "templates/shared/cuda_common.h"
#include "templates/shared/image_view.h"
#include "templates/shared/product_view.h"

namespace lehr {
namespace {

/// Registers in addition to those of a plain product: for the positions of taps and pixels, in general and
/// for each load that gathers (the compiler computes the positions of a whole tile ahead). Checked by the
/// NVRTC test of the family.
constexpr std::int64_t kViewRegisters = 24, kGatherRegisters = 16;
/// Additional registers if the view leaves out taps of the filter.
constexpr std::int64_t kTrimmedRegisters = 8;
// Largest block tile, and the largest extent along k of all tiles in flight.
constexpr std::int64_t kLargestTile = 256;

/// Returns the number of elements per load for contiguous sequences of `run` elements.
std::int64_t vector_of(std::int64_t run) {
  return run % 4 == 0 ? 4 : run % 2 == 0 ? 2 : 1;
}

GemmSimtForm form_of(const Workload& workload) {
  const ImageView view = image_view_of(workload);
  const Conv2d& conv = view.conv;
  GemmSimtForm form;
  form.problem = product_view(image_product(conv));
  form.gathers_a = conv.layout == ImageLayout::kNhwc;
  (form.gathers_a ? form.vector_a : form.vector_b) = vector_of(image_run(conv));
  (form.gathers_a ? form.vector_b : form.vector_a) = vector_of(filter_run(view));
  form.more_registers = kViewRegisters + (view.is_trimmed() ? kTrimmedRegisters : 0);
  form.registers_per_gather = kGatherRegisters;
  form.pools = window_of(workload.epilogue) > 1;
  return form;
}

std::optional<std::string> why_not(const Workload& workload, const Limits&) {
  const Conv2d& conv = workload.conv2d();
  for (const DType type : {conv.input, conv.filter, conv.output, conv.accum})
    if (type != DType::kF32) return fmt::format("it computes in f32 only, not {}", name_of(type));
  if (auto reason = why_no_view_window(workload)) return reason;
  if (auto reason = cuda::why_no_grid(image_product(conv).gemm())) return reason;
  return why_no_view_indices(conv, kLargestTile);
}

void knobs(Knobs<GemmSimtSchedule>& k, const Workload& workload, const Limits& limits) {
  gemm_simt_form_knobs(k, form_of(workload), limits);
}

GemmSimtSchedule wanted(const Workload& workload, const Limits& limits) {
  return gemm_simt_form_wanted(form_of(workload), limits);
}

ir::Kernel lower_conv2d_simt(const Workload& workload, const GemmSimtSchedule& schedule, const Limits&) {
  return lower_gemm_simt(workload, form_of(workload).problem, schedule);
}

}  // namespace

Template conv2d_simt_template() {
  return family<"conv2d_simt", knobs, wanted, lower_conv2d_simt>({.version = 4,
                                                                  .target = Target::kCuda,
                                                                  .why_not = why_not,
                                                                  .op = Operator::kConv2d,
                                                                  .pools = ServedPools::kApart});
}

}  // namespace lehr
