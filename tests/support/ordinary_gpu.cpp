#include "tests/support/ordinary_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/support/draw.h"
#include "workload/operator.h"

namespace lehr::testing {
namespace {

using Size = std::int64_t;

/// Types of the operands and of the output, and the precision of the accumulation.
struct Numbers {
  DType operand = DType::kF32, output = DType::kF32;
  Math math = Math::kStrict;
};
constexpr Numbers kF32 = {}, kTf32 = {.math = Math::kTf32}, k3xTf32 = {.math = Math::k3xTf32},
                  kF16 = {DType::kF16, DType::kF16}, kBF16 = {DType::kBF16, DType::kBF16},
                  kS8 = {DType::kS8, DType::kS32}, kE4M3 = {DType::kE4M3, DType::kBF16},
                  kE4M3TwoLevel = {DType::kE4M3, DType::kBF16, Math::kTwoLevel},
                  kE5M2 = {DType::kE5M2, DType::kBF16};

// Each entry is equally likely. The types are the defaults of frameworks and of inference engines.
constexpr Numbers kLinearTypes[] = {kBF16, kBF16, kBF16, kBF16,         kBF16, kBF16, kF16,  kF16,
                                    kF16,  kE4M3, kE4M3, kE4M3TwoLevel, kS8,   kS8,   kTf32, kF32};
constexpr Numbers kAttentionTypes[] = {kBF16, kBF16, kBF16, kBF16, kF16, kF16, kF16, kTf32, kF32};
constexpr Numbers kVisionTypes[] = {kF16, kF16, kF16, kBF16, kBF16, kTf32, kTf32, kF32, k3xTf32, kS8, kE4M3};
constexpr Numbers kTrainingTypes[] = {kBF16, kBF16, kBF16, kBF16, kF16, kF16, kTf32, kTf32, kF32, kE5M2};

// Width, width between the layers of a feed-forward block, number of heads, number of heads of keys and
// values, width of a head, and whether the feed-forward block has a gate. The numbers are from the models'
// configuration files.
struct LanguageModel {
  Size width, between, heads, key_heads, head;
  bool gated;
};
constexpr LanguageModel kLanguageModels[] = {{4096, 11008, 32, 32, 128, true},   // Llama 2 7B
                                             {5120, 13824, 40, 40, 128, true},   // Llama 2 13B
                                             {4096, 14336, 32, 8, 128, true},    // Llama 3 8B, Mistral 7B
                                             {8192, 28672, 64, 8, 128, true},    // Llama 3 70B
                                             {2048, 8192, 32, 8, 64, true},      // Llama 3.2 1B
                                             {3584, 18944, 28, 4, 128, true},    // Qwen2.5 7B
                                             {896, 4864, 14, 2, 64, true},       // Qwen2.5 0.5B
                                             {3584, 14336, 16, 8, 256, true},    // Gemma 2 9B
                                             {3072, 8192, 32, 32, 96, true},     // Phi-3 mini
                                             {4544, 18176, 71, 1, 64, false},    // Falcon 7B
                                             {5120, 20480, 40, 40, 128, false},  // OPT 13B
                                             {1600, 6400, 25, 25, 64, false},    // GPT-2 XL
                                             {1024, 4096, 16, 16, 64, false},    // BERT large
                                             {768, 3072, 12, 12, 64, false}};    // GPT-2, BERT base

struct VisionModel {
  Size width, between, heads, tokens;
};
constexpr VisionModel kVisionModels[] = {{384, 1536, 6, 197},    // ViT-S/16 of 224 x 224
                                         {768, 3072, 12, 197},   // ViT-B/16
                                         {768, 3072, 12, 577},   // ViT-B/16 of 384 x 384
                                         {1024, 4096, 16, 257},  // ViT-L/14 (CLIP, DINOv2)
                                         {1280, 5120, 16, 257},  // ViT-H/14
                                         {1152, 4304, 16, 729},  // SigLIP so400m
                                         {96, 384, 3, 3136},     // Swin-T, first stage
                                         {384, 1536, 12, 196}};  // Swin-T, third stage

Size between(Rng& rng, Size least, Size most) {
  return least + static_cast<Size>(rng.below(static_cast<std::uint64_t>(most - least + 1)));
}

/// Draws a power of two from 1 to `most`.
Size power_of_two(Rng& rng, Size most) {
  Size exponents = 0;
  while ((Size{2} << exponents) <= most) ++exponents;
  return Size{1} << between(rng, 0, exponents);
}

bool is_eight_bit(const Numbers& numbers) {
  return size_of(numbers.operand) == 1;
}

/// Returns C = A B with operands in these `layouts`: n stands for row-major, t for column-major.
Workload product(const Numbers& numbers, std::string_view layouts, Size m, Size n, Size k) {
  const auto layout_of = [](char letter) { return letter == 't' ? Layout::kColumn : Layout::kRow; };
  Gemm gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.a = {numbers.operand, layout_of(layouts[0])};
  gemm.b = {numbers.operand, layout_of(layouts[1])};
  gemm.c = {numbers.output, Layout::kRow};
  gemm.accum = sums_for(numbers.operand);
  gemm.math = numbers.math;
  return {gemm, {}};
}

/// Draws layouts. Weights are stored by output channel, so B is column-major. The few frameworks that store
/// them the other way do so only for types whose operands may have any layout.
std::string_view linear_layouts(Rng& rng, const Numbers& numbers) {
  return !is_eight_bit(numbers) && chance(rng, 0.15) ? "nn" : "nt";
}

void add_epilogue(Rng& rng, Workload& workload, double share, std::string_view epilogue) {
  if (chance(rng, share) && !is_integer(accum_of(workload))) workload.epilogue = parse_epilogue(epilogue);
}

/// Few, since no library of the finals has a product with an epilogue.
constexpr double kFusedProducts = 0.12;

/// Draws a linear layer of a language model with `rows` tokens.
Workload language_layer(Rng& rng, Size rows) {
  const LanguageModel model = one_of(rng, kLanguageModels);
  const Numbers numbers = one_of(rng, kLinearTypes);
  const std::string_view layouts = linear_layouts(rng, numbers);
  switch (rng.below(4)) {
    case 0: {
      const Size columns = (model.heads + 2 * model.key_heads) * model.head;
      Workload qkv = product(numbers, layouts, rows, columns, model.width);
      add_epilogue(rng, qkv, kFusedProducts, "bias");
      return qkv;
    }
    case 1: {
      Workload out = product(numbers, layouts, rows, model.width, model.heads * model.head);
      add_epilogue(rng, out, kFusedProducts, "residual");
      return out;
    }
    case 2: {
      Workload up = product(numbers, layouts, rows, model.between * (model.gated ? 2 : 1), model.width);
      add_epilogue(rng, up, kFusedProducts, model.gated ? "swiglu" : "bias+gelu_tanh");
      return up;
    }
    default:
      return product(numbers, layouts, rows, model.width, model.between);
  }
}

Workload decode(Rng& rng) {
  constexpr Size kRows[] = {1, 1, 1, 2, 4, 8, 16, 16, 24, 32, 48, 64};
  return language_layer(rng, chance(rng, 0.75) ? one_of(rng, kRows) : between(rng, 1, 64));
}

Workload prefill(Rng& rng) {
  constexpr Size kRows[] = {128, 256, 512, 1024, 2048, 2048, 4096, 8192};
  return language_layer(rng, chance(rng, 0.75) ? one_of(rng, kRows) : between(rng, 65, 8192));
}

/// Draws Q K^T, scaled, or the product of the probabilities and V, batched over heads and sequences.
Workload attention(Rng& rng) {
  const LanguageModel model = one_of(rng, kLanguageModels);
  constexpr Size kLengths[] = {128, 197, 256, 384, 512, 577, 1024, 1500, 2048, 4096};
  const Size length = chance(rng, 0.75) ? one_of(rng, kLengths) : between(rng, 64, 4096);
  const Size queries = chance(rng, 0.8) ? length : between(rng, 1, 128);
  const Numbers numbers = one_of(rng, kAttentionTypes);
  const bool scores = chance(rng, 0.5);
  Workload workload = scores ? product(numbers, "nt", queries, length, model.head)
                             : product(numbers, "nn", queries, model.head, length);
  workload.gemm().batch = model.heads * power_of_two(rng, 16);
  if (scores) workload.gemm().alpha = 1 / std::sqrt(static_cast<float>(model.head));
  return workload;
}

/// Draws a linear layer of a vision transformer, or of a classifier after a convolutional network.
Workload vision(Rng& rng) {
  const Numbers numbers = one_of(rng, kVisionTypes);
  const std::string_view layouts = linear_layouts(rng, numbers);
  const Size images = power_of_two(rng, 128);
  if (chance(rng, 0.2)) {
    constexpr std::pair<Size, Size> kClassifiers[] = {{2048, 1000},
                                                      {1280, 1000},
                                                      {25088, 4096},
                                                      {4096, 4096},
                                                      {9216, 4096}};  // ResNet, MobileNet, VGG, AlexNet
    const auto [inputs, outputs] = one_of(rng, kClassifiers);
    return product(numbers, layouts, images, outputs, inputs);
  }
  const VisionModel model = one_of(rng, kVisionModels);
  const Size rows = images * model.tokens;
  Workload up = product(numbers, layouts, rows, model.between, model.width);
  add_epilogue(rng, up, kFusedProducts, "bias+gelu_erf");
  switch (rng.below(4)) {
    case 0:
      return product(numbers, layouts, rows, 3 * model.width, model.width);
    case 1:
      return product(numbers, layouts, rows, model.width, model.width);
    case 2:
      return up;
    default:
      return product(numbers, layouts, rows, model.width, model.between);
  }
}

/// Draws a product of a linear layer's backward pass: the gradients of its inputs or of its weights.
Workload training(Rng& rng) {
  const LanguageModel model = one_of(rng, kLanguageModels);
  constexpr Size kTokens[] = {512, 1024, 2048, 4096, 4096, 8192};
  const Size tokens = one_of(rng, kTokens), outputs = chance(rng, 0.5) ? model.between : model.width;
  const Numbers numbers = one_of(rng, kTrainingTypes);
  if (is_eight_bit(numbers)) return product(numbers, "nt", tokens, model.width, outputs);
  if (chance(rng, 0.4)) return product(numbers, "nn", tokens, model.width, outputs);
  return product(numbers, chance(rng, 0.8) ? "tn" : "tt", outputs, model.width, tokens);
}

// Layout and types of images: half precision with channels last, as frameworks prefer it, and PyTorch's
// default.
struct Images {
  Numbers numbers;
  ImageLayout layout = ImageLayout::kNhwc;
};
constexpr Images kPlainImages = {kF32, ImageLayout::kNchw};
constexpr Images kImageKinds[] = {{kF16},  {kF16}, {kF16}, {kF16},  {kF16},       {kBF16},      {kBF16},
                                  {kBF16}, {kS8},  {kS8},  {kTf32}, kPlainImages, kPlainImages, kPlainImages};
constexpr Images kDepthwiseImages[] = {{kF16}, {kF16}, {kBF16}, kPlainImages};

/// Returns a convolution of square images of `side` pixels. The padding keeps the size if the stride is 1.
Workload convolution(Rng& rng, const Images& images, Size side, Size c, Size k, Size filter) {
  Conv2d conv;
  conv.n = power_of_two(rng, 64);
  conv.h = conv.w = side;
  conv.c = c;
  conv.k = k;
  conv.r = conv.s = filter;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = filter / 2;
  conv.layout = images.layout;
  conv.input = conv.filter = images.numbers.operand;
  conv.output = images.numbers.output;
  conv.accum = sums_for(images.numbers.operand);
  conv.math = images.numbers.math;
  return {conv, {}};
}

void add_usual_epilogue(Rng& rng, Workload& workload) {
  constexpr const char* kEpilogues[] = {"bias", "bias+relu", "bias+silu", "scale_shift+relu",
                                        "scale_shift+residual+relu"};
  add_epilogue(rng, workload, 0.4, one_of(rng, kEpilogues));
}

/// The four stages of ResNet-50. Images have 56 >> stage pixels, and 64 << stage channels in the middle of a
/// block.
struct Stage {
  Size side, width;
};
Stage resnet_stage(Rng& rng) {
  const auto stage = rng.below(4);
  return {Size{56} >> stage, Size{64} << stage};
}

struct Block {
  Size side, in, expanded;
};
// Blocks of MobileNetV2 and EfficientNet-B0: pixels, channels, channels between.
constexpr Block kInvertedBlocks[] = {{112, 16, 96}, {56, 24, 144}, {28, 32, 192}, {28, 40, 240},
                                     {14, 64, 384}, {14, 80, 480}, {14, 96, 576}, {14, 112, 672},
                                     {7, 160, 960}, {7, 192, 1152}};
constexpr Block kUnetBlocks[] = {// U-Net's with the halves of a concatenation, and Stable Diffusion's
                                 {256, 64, 64},  {256, 128, 64}, {128, 128, 128}, {128, 256, 128},
                                 {64, 256, 256}, {64, 512, 256}, {32, 512, 512},  {16, 1024, 512},
                                 {64, 320, 320}, {32, 640, 640}, {16, 1280, 1280}};

Workload conv_1x1(Rng& rng) {
  const Images images = one_of(rng, kImageKinds);
  const auto [side, width] = resnet_stage(rng);
  const Block block = one_of(rng, kInvertedBlocks);
  const Workload choices[] = {convolution(rng, images, side, 4 * width, width, 1),
                              convolution(rng, images, side, width, 4 * width, 1),
                              convolution(rng, images, block.side, block.in, block.expanded, 1),
                              convolution(rng, images, block.side, block.expanded, block.in, 1)};
  Workload workload = one_of(rng, choices);
  add_usual_epilogue(rng, workload);
  return workload;
}

Workload conv_3x3(Rng& rng) {
  const Images images = one_of(rng, kImageKinds);
  const auto [side, width] = resnet_stage(rng);
  const Block block = one_of(rng, kUnetBlocks);
  const bool unet = chance(rng, 0.4);
  Workload workload = unet ? convolution(rng, images, block.side, block.in, block.expanded, 3)
                           : convolution(rng, images, side, width, width, 3);
  if (unet) workload.conv2d().n = std::min<Size>(workload.conv2d().n, 16);
  add_usual_epilogue(rng, workload);
  return workload;
}

/// Draws a convolution whose output has fewer pixels than its input: a first layer, the first layer of a
/// stage, its shortcut, or the patches of a transformer.
Workload conv_strided(Rng& rng) {
  const Images images = one_of(rng, kImageKinds);
  const auto [side, width] = resnet_stage(rng);
  Workload choices[] = {
      convolution(rng, images, 224, 3, 64, 7), convolution(rng, images, 2 * side, width, width, 3),
      convolution(rng, images, 2 * side, 2 * width, 4 * width, 1), convolution(rng, images, 224, 3, 768, 16)};
  for (Workload& each : choices) each.conv2d().stride_h = each.conv2d().stride_w = 2;
  Conv2d& patches = choices[3].conv2d();
  patches.stride_h = patches.stride_w = 16;
  patches.pad_top = patches.pad_bottom = patches.pad_left = patches.pad_right = 0;
  Workload workload = one_of(rng, choices);
  add_usual_epilogue(rng, workload);
  return workload;
}

Workload conv_groups(Rng& rng) {  // ResNeXt-50's, RegNet's
  const auto [side, width] = resnet_stage(rng);
  Workload workload = convolution(rng, one_of(rng, kImageKinds), side, 2 * width, 2 * width, 3);
  constexpr Size kGroups[] = {32, 32, 8, 2};
  workload.conv2d().groups = one_of(rng, kGroups);
  return workload;
}

Workload depthwise(Rng& rng) {
  const Block block = one_of(rng, kInvertedBlocks);
  constexpr Size kFilters[] = {3, 3, 5, 7};
  Workload workload = convolution(rng, one_of(rng, kDepthwiseImages), block.side, block.expanded,
                                  block.expanded, one_of(rng, kFilters));
  Conv2d& conv = workload.conv2d();
  conv.groups = conv.c;
  if (chance(rng, 0.3)) conv.stride_h = conv.stride_w = 2;
  return workload;
}

struct Kind {
  const char* name;
  int of_25;
  Workload (*draw)(Rng& rng);
};
constexpr Kind kKinds[] = {{"decode", 4, &decode},           {"prefill", 4, &prefill},
                           {"attention", 3, &attention},     {"vision", 3, &vision},
                           {"training", 2, &training},       {"conv_1x1", 3, &conv_1x1},
                           {"conv_3x3", 3, &conv_3x3},       {"conv_strided", 1, &conv_strided},
                           {"conv_groups", 1, &conv_groups}, {"depthwise", 1, &depthwise}};

/// True of a workload that takes from some microseconds to some milliseconds on a GPU with 1000 TFLOP/s in 16
/// bits and 60 in f32.
bool has_ordinary_work(const Workload& workload) {
  const bool f32 = tensors_of(workload)[0].type == DType::kF32;
  const double most_flops = !f32 ? 1e12 : math_of(workload) == Math::kTf32 ? 0.5e12 : 0.15e12;
  const double flops = flops_of(workload), bytes = min_bytes_of(workload);
  return flops <= most_flops && bytes <= 1.5e9 && (flops >= 2e9 || bytes >= 8e6);
}

}  // namespace

std::vector<GpuWorkload> ordinary_gpu_workloads(Rng& rng, std::size_t count) {
  std::vector<GpuWorkload> workloads;
  std::vector<Kind> deck;
  while (workloads.size() < count) {
    if (deck.empty()) {
      for (const Kind& kind : kKinds) deck.insert(deck.end(), static_cast<std::size_t>(kind.of_25), kind);
      rng.shuffle(deck);
    }
    Workload workload = deck.back().draw(rng);
    if (!has_ordinary_work(workload)) continue;
    validate(workload);
    workloads.push_back({deck.back().name, std::move(workload)});
    deck.pop_back();
  }
  return workloads;
}

std::string flags_text(const Workload& workload) {
  const OperatorTable& op = operator_of(workload);
  std::string text;
  for (const Field& field : op.fields) {
    std::string value, usual;
    if (field.in_text()) field.append(workload, value);
    if (field.key == "dtype") value = name_of(workload.conv2d().input);
    if (field.in_text() && !field.usual.empty()) field.append(op.usual, usual);
    if (field.is_flag() && !value.empty() && value != usual)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", field.key, value);
  }
  return text;
}

}  // namespace lehr::testing
