// Binds the template catalogue and the reference to one task.
#include "tune/task.h"

#include <exception>
#include <utility>

#include "base/error.h"
#include "codegen/emit.h"
#include "templates/catalog.h"
#include "templates/reference.h"

namespace lehr {

Candidates candidates_for(const Task& task) {
  const Workload workload = task.workload;
  const Limits limits = task.device.limits;
  return {.space = space_for(workload, limits),
          .defaults = default_configs(workload, limits),
          .lower = [workload, limits](const Config& config) { return lower(workload, config, limits); },
          .version_of = [](std::string_view family) { return template_named(family).version; }};
}

Problem problem_for(const Workload& workload, std::uint64_t seed) {
  Problem problem;
  const Gemm& gemm = workload.gemm;
  problem.gemm = BaselineGemm{.m = gemm.m,
                              .n = gemm.n,
                              .k = gemm.k,
                              .batch = gemm.batch,
                              .transpose_a = gemm.a.layout == Layout::kColumn,
                              .transpose_b = gemm.b.layout == Layout::kColumn,
                              .c_column_major = gemm.c.layout == Layout::kColumn,
                              .accum = gemm.accum,
                              .tf32 = gemm.math == Math::kTf32};
  std::vector<std::vector<float>> inputs = make_inputs(workload, seed);
  Reference reference = make_reference(workload, inputs);
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  CHECK(inputs.size() == tensors.size(), "{} inputs for {} tensors", inputs.size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    problem.tensors.push_back({.type = tensors[i].type,
                               .elements = tensors[i].elements,
                               .output = tensors[i].output,
                               .values = std::move(inputs[i])});
  problem.indices = std::move(reference.indices);
  problem.expected = std::move(reference.values);
  problem.tolerance = reference.tolerance;
  return problem;
}

namespace {

/// A template or emitter that throws on one candidate must not end the session (design, decision 8).
template <typename Result, typename Function>
std::variant<Result, Failure> guarded(const Config& config, const Function& function) {
  try {
    return function();
  } catch (const std::exception& error) {
    return Failure{.kind = FailureKind::kLower,
                   .text = fmt::format("{}: {}", to_text(config), error.what()),
                   .resources = {}};
  }
}

}  // namespace

std::variant<ir::Kernel, Failure> try_lower(const Candidates& candidates, const Config& config) {
  return guarded<ir::Kernel>(config, [&] { return candidates.lower(config); });
}

std::variant<Source, Failure> try_emit(const Candidates& candidates, const Config& config) {
  return guarded<Source>(config, [&] { return emit(candidates.lower(config)); });
}

}  // namespace lehr
