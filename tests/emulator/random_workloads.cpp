#include "random_workloads.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace lehr::testing {
namespace {

constexpr double kMostFlops = 1e6;

template <typename T>
T one_of(Rng& rng, const std::vector<T>& values) {
  return values[rng.below(values.size())];
}

std::int64_t between(Rng& rng, std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most - least + 1)));
}

struct Types {
  DType operand, output, accum;
  Math math;
};

Types random_types(Rng& rng) {
  const DType operand = one_of<DType>(
      rng, {DType::kF32, DType::kF32, DType::kF16, DType::kBF16, DType::kS8, DType::kE4M3, DType::kE5M2});
  if (operand == DType::kS8) return {operand, DType::kS32, DType::kS32, Math::kStrict};
  if (operand == DType::kF32)
    return {operand, operand, operand, one_of<Math>(rng, {Math::kStrict, Math::kTf32, Math::k3xTf32})};
  if (size_of(operand) == 2)
    return {operand, one_of<DType>(rng, {operand, DType::kF32}), DType::kF32, Math::kStrict};
  return {operand, one_of<DType>(rng, {DType::kF32, DType::kF16, DType::kBF16}), DType::kF32,
          one_of<Math>(rng, {Math::kStrict, Math::kTwoLevel})};
}

/// Draws 1, a few, a size near that of a tile, or a size that the lines of the tensor memory accelerator
/// require.
std::int64_t random_extent(Rng& rng, std::int64_t most) {
  switch (rng.below(4)) {
    case 0:
      return between(rng, 1, std::min<std::int64_t>(9, most));
    case 1:
      return between(rng, 1, std::min<std::int64_t>(80, most));
    case 2:
      return 16 * between(rng, 1, most / 16);
    default:
      return between(rng, 1, most);
  }
}

Gemm random_gemm(Rng& rng) {
  const Types types = random_types(rng);
  const auto operand = [&](DType type) {
    return Operand{.type = type, .layout = one_of<Layout>(rng, {Layout::kRow, Layout::kColumn})};
  };
  Gemm gemm;
  gemm.m = random_extent(rng, 160);
  gemm.n = random_extent(rng, 160);
  gemm.k = random_extent(rng, rng.below(3) == 0 ? 2400 : 160);
  gemm.batch = one_of<std::int64_t>(rng, {1, 1, 1, 2, 3});
  gemm.a = operand(types.operand);
  gemm.b = operand(types.operand);
  gemm.c = operand(types.output);
  gemm.accum = types.accum;
  gemm.math = types.math;
  if (!is_integer(types.accum) && rng.below(4) == 0)
    gemm.alpha = static_cast<float>(between(rng, 1, 3000)) / (rng.below(2) == 0 ? 1000 : -2000);
  return gemm;
}

/// Draws numbers of channels, pixels and filters: typical ones of networks, and odd ones.
Conv2d random_convolution(Rng& rng) {
  const Types types = random_types(rng);
  const std::vector<std::int64_t> channels = {1, 2, 3, 3, 4, 5, 8, 12, 16, 21, 23, 24, 32, 48, 64, 100, 192};
  const std::vector<std::int64_t> filters = {1, 1, 2, 3, 3, 3, 4, 5, 7};
  Conv2d conv;
  conv.n = one_of<std::int64_t>(rng, {1, 1, 2, 3});
  conv.h = between(rng, 1, 20);
  conv.w = between(rng, 1, 20);
  conv.c = one_of(rng, channels);
  conv.k = one_of(rng, channels);
  conv.r = one_of(rng, filters);
  conv.s = rng.below(4) == 0 ? one_of(rng, filters) : conv.r;
  conv.stride_h = one_of<std::int64_t>(rng, {1, 1, 1, 2, 3});
  conv.stride_w = rng.below(4) == 0 ? between(rng, 1, 3) : conv.stride_h;
  conv.dilation_h = one_of<std::int64_t>(rng, {1, 1, 1, 2});
  conv.dilation_w = rng.below(4) == 0 ? between(rng, 1, 3) : conv.dilation_h;
  for (std::int64_t* const pad : {&conv.pad_top, &conv.pad_bottom}) *pad = between(rng, 0, conv.r);
  for (std::int64_t* const pad : {&conv.pad_left, &conv.pad_right}) *pad = between(rng, 0, conv.s);
  switch (rng.below(4)) {
    case 0:  // one filter per channel
      conv.groups = conv.k = conv.c;
      break;
    case 1:
      conv.groups = one_of<std::int64_t>(rng, {2, 3, 4});
      conv.c = (conv.c + conv.groups - 1) / conv.groups * conv.groups;
      conv.k = (conv.k + conv.groups - 1) / conv.groups * conv.groups;
      break;
    default:
      break;
  }
  conv.layout = one_of<ImageLayout>(rng, {ImageLayout::kNchw, ImageLayout::kNhwc});
  conv.input = conv.filter = types.operand;
  conv.output = types.output;
  conv.accum = types.accum;
  conv.math = types.math;
  return conv;
}

std::string random_epilogue(Operator op, Rng& rng) {
  const std::vector<std::string> steps = {"bias",  "scale_shift", "residual",   "relu",
                                          "relu6", "gelu_tanh",   "gelu_erf",   "silu",
                                          "tanh",  "sigmoid",     "hard_swish", "leaky_relu(0.1)"};
  const std::vector<std::string> last = op == Operator::kGemm
                                            ? std::vector<std::string>{"", "+swiglu", "+geglu"}
                                            : std::vector<std::string>{"", "", "+maxpool(2)", "+avgpool(2)"};
  std::string text = one_of(rng, steps);
  if (rng.below(2) == 0) text += "+" + one_of(rng, steps);
  return text + one_of(rng, last);
}

/// Returns a workload with drawn fields, or nullopt if the fields do not fit together.
std::optional<Workload> try_workload(Operator op, Rng& rng) {
  Workload workload;
  if (op == Operator::kGemm) {
    workload.problem = random_gemm(rng);
  } else {
    workload.problem = random_convolution(rng);
  }
  try {
    if (rng.below(2) == 0) workload.epilogue = parse_epilogue(random_epilogue(op, rng));
    validate(workload);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUser) throw;
    return std::nullopt;
  }
  return flops_of(workload) <= kMostFlops ? std::optional(workload) : std::nullopt;
}

}  // namespace

Workload random_workload(Operator op, Rng& rng) {
  for (;;)
    if (const auto workload = try_workload(op, rng)) return *workload;
}

}  // namespace lehr::testing
