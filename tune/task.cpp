// Connects the template catalogue and the reference to one task.
#include "tune/task.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "base/error.h"
#include "codegen/emit.h"
#include "codegen/sequence.h"
#include "costmodel/features.h"
#include "costmodel/machine.h"
#include "costmodel/roofline_model.h"
#include "measure/worker/backends.h"
#include "templates/catalog.h"
#include "templates/reference/plain_kernel.h"
#include "templates/shared/epilogue_pass.h"
#include "tune/workload_problem.h"

namespace lehr {

namespace {

std::function<std::optional<Source>(const Config&)> unfused_of(const Task& task) {
  const Limits limits = task.device.limits;
  const Workload fused = *task.workload, plain = {fused.problem, {}};
  if (fused.epilogue.empty() || !limits.target.has(Feature::kHostFunction)) return {};
  // The epilogue's kernel has a fixed number of rows.
  if (fixed_rows(fused) != fused) return {};
  // The epilogue's kernel reads and writes f32: an output of another type could not hold the accumulated
  // values between the two kernels.
  for (const TensorSpec& tensor : tensors_of(fused))
    if (tensor.type != DType::kF32) return {};
  return [fused, plain, limits](const Config& config) -> std::optional<Source> {
    const Template& family = template_named(config.family);
    // A kernel with a pool reads fewer output lines than the plain kernel writes.
    if (why_unserved(family, plain, limits) || !family.space(plain, limits).find(config)) return std::nullopt;
    const ir::Kernel product = with_epilogue_operands(lower(plain, config, limits), fused);
    return in_sequence(emit(product), emit(lower_epilogue_pass(fused, limits, product)));
  };
}

// Orders the defaults by estimate. The catalogue's order does not depend on sizes. It would put a family for
// depthwise filters first for images of one channel, Winograd's first for one output channel, and dot
// products first for any number of rows.
std::vector<Point> by_estimate(const KernelSpace& kernels) {
  if (!machine_of(kernels.limits.target).ranks_defaults) return kernels.defaults;
  RooflineModel model(kernels.limits);
  model.trust_registers();
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < kernels.defaults.size(); ++i)
    order.push_back({model.time_us(featurize(kernels.lower(kernels.defaults[i]), kernels.limits)), i});
  std::sort(order.begin(), order.end());
  std::vector<Point> sorted;
  for (const auto& [time_us, i] : order) sorted.push_back(kernels.defaults[i]);
  return sorted;
}

std::vector<Template> allowed_families(const Task& task) {
  std::vector<Template> families;
  for (const Template& each : catalog())
    if (task.winograd || !each.is_winograd) families.push_back(each);
  return families;
}

}  // namespace

Task task_of(const Workload& workload, Device device, bool winograd, std::optional<SharedLayout> layout) {
  return {asked_problem(workload, 0), std::move(device), workload, winograd, std::move(layout)};
}

void lower_by(std::function<ir::Kernel(const Point&)> lower, const Limits& limits, Candidates& candidates) {
  candidates.columns = feature_table().size();
  candidates.of_kernels = true;
  candidates.source_of = [lower](const Point& point) { return emit(lower(point)); };
  candidates.flops_of = [lower](const Point& point) { return ir::analyze(lower(point)).flops; };
  candidates.row_of = [lower = std::move(lower), limits](const Point& point, std::span<float> row) {
    try {
      featurize(lower(point), limits, row);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  };
}

Candidates candidates_for(const Task& task) {
  CHECK(task.workload.has_value(), "no template knows {}", task.problem.text);
  const Workload& workload = *task.workload;
  const Limits& limits = task.device.limits;
  Families families = families_for(allowed_families(task), workload, limits);
  if (task.layout) keep_layout(families, *task.layout);
  // Shared, since copies of a function that holds the space would copy all of it.
  const auto kernels =
      std::make_shared<const KernelSpace>(kernel_space(std::move(families), workload, limits));
  Candidates candidates = {.space = kernels->space, .defaults = by_estimate(*kernels)};
  lower_by([kernels](const Point& point) { return kernels->lower(point); }, limits, candidates);
  candidates.version_of = [](std::string_view family) { return template_named(family).version; };
  candidates.unfused = unfused_of(task);
  return candidates;
}

std::optional<std::string> why_not_served(const Workload& asked, const Limits& limits,
                                          const std::function<void(const std::string&)>& leave_out) {
  const Workload workload = kernels_of(asked);
  const Families families = families_for(catalog(), workload, limits);
  const std::optional<std::string> none = why_none_serves(families, workload, limits);
  if (none) {
    leave_out(*none);
    return none;
  }
  for (const LeftOut& family : families.faulty)
    leave_out(fmt::format("{} for '{}': {}", family.family, to_text(workload), family.reason));
  return none;
}

std::optional<PlainSource> plain_source(const Task& task) {
  const Limits& limits = task.device.limits;
  if (!task.workload || backend_of(limits.target).check_kernels == nullptr) return std::nullopt;
  const std::optional<PlainKernel> plain = plain_kernel(*task.workload, limits);
  if (!plain) return std::nullopt;
  return PlainSource{emit(plain->kernel), plain->bands};
}

void prepare(Measurer& measurer, const Task& task, std::uint64_t seed) {
  Problem problem = task.problem;
  problem.seed = seed;
  measurer.prepare(problem, other_problem(problem), plain_source(task));
}

std::variant<Source, Failure> try_emit(const Candidates& candidates, const Point& point) {
  try {
    return candidates.source_of(point);
  } catch (const std::exception& error) {  // a failing candidate must not end the session
    return Failure{.kind = FailureKind::kLower,
                   .text = fmt::format("{}: {}", to_text(candidates.space.config_of(point)), error.what()),
                   .resources = {}};
  }
}

}  // namespace lehr
