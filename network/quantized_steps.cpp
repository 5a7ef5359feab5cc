#include "network/quantized_steps.h"

#include <string>
#include <utility>

namespace lehr {
namespace {

using Kind = QuantizedStep::Kind;

/// Whether a pool or function may be computed before or after a multiplication by a positive factor.
bool is_free_of_scale(EpilogueOp op) {
  return op == EpilogueOp::kRelu || op == EpilogueOp::kLeakyRelu || op == EpilogueOp::kMaxPool;
}

void add_made(MatchConstant constant, FoundMatch& found) {
  found.match.made.emplace(found.match.inputs.size(), std::move(constant));
  found.match.inputs.push_back({});
}
void add_reals(const std::vector<float>& elements, FoundMatch& found) {
  add_made({DType::kF32,
            {static_cast<std::int64_t>(elements.size())},
            {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(float)}},
           found);
}
void add_step(EpilogueStep step, FoundMatch& found) {
  found.workload.epilogue.steps.push_back(step);
}

/// Returns the unit of the values before these steps: the real number that a value of 1 stands for.
float unit_of(std::span<const QuantizedStep> steps) {
  for (const QuantizedStep& each : steps) {
    if (each.kind == Kind::kCode) return each.quant_params.scale();
    if (each.kind == Kind::kStep && !is_free_of_scale(each.step.op)) return 1;
    if (each.kind == Kind::kResidual && !each.is_quantized) return 1;
  }
  return 1;
}

void add_dequant(const QuantizedSums& sums, float unit, FoundMatch& found) {
  std::vector<float> scales;
  for (std::int64_t i = 0; i < sums.channels; ++i) {
    const std::size_t at = sums.second.is_one() ? 0 : static_cast<std::size_t>(i);
    scales.push_back(sums.first.scale() * sums.second.scales[at] / unit);
  }
  add_step({.op = EpilogueOp::kDequant}, found);
  add_reals(scales, found);
}

void add_bias(std::vector<float> bias, float unit, FoundMatch& found) {
  for (float& element : bias) element /= unit;
  add_step({.op = EpilogueOp::kBias}, found);
  add_reals(bias, found);
}

void add_residual(const QuantizedStep& step, float unit, FoundMatch& found) {
  if (step.is_quantized)
    add_step({.op = EpilogueOp::kQuantizedResidual, .type = dtype_of(step.quant_params)}, found);
  else
    add_step({.op = EpilogueOp::kResidual}, found);
  found.match.inputs.push_back(step.residual);
  if (!step.is_quantized) return;
  add_reals({step.quant_params.scale() / unit}, found);
  add_zero(step.quant_params, found);
}

/// Adds the quantization. `behind` has the steps that follow it. Returns the unit of the values that these
/// steps get.
float add_code(const QuantParams& quant_params, float unit, std::span<const QuantizedStep> behind,
               FoundMatch& found) {
  const float scale = unit == quant_params.scale() ? 1 : unit / quant_params.scale();
  if (behind.empty()) {
    add_step({.op = EpilogueOp::kQuant}, found);
    add_reals({scale}, found);
    add_zero(quant_params, found);
    return unit;
  }
  const float next = unit_of(behind);
  const bool has_sign = quant_params.type == OnnxType::kS8;
  add_step({.op = EpilogueOp::kFakeQuant, .numbers = {has_sign ? -128.0F : 0.0F, has_sign ? 127.0F : 255.0F}},
           found);
  add_reals({scale}, found);
  add_reals({static_cast<float>(quant_params.zero())}, found);
  add_reals({quant_params.scale() / next}, found);
  return next;
}

}  // namespace

DType dtype_of(const QuantParams& quant_params) {
  return *dtype_of(quant_params.type);
}

void add_zero(const QuantParams& quant_params, FoundMatch& found) {
  add_made({dtype_of(quant_params), {1}, std::string(1, static_cast<char>(quant_params.zero()))}, found);
}

void add_steps(const QuantizedSums& sums, std::span<const QuantizedStep> steps, FoundMatch& found) {
  float unit = unit_of(steps);
  if (!sums.bias.empty()) {
    add_step({.op = EpilogueOp::kBias}, found);
    found.match.inputs.push_back(sums.bias);
  }
  add_dequant(sums, unit, found);
  for (; !steps.empty(); steps = steps.subspan(1)) {
    const QuantizedStep& each = steps.front();
    switch (each.kind) {
      case Kind::kStep:
        add_step(each.step, found);
        break;
      case Kind::kBias:
        add_bias(each.bias, unit, found);
        break;
      case Kind::kResidual:
        add_residual(each, unit, found);
        break;
      case Kind::kCode:
        unit = add_code(each.quant_params, unit, steps.subspan(1), found);
    }
  }
}

}  // namespace lehr
