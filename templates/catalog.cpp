#include "templates/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "templates/conv1x1_cpu.h"
#include "templates/conv2d_cpu.h"
#include "templates/conv2d_depthwise.h"
#include "templates/conv2d_depthwise_cpu.h"
#include "templates/conv2d_im2col_cpu.h"
#include "templates/conv2d_mma.h"
#include "templates/conv2d_oc_cpu.h"
#include "templates/conv2d_simt.h"
#include "templates/conv2d_wgmma.h"
#include "templates/conv2d_winograd.h"
#include "templates/conv2d_winograd_cpu.h"
#include "templates/gemm_cpu.h"
#include "templates/gemm_dot_cpu.h"
#include "templates/gemm_mma.h"
#include "templates/gemm_simt.h"
#include "templates/gemm_wgmma.h"
#include "templates/gemv_cpu.h"
#include "templates/gemv_simt.h"

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
                                       conv2d_winograd_cpu_template()};
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
  if (window_of(workload.epilogue) > 1 && !entry.pools) return "it stores every pixel: it has no pools";
  return entry.why_not(workload, limits);
}

Space space_for(const Workload& workload, const Limits& limits) {
  std::vector<FamilySpace> families;
  std::string reasons;
  for (const Template& entry : catalog()) {
    if (entry.op != workload.op()) continue;
    if (const auto reason = why_unserved(entry, workload, limits)) {
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", entry.name, *reason);
    } else {
      families.push_back(entry.space(workload, limits));
    }
  }
  if (families.empty())
    throw_user("no kernel family serves '{}' on {} ({})", to_text(workload), limits.arch, reasons);
  return Space(std::move(families));
}

ir::Kernel lower(const Workload& workload, const Config& config, const Limits& limits) {
  return template_named(config.family).lower(workload, config, limits);
}

std::vector<Config> default_configs(const Workload& workload, const Limits& limits) {
  std::vector<Config> defaults;
  for (const Template& entry : catalog()) {
    if (!why_unserved(entry, workload, limits)) defaults.push_back(entry.default_config(workload, limits));
  }
  // The catalogue lists general families first; one made for few rows or for dot products, where it serves
  // the workload, is the better first guess.
  std::reverse(defaults.begin(), defaults.end());
  return defaults;
}

}  // namespace lehr
