#include "tests/support/ordinary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/error.h"
#include "tests/support/draw.h"

namespace lehr::testing {
namespace {

using Size = std::int64_t;

// Images, channels and matrices of ResNet, VGG, Inception, MobileNet, EfficientNet, SqueezeNet, YOLO, U-Net,
// BERT, GPT and Llama models, of MNIST and CIFAR, cameras and screens, and of DeepBench.
constexpr Size kImages[] = {1,   2,   3,   4,   5,   6,   7,   8,   9,    10,   12,   13,  14,  15,  16,
                            17,  19,  20,  24,  26,  27,  28,  30,  32,   35,   38,   40,  48,  52,  55,
                            56,  60,  64,  71,  75,  80,  96,  100, 104,  112,  128,  147, 149, 150, 160,
                            192, 200, 208, 224, 227, 240, 256, 299, 300,  320,  331,  380, 384, 416, 448,
                            480, 512, 540, 600, 608, 640, 720, 800, 1024, 1080, 1280, 1920};
constexpr Size kChannels[] = {1,   3,   4,   8,   12,   16,   21,   24,   30,   32,   40,  48,  56,  58,
                              64,  72,  80,  96,  112,  116,  128,  144,  160,  176,  192, 224, 232, 240,
                              256, 272, 288, 320, 336,  384,  448,  464,  480,  512,  528, 576, 640, 672,
                              728, 768, 832, 960, 1024, 1088, 1152, 1280, 1536, 1792, 2048};
constexpr Size kMatrices[] = {
    1,    2,    3,    4,     7,     8,     12,    16,    32,    35,    48,    64,    77,     100,   128,
    133,  197,  200,  256,   300,   384,   400,   512,   577,   640,   700,   768,   1000,   1024,  1280,
    1500, 1536, 1760, 2048,  2304,  2560,  2816,  3000,  3072,  3584,  4096,  5120,  5124,   6144,  7680,
    8192, 8448, 9216, 10240, 11008, 12288, 14336, 16384, 22016, 28672, 32000, 50257, 128256, 262144};
constexpr Size kBatches[] = {1, 1, 1, 1, 2, 4, 8, 12, 16, 32, 64, 128};
constexpr const char* kEpilogues[] = {"bias",
                                      "bias+relu",
                                      "bias+gelu_tanh",
                                      "bias+gelu_erf",
                                      "bias+silu",
                                      "relu",
                                      "scale_shift+relu",
                                      "scale_shift+residual+relu",
                                      "bias+relu6",
                                      "bias+sigmoid",
                                      "bias+residual",
                                      "tanh",
                                      "clamp(-1,6)",
                                      "swiglu",
                                      "geglu",
                                      "bias+relu+maxpool(2)",
                                      "bias+relu+maxpool(3)",
                                      "avgpool(2)",
                                      "avgpool(7)"};

/// Epilogues after s32 sums, as in quantized networks. The output's type follows from the epilogue.
constexpr const char* kIntegerEpilogues[] = {"bias",
                                             "dequant",
                                             "dequant+bias",
                                             "bias+dequant+relu",
                                             "dequant+bias+gelu_erf",
                                             "dequant+bias+residual",
                                             "dequant+quant",
                                             "bias+dequant+quant",
                                             "bias+dequant+relu+quant",
                                             "dequant+bias+relu6+quant",
                                             "dequant+bias+clamp(-1,6)+quant",
                                             "dequant+bias+leaky_relu(0.1)+quant",
                                             "dequant+bias+silu+quant",
                                             "dequant+bias+gelu_tanh+quant",
                                             "dequant+bias+residual(u8)+relu+quant",
                                             "dequant+bias+residual(s8)+quant",
                                             "dequant+bias+relu+maxpool(2)+quant",
                                             "dequant+bias+relu+maxpool(3,2,1)+quant"};

/// Draws a size up to `most`. Small sizes are drawn more often: the logarithm is uniform.
Size log_uniform(Rng& rng, Size most) {
  const double share = static_cast<double>(rng.below(1 << 20)) / (1 << 20);
  return std::clamp<Size>(static_cast<Size>(std::exp2(share * std::log2(static_cast<double>(most) + 1))), 1,
                          most);
}

/// Draws one of the `known` sizes, or sometimes any size.
Size size_of(Rng& rng, std::span<const Size> known, Size most) {
  return chance(rng, 0.75) ? one_of(rng, known) : log_uniform(rng, most);
}

/// Types of operands, output and accumulation. Output and accumulation have the default types or, sometimes,
/// other types that frameworks support.
struct Types {
  DType operand = DType::kF32, output = DType::kF32, accum = DType::kF32;
  Math math = Math::kStrict;
};
Types types_of(Rng& rng, DType operand) {
  Types types = {operand, output_for(operand), sums_for(operand), Math::kStrict};
  if (operand == DType::kBF16 && chance(rng, 0.3)) types.output = DType::kF32;
  return types;
}
Types types_of(Rng& rng) {
  Types types;
  constexpr std::array kOperands = {DType::kF32,  DType::kF32, DType::kF32,  DType::kF16,
                                    DType::kBF16, DType::kS8,  DType::kE4M3, DType::kE5M2};
  types.operand = one_of<DType>(rng, kOperands);
  types.output = output_for(types.operand);
  types.accum = sums_for(types.operand);
  const bool narrow = types.operand != DType::kF32 && types.operand != DType::kS8;
  if (narrow && chance(rng, 0.3)) types.output = chance(rng, 0.5) ? DType::kBF16 : DType::kF32;
  if (types.operand == DType::kF32 && chance(rng, 0.4))
    types.math = chance(rng, 0.5) ? Math::kTf32 : Math::k3xTf32;
  const bool eight = types.operand == DType::kE4M3 || types.operand == DType::kE5M2;
  if (eight && chance(rng, 0.3)) types.math = Math::kTwoLevel;
  return types;
}

Layout layout_of(Rng& rng, double column) {
  return chance(rng, column) ? Layout::kColumn : Layout::kRow;
}

Gemm gemm_of(Rng& rng, const Types& types) {
  const auto extent = [&] { return size_of(rng, kMatrices, 262144); };
  Gemm gemm;
  gemm.m = extent();
  gemm.n = extent();
  gemm.k = extent();
  // Inference and linear classifiers have few rows and few columns.
  if (chance(rng, 0.15)) gemm.m = 1 + static_cast<Size>(rng.below(8));
  if (chance(rng, 0.15)) gemm.n = 1 + static_cast<Size>(rng.below(8));
  gemm.batch = chance(rng, 0.2) ? one_of<Size>(rng, kBatches) : 1;
  gemm.a = {types.operand, layout_of(rng, 0.25)};
  gemm.b = {second_for(types.operand), layout_of(rng, 0.35)};
  gemm.c = {types.output, layout_of(rng, 0.1)};
  gemm.accum = types.accum;
  gemm.math = types.math;
  // Factors with which attention and 8-bit operands are scaled.
  if (!is_integer(types.accum) && chance(rng, 0.1)) gemm.alpha = chance(rng, 0.5) ? 0.125F : 0.00390625F;
  return gemm;
}

Conv2d conv_of(Rng& rng, const Types& types) {
  Conv2d conv;
  conv.n = one_of<Size>(rng, kBatches);
  conv.h = conv.w = size_of(rng, kImages, 4096);
  if (chance(rng, 0.25)) conv.w = size_of(rng, kImages, 4096);
  conv.c = size_of(rng, kChannels, 2048);
  conv.k = size_of(rng, kChannels, 2048);
  constexpr Size kFilters[] = {1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 2, 4, 5, 5, 7, 9, 11};
  conv.r = conv.s = one_of<Size>(rng, kFilters);
  if (chance(rng, 0.12)) conv.s = one_of<Size>(rng, kFilters);
  constexpr Size kStrides[] = {1, 1, 1, 1, 1, 2, 2, 3, 4};
  conv.stride_h = conv.stride_w = one_of<Size>(rng, kStrides);
  if (chance(rng, 0.05)) conv.stride_w = one_of<Size>(rng, kStrides);
  constexpr Size kDilations[] = {2, 2, 3, 4, 6, 12, 18};
  if (chance(rng, 0.1)) conv.dilation_h = conv.dilation_w = one_of<Size>(rng, kDilations);
  if (chance(rng, 0.75)) {  // padding "same", or no padding
    conv.pad_top = conv.pad_bottom = conv.dilation_h * (conv.r - 1) / 2;
    conv.pad_left = conv.pad_right = conv.dilation_w * (conv.s - 1) / 2;
    if (chance(rng, 0.1)) {
      conv.pad_bottom += 1;
      conv.pad_right += 1;
    }
  }
  if (chance(rng, 0.12)) {
    conv.groups = conv.c;
    conv.k = conv.c * (chance(rng, 0.9) ? 1 : 2);
  } else if (chance(rng, 0.1)) {
    constexpr Size kGroups[] = {2, 3, 4, 8, 16, 32};
    conv.groups = one_of<Size>(rng, kGroups);
    conv.c = (conv.c + conv.groups - 1) / conv.groups * conv.groups;
    conv.k = (conv.k + conv.groups - 1) / conv.groups * conv.groups;
  }
  conv.layout = chance(rng, 0.4) ? ImageLayout::kNhwc : ImageLayout::kNchw;
  conv.input = types.operand;
  conv.filter = second_for(types.operand);
  conv.output = types.output;
  conv.accum = types.accum;
  conv.math = types.math;
  return conv;
}

bool is_valid(const Workload& workload) {
  try {
    validate(workload);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Draws an epilogue for integers, with the output type that it makes. Sometimes adds a zero point.
void quantize(Rng& rng, double share_of_epilogues, Workload& workload) {
  if (chance(rng, share_of_epilogues))
    workload.epilogue = parse_epilogue(one_of<const char*>(rng, kIntegerEpilogues));
  DType output = has_dequant(workload.epilogue) ? DType::kF32 : DType::kS32;
  if (has_quant(workload.epilogue)) output = chance(rng, 0.5) ? DType::kU8 : DType::kS8;
  const ZeroPoint zero = chance(rng, 0.5) ? ZeroPoint::kInput : ZeroPoint::kNone;
  if (Gemm* const gemm = std::get_if<Gemm>(&workload.problem)) {
    gemm->c.type = output;
    gemm->zero = zero;
  } else {
    workload.conv2d().output = output;
    workload.conv2d().zero = zero;
  }
}

}  // namespace

Workload ordinary_workload(Rng& rng, const Ordinary& kind) {
  for (;;) {
    const Types types = kind.type ? types_of(rng, *kind.type) : types_of(rng);
    Workload workload;
    if (chance(rng, kind.share_of_gemm))
      workload.problem = gemm_of(rng, types);
    else
      workload.problem = conv_of(rng, types);
    Gemm* const gemm = std::get_if<Gemm>(&workload.problem);
    if (gemm != nullptr && kind.share_of_constant_b > 0)
      gemm->b.constant = chance(rng, kind.share_of_constant_b);
    if (kind.type && is_integer(types.accum))
      quantize(rng, kind.share_of_epilogues, workload);
    else if (chance(rng, kind.share_of_epilogues))
      workload.epilogue = parse_epilogue(one_of<const char*>(rng, kEpilogues));
    if (is_valid(workload) && flops_of(workload) <= kind.most_flops &&
        min_bytes_of(workload) <= kind.most_bytes)
      return workload;
  }
}

}  // namespace lehr::testing
