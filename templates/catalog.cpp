#include "templates/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "templates/conv2d/cpu/conv1x1_cpu.h"
#include "templates/conv2d/cpu/conv2d_cpu.h"
#include "templates/conv2d/cpu/conv2d_depthwise_cpu.h"
#include "templates/conv2d/cpu/conv2d_im2col_cpu.h"
#include "templates/conv2d/cpu/conv2d_oc_cpu.h"
#include "templates/conv2d/cpu/conv2d_winograd_cpu.h"
#include "templates/conv2d/cuda/conv2d_depthwise.h"
#include "templates/conv2d/cuda/conv2d_mma.h"
#include "templates/conv2d/cuda/conv2d_simt.h"
#include "templates/conv2d/cuda/conv2d_wgmma.h"
#include "templates/conv2d/cuda/conv2d_winograd.h"
#include "templates/gemm/cpu/gemm_cpu.h"
#include "templates/gemm/cpu/gemm_dot_cpu.h"
#include "templates/gemm/cpu/gemv_cpu.h"
#include "templates/gemm/cuda/gemm_mma.h"
#include "templates/gemm/cuda/gemm_simt.h"
#include "templates/gemm/cuda/gemm_wgmma.h"
#include "templates/gemm/cuda/gemv_simt.h"
#include "templates/rowwise/cpu/rowwise_cpu.h"
#include "workload/unread.h"

namespace lehr {

std::span<const Template> catalog() {
  static const std::array templates = {gemm_cpu_template(),
                                       gemm_dot_cpu_template(),
                                       gemv_cpu_template(),
                                       gemm_simt_template(),
                                       gemm_mma_template(),
                                       gemm_wgmma_template(),
                                       gemv_simt_template(),
                                       conv2d_im2col_cpu_template(),
                                       conv2d_cpu_template(),
                                       conv2d_oc_cpu_template(),
                                       conv2d_depthwise_cpu_template(),
                                       conv1x1_cpu_template(),
                                       conv2d_simt_template(),
                                       conv2d_winograd_template(),
                                       conv2d_mma_template(),
                                       conv2d_wgmma_template(),
                                       conv2d_depthwise_template(),
                                       conv2d_winograd_cpu_template(),
                                       rowwise_cpu_template()};
  return templates;
}

const Template& template_named(std::string_view name) {
  for (const Template& entry : catalog()) {
    if (entry.name == name) return entry;
  }
  std::vector<std::string> known;
  for (const Template& entry : catalog()) known.push_back(entry.name);
  const std::string near = closest(name, known);
  throw_user("unknown kernel family '{}'{}; known are {}", name,
             near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(known, ", "));
}

std::optional<std::string> why_unserved(const Template& entry, const Workload& workload,
                                        const Limits& limits) {
  if (entry.op != workload.op()) return "it is for another operator";
  if (entry.target != limits.target) return fmt::format("it is for {} devices", entry.target->title);
  if (auto unread = why_unread(workload, entry.reads)) return unread;
  if (is_integer(accum_of(workload)) && !workload.epilogue.empty() && limits.target.has(Feature::kBlocks))
    return "it has no epilogue of sums in s32";
  const PoolWindows windows = windows_of(workload.epilogue);
  if (windows.window > 1 && entry.pools == ServedPools::kNone)
    return "it stores every pixel: it has no pools";
  if (windows.window > 1 && !windows.are_apart() && entry.pools != ServedPools::kAny)
    return "its pools have windows side by side";
  return entry.why_not(workload, limits);
}

namespace {

/// Adds a family's space and default to `found`, or the reason why the family has no space.
void describe(const Template& entry, const Workload& workload, const Limits& limits, Families& found) {
  try {
    if (auto reason = why_unserved(entry, workload, limits)) {
      found.refusing.push_back({entry.name, std::move(*reason)});
      return;
    }
    FamilySpace space = entry.space(workload, limits);
    Config config = entry.default_in(space, workload, limits);
    if (const auto invalid = space.why_invalid(config)) {
      found.faulty.push_back({entry.name, fmt::format("internal error: its default {} is invalid: {}",
                                                      to_text(config), *invalid)});
      return;
    }
    found.serving.push_back(entry);
    found.spaces.push_back(std::move(space));
    found.defaults.push_back(std::move(config));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInternal) throw;
    found.faulty.push_back({entry.name, error.what()});
  }
}

}  // namespace

Families families_for(std::span<const Template> templates, const Workload& workload, const Limits& limits) {
  Families found;
  for (const Template& entry : templates)
    if (entry.op == workload.op() && entry.target == limits.target) describe(entry, workload, limits, found);
  std::ranges::reverse(found.defaults);
  return found;
}

std::optional<std::string> why_none_serves(const Families& families, const Workload& workload,
                                           const Limits& limits) {
  if (!families.spaces.empty()) return std::nullopt;
  std::vector<std::string> reasons;
  for (const std::vector<LeftOut>* some : {&families.refusing, &families.faulty})
    for (const LeftOut& one : *some) reasons.push_back(fmt::format("{}: {}", one.family, one.reason));
  if (reasons.empty()) reasons.emplace_back("none of its target is for the operator");
  return fmt::format("no kernel family serves '{}' on {} ({})", to_text(workload), limits.arch,
                     fmt::join(reasons, "; "));
}

ir::Kernel KernelSpace::lower(const Point& point) const {
  const Members schedule = space.families()[point.family].members_of(point);
  return families[point.family].lower_schedule(workload, schedule, limits);
}

KernelSpace kernel_space(Families families, const Workload& workload, const Limits& limits) {
  if (const auto reason = why_none_serves(families, workload, limits)) throw_user("{}", *reason);
  KernelSpace kernels = {.workload = workload,
                         .limits = limits,
                         .space = Space(std::move(families.spaces)),
                         .families = std::move(families.serving),
                         .defaults = {}};
  for (const Config& config : families.defaults) kernels.defaults.push_back(kernels.space.point_of(config));
  return kernels;
}

KernelSpace kernel_space(const Workload& workload, const Limits& limits) {
  return kernel_space(families_for(catalog(), workload, limits), workload, limits);
}

ir::Kernel lower(const Workload& workload, const Config& config, const Limits& limits) {
  const Template& entry = template_named(config.family);
  if (const auto reason = why_unserved(entry, workload, limits))
    throw_user("{} does not serve '{}': {}", entry.name, to_text(workload), *reason);
  const FamilySpace space = entry.space(workload, limits);
  // Checked because a point outside of the space might divide by zero in a lowering.
  const std::optional<Point> point = space.find(config);
  if (!point) throw_user("{} is not of this space: {}", to_text(config), *space.why_invalid(config));
  return entry.lower_schedule(workload, space.members_of(*point), limits);
}

}  // namespace lehr
