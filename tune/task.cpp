// Binds the template catalogue and the reference to one task.
#include "tune/task.h"

#include <exception>
#include <utility>

#include "base/error.h"
#include "codegen/emit.h"
#include "codegen/sequence.h"
#include "templates/catalog.h"
#include "templates/epilogue_pass.h"
#include "templates/reference.h"

namespace lehr {

namespace {

std::function<Source(const Config&)> unfused_of(const Task& task) {
  const Limits limits = task.device.limits;
  if (task.workload.epilogue.empty() || limits.target != Target::kCpu) return {};
  const Workload fused = task.workload, plain = {fused.problem, {}};
  return [fused, plain, limits](const Config& config) {
    return in_sequence(emit(with_epilogue_operands(lower(plain, config, limits), fused)),
                       emit(lower_epilogue_pass(fused, limits)));
  };
}

}  // namespace

Candidates candidates_for(const Task& task) {
  const Workload workload = task.workload;
  const Limits limits = task.device.limits;
  return {.space = space_for(workload, limits),
          .defaults = default_configs(workload, limits),
          .lower = [workload, limits](const Config& config) { return lower(workload, config, limits); },
          .version_of = [](std::string_view family) { return template_named(family).version; },
          .unfused = unfused_of(task)};
}

namespace {

BaselineGemm baseline_of(const Gemm& gemm) {
  return {.m = gemm.m,
          .n = gemm.n,
          .k = gemm.k,
          .batch = gemm.batch,
          .transpose_a = gemm.a.layout == Layout::kColumn,
          .transpose_b = gemm.b.layout == Layout::kColumn,
          .c_column_major = gemm.c.layout == Layout::kColumn,
          .accum = gemm.accum,
          .tf32 = gemm.math == Math::kTf32,
          .fast_accumulation = gemm.math != Math::kTwoLevel};
}

BaselineConv2d baseline_of(const Conv2d& conv) {
  return {.n = conv.n,
          .c = conv.c,
          .h = conv.h,
          .w = conv.w,
          .k = conv.k,
          .r = conv.r,
          .s = conv.s,
          .groups = conv.groups,
          .stride_h = conv.stride_h,
          .stride_w = conv.stride_w,
          .dilation_h = conv.dilation_h,
          .dilation_w = conv.dilation_w,
          .pad_top = conv.pad_top,
          .pad_bottom = conv.pad_bottom,
          .pad_left = conv.pad_left,
          .pad_right = conv.pad_right,
          .out_h = conv.out_h(),
          .out_w = conv.out_w(),
          .nhwc = conv.layout == ImageLayout::kNhwc};
}

}  // namespace

Problem problem_for(const Workload& workload, std::uint64_t seed) {
  Problem problem;
  // The libraries' calls compute no epilogue: without `gemm` and `conv2d` they say that they cannot.
  if (workload.epilogue.empty()) {
    if (workload.op() == Operator::kConv2d)
      problem.conv2d = baseline_of(workload.conv2d());
    else
      problem.gemm = baseline_of(workload.gemm());
  }
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
