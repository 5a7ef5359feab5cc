#include "measure/vendor/onednn/onednn_epilogue.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "measure/core/check.h"
#include "measure/core/element.h"
#include "measure/vendor/vendor_library.h"
#include "workload/epilogue_steps.h"
#include "workload/operator.h"

namespace lehr::onednn {
namespace {

/// Returns a step as the library's eltwise; nullopt if the library has no such eltwise.
std::optional<PostOp> eltwise_of(const EpilogueStep& step) {
  switch (step.op) {
    case EpilogueOp::kRelu:
      return PostOp{kRelu, 0, 0};
    case EpilogueOp::kLeakyRelu:
      return PostOp{kRelu, step.numbers[0], 0};
    case EpilogueOp::kRelu6:
      return PostOp{kClip, 0, 6};
    case EpilogueOp::kClamp:
      return PostOp{kClip, step.numbers[0], step.numbers[1]};
    default:
      return std::nullopt;
  }
}

/// Whether the library is called for step `i` of an epilogue after s32 sums.
bool is_asked(const Epilogue& epilogue, std::size_t i) {
  const EpilogueStep& step = epilogue.steps[i];
  switch (step.op) {
    case EpilogueOp::kDequant:
    case EpilogueOp::kQuant:
    case EpilogueOp::kResidual:
      return true;
    case EpilogueOp::kBias:
      return i == 0 || epilogue.steps[i - 1].op == EpilogueOp::kDequant;
    default:
      return eltwise_of(step).has_value();
  }
}

/// The tensors of a workload by their names.
class Named {
 public:
  Named(const Workload& workload, std::span<void* const> pointers)
      : tensors_(tensors_of(workload)), pointers_(pointers) {}
  std::size_t count(std::string_view name) const { return static_cast<std::size_t>(spec(name).elements); }
  DType type(std::string_view name) const { return spec(name).type; }
  void* data(std::string_view name) const { return pointers_[index(name)]; }
  const float* floats(std::string_view name) const { return static_cast<const float*>(data(name)); }
  /// Returns the value of one element of u8 or s8.
  std::int32_t integer(std::string_view name) const {
    return type(name) == DType::kU8 ? *static_cast<const std::uint8_t*>(data(name))
                                    : *static_cast<const std::int8_t*>(data(name));
  }

 private:
  std::size_t index(std::string_view name) const {
    const auto found = std::ranges::find(tensors_, name, &TensorSpec::name);
    CHECK(found != tensors_.end(), "a tensor {}", name);
    return static_cast<std::size_t>(found - tensors_.begin());
  }
  const TensorSpec& spec(std::string_view name) const { return tensors_[index(name)]; }

  std::vector<TensorSpec> tensors_;
  std::span<void* const> pointers_;
};

/// Returns the bias. The library adds a bias to the scaled values. `scaled_here`: the workload adds the bias
/// before the dequant, so its values are scaled here.
Tensor bias_of(Primitives& primitives, const Named& named, bool scaled_here, const ChannelView& channels) {
  Dims strides(channels.bias.size(), 1);
  if (strides.size() > 1) strides.assign(strides.size(), channels.bias.back());
  strides.back() = 1;
  const DType type = scaled_here ? DType::kF32 : named.type("bias");
  const MemoryDesc desc = primitives.strided(type, channels.bias, strides);
  if (!scaled_here) return {desc, named.data("bias")};
  const auto* const bias = static_cast<const std::int32_t*>(named.data("bias"));
  std::vector<float> values;
  for (std::size_t i = 0; i < named.count("bias"); ++i)
    values.push_back(static_cast<float>(bias[i]) * named.floats("dequant_scale")[i]);
  return {desc, primitives.kept(std::move(values))};
}

}  // namespace

void require_epilogue(const Workload& workload) {
  const Epilogue& epilogue = workload.epilogue;
  if (epilogue.empty()) return;
  if (accum_of(workload) != DType::kS32) {
    if (!images_of(workload)) throw_user("onednn has no call that computes this problem");
    throw_user("onednn is not asked for what follows a convolution");
  }
  for (std::size_t i = 0; i < epilogue.steps.size(); ++i)
    if (!is_asked(epilogue, i))
      throw_user("onednn is not asked for '{}' in epilogue={}", to_text(Epilogue{{epilogue.steps[i]}}),
                 to_text(epilogue));
}

bool has_extras(const Workload& workload) {
  return zero_of(workload) != ZeroPoint::kNone || !workload.epilogue.empty();
}

Extras extras_of(Primitives& primitives, const Workload& workload, std::span<void* const> pointers,
                 const ChannelView& channels, const std::function<MemoryDesc(DType)>& output) {
  const Named named(workload, pointers);
  Extras extras;
  if (zero_of(workload) == ZeroPoint::kInput)
    extras.src_zero = primitives.number(named.integer(tensors_of(workload)[kZeroInput].name));
  const Epilogue& epilogue = workload.epilogue;
  for (std::size_t i = 0; i < epilogue.steps.size(); ++i) {
    const EpilogueStep& step = epilogue.steps[i];
    if (step.op == EpilogueOp::kBias) {
      extras.bias = bias_of(primitives, named, i == 0 && has_dequant(epilogue), channels);
    } else if (step.op == EpilogueOp::kDequant) {
      const auto count = static_cast<std::int64_t>(named.count("dequant_scale"));
      extras.scales = {primitives.strided(DType::kF32, {count}, {1}), named.data("dequant_scale")};
      extras.scaled_dimensions = channels.scales;
    } else if (step.op == EpilogueOp::kQuant) {
      const MemoryDesc desc = primitives.strided(DType::kF32, {1}, {1});
      extras.dst_scale = {desc, primitives.kept({1 / *named.floats("quant_scale")})};
      extras.dst_zero = primitives.number(named.integer("quant_zero"));
    } else if (step.op == EpilogueOp::kResidual) {
      extras.post_ops.push_back({kAdd, 0, 0, {output(named.type("residual")), named.data("residual")}});
    } else {
      extras.post_ops.push_back(eltwise_of(step).value());
    }
  }
  return extras;
}

// After a quant the tolerance is one unit. Without a quant there are few roundings, each of a value no larger
// than the output and its operands together: a scaled s32 bias stays below 16 (workload/integers.cpp).
Problem judged_for_onednn(Problem problem) {
  const Epilogue epilogue = workload_of(problem).epilogue;
  if (!has_dequant(epilogue)) return problem;
  Argument& output = problem.arguments[outputs_of(problem)[0]];
  if (has_quant(epilogue)) {
    output.absolute = std::max(output.absolute, 1.0);
    return problem;
  }
  double largest = 16;
  for (std::int64_t i = 0; i < output.expected_count(); ++i)
    largest = std::max(largest, std::abs(load_element(output.expected_as, output.expected.data(), i)) + 16);
  output.absolute += 0x1p-21 * largest;
  return problem;
}

}  // namespace lehr::onednn
