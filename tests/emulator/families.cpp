#include "families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "templates/shared/conv_view.h"
#include "tests/support/sample_config.h"

namespace lehr::testing {
namespace {

struct Types {
  DType a, b, c, accum;
  Math math;
};

Workload workload_of(const Types& types, int layouts, const Shape& shape) {
  const auto layout = [&](int bit) { return (layouts >> bit & 1) != 0 ? Layout::kColumn : Layout::kRow; };
  Workload workload;
  workload.gemm() = {.m = shape.m,
                     .n = shape.n,
                     .k = shape.k,
                     .batch = shape.batch,
                     .a = {types.a, layout(0)},
                     .b = {types.b, layout(1)},
                     .c = {types.c, layout(2)},
                     .accum = types.accum,
                     .math = types.math};
  return workload;
}

/// Returns all combinations of types that a workload may have.
std::vector<Types> all_types() {
  std::vector<Types> all;
  for (const DType a : all_dtypes()) {
    for (const DType b : all_dtypes()) {
      for (const DType c : all_dtypes()) {
        for (const DType accum : all_dtypes()) all.push_back({a, b, c, accum, Math::kStrict});
      }
    }
  }
  constexpr DType kF32 = DType::kF32;
  for (const Math math : {Math::k3xTf32, Math::kTf32}) all.push_back({kF32, kF32, kF32, kF32, math});
  for (const DType operand : {DType::kE4M3, DType::kE5M2})
    for (const DType c : all_dtypes()) all.push_back({operand, operand, c, kF32, Math::kTwoLevel});
  return all;
}

/// Returns the architectures on which the family serves the workload.
std::vector<Limits> serving(const Template& family, const Workload& workload) {
  std::vector<Limits> limits;
  for (const std::string& arch : known_cuda_archs()) {
    const Limits each = cuda_limits(arch);
    if (!why_unserved(family, workload, each)) limits.push_back(each);
  }
  return limits;
}

/// Returns the first workload that the family serves on one of two architectures, which together have the
/// features of all architectures. The shapes are tried from shape `first` on, and then from the beginning.
std::optional<Workload> first_served(const Template& family, const Types& types, int layouts,
                                     const std::vector<Shape>& shapes, std::size_t first) {
  static const std::array able = {cuda_limits("sm_90a"), cuda_limits("sm_120")};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Workload workload = workload_of(types, layouts, shapes[(first + i) % shapes.size()]);
    for (const Limits& limits : able)
      if (!why_unserved(family, workload, limits)) return workload;
  }
  return std::nullopt;
}

using Operands = std::vector<std::pair<Types, int>>;  ///< types and layouts

/// Returns every combination of types and layouts that the family serves for one of the shapes. The family is
/// asked about a million times, so the results are kept.
const Operands& served_operands(const Template& family, const std::vector<Shape>& shapes) {
  static std::map<std::pair<const Template*, std::vector<Shape>>, Operands> kept;
  const auto [at, is_new] = kept.try_emplace({&family, shapes});
  if (!is_new) return at->second;
  for (const Types& types : all_types()) {
    for (int layouts = 0; layouts < 8; ++layouts) {
      if (first_served(family, types, layouts, shapes, 0)) at->second.push_back({types, layouts});
    }
  }
  return at->second;
}

/// Returns the positions of the shapes whose k is at least half of the longest k.
std::vector<std::size_t> long_shapes(const std::vector<Shape>& shapes) {
  std::int64_t longest = 0;
  for (const Shape& shape : shapes) longest = std::max(longest, shape.k);
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (2 * shapes[i].k >= longest) numbers.push_back(i);
  return numbers;
}

/// Draws a config of the space. Among a few draws it prefers a config that splits k.
std::optional<Config> sample_split(const FamilySpace& space, Rng& rng) {
  std::optional<Config> config;
  for (int draw = 0; draw < 40; ++draw) {
    config = testing::sample_config(space, rng);
    if (!config || splits_k(*config)) break;
  }
  return config;
}

/// Adds configs that split k for types without such a config among `samples`, if the family can split k.
void add_splits(const Template& family, const Operands& served, const std::vector<Shape>& shapes,
                std::vector<Sample>& samples, Rng& rng) {
  const auto kind_of = [](const Workload& w) { return std::pair(w.gemm().a.type, w.gemm().math); };
  for (const auto& [types, layouts] : served) {
    for (const std::size_t shape : long_shapes(shapes)) {
      const Workload workload = workload_of(types, layouts, shapes[shape]);
      const bool has = std::any_of(samples.begin(), samples.end(), [&](const Sample& sample) {
        return kind_of(sample.workload) == kind_of(workload) && splits_k(sample.config);
      });
      if (has) continue;
      const std::vector<Limits> limits = serving(family, workload);
      if (limits.empty()) continue;
      const std::optional<Config> config = sample_split(family.space(workload, limits.back()), rng);
      if (config && splits_k(*config)) samples.push_back({&family, workload, limits.back(), *config});
    }
  }
}

/// Returns convolutions with strides, paddings that differ by side, dilation, groups, depthwise filters,
/// images of one pixel, and both layouts. The last ones have many products per output and few outputs.
const std::vector<Workload>& convolutions() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> workloads;
    for (const char* const text :
         {"h=1 w=1 c=1 k=1 r=1 s=1",
          "h=7 w=9 c=5 k=7 r=3 s=3 pad=1",
          "h=11 w=13 c=3 k=40 r=7 s=7 stride=2 pad=3",
          "n=3 h=8 w=6 c=4 k=5 r=3 s=2 stride=1x2 pad=1x0",
          "h=14 w=15 c=6 k=33 r=3 s=3 pad=2 dilation=2",
          "h=9 w=21 c=2 k=3 r=2 s=5 stride=3x1 pad=0x2x1x4 dilation=2x1",
          "n=2 h=10 w=10 c=12 k=18 r=3 s=3 pad=1 groups=3",
          "h=13 w=12 c=16 k=16 r=3 s=3 stride=2 pad=1 groups=16",
          "h=10 w=17 c=33 k=20 r=1 s=1 stride=2",
          "h=3 w=4 c=2 k=3 r=5 s=5 stride=4 pad=4 dilation=2",
          "n=2 h=5 w=7 c=19 k=40 r=1 s=1 layout=nhwc",
          "n=2 h=9 w=8 c=8 k=36 r=3 s=3 pad=1 layout=nhwc",
          "h=12 w=9 c=6 k=10 r=3 s=2 stride=2x1 pad=0x1x2x0 layout=nhwc",
          "h=17 w=16 c=3 k=20 r=5 s=5 stride=2 layout=nhwc",
          "h=3 w=3 c=160 k=24 r=3 s=3 pad=1",
          "n=3 h=9 w=14 c=3 k=37 r=3 s=3 pad=0x2x1x2",
          "h=13 w=10 c=21 k=70 r=3 s=3",
          "n=2 h=6 w=11 c=96 k=19 r=3 s=3 pad=2x0x0x1 layout=nhwc",
          "h=12 w=12 c=64 k=32 r=3 s=3 pad=1",
          "h=4 w=2 c=192 k=20 r=3 s=3 pad=2 dilation=2 layout=nhwc",
          "n=2 h=2 w=5 c=256 k=34 r=3 s=3 pad=1 groups=2",
          "n=2 h=9 w=11 c=7 k=7 r=3 s=3 pad=1 groups=7",
          "h=15 w=13 c=12 k=12 r=5 s=5 stride=2 pad=2 groups=12 layout=nhwc",
          "n=2 h=8 w=9 c=24 k=24 r=3 s=3 pad=1x0x2x1 groups=24 layout=nhwc x=f16 f=f16 y=f16",
          "h=10 w=7 c=16 k=16 r=3 s=5 stride=1x2 dilation=2x1 groups=16 x=bf16 f=bf16 y=bf16",
          "h=9 w=9 c=6 k=6 r=7 s=7 pad=3 groups=6 layout=nhwc x=bf16 f=bf16 y=bf16",
          "n=2 h=9 w=7 c=16 k=40 r=3 s=3 pad=1 layout=nhwc x=f16 f=f16 y=f16",
          "h=11 w=12 c=3 k=24 r=7 s=7 stride=2 pad=3 layout=nhwc x=bf16 f=bf16 y=f32",
          "h=10 w=6 c=6 k=17 r=3 s=2 stride=2x1 pad=0x1x2x0 dilation=1x2 layout=nhwc x=bf16 f=bf16 y=bf16",
          "n=3 h=5 w=5 c=20 k=33 r=1 s=1 stride=2 layout=nhwc x=f16 f=f16 y=f32",
          "h=4 w=3 c=160 k=24 r=3 s=3 pad=1 layout=nhwc x=bf16 f=bf16 y=bf16",
          "n=2 h=3 w=2 c=256 k=24 r=3 s=3 pad=1 layout=nhwc x=s8 f=s8 y=s32 accum=s32",
          "h=4 w=5 c=248 k=16 r=3 s=3 layout=nhwc x=e4m3 f=e4m3 y=bf16",
          "h=3 w=4 c=192 k=24 r=3 s=3 pad=1 layout=nhwc x=f16 f=f16 y=f32",
          "n=3 h=11 w=9 c=24 k=40 r=3 s=2 stride=2x1 pad=1x0x2x1 dilation=1x2 layout=nhwc x=bf16 f=bf16 "
          "y=bf16",
          "n=9 h=8 w=7 c=72 k=24 r=2 s=3 stride=3x2 pad=0x1x1x3 layout=nhwc x=f16 f=f16 y=f16",
          "n=2 h=7 w=6 c=1040 k=33 r=1 s=1 stride=2 layout=nhwc x=e5m2 f=e5m2 y=f16",
          "n=2 h=6 w=13 c=40 k=130 r=1 s=1 layout=nhwc x=bf16 f=bf16 y=f32",
          "h=12 w=13 c=144 k=72 r=3 s=3 pad=2 dilation=2 layout=nhwc x=e4m3 f=e4m3 y=bf16",
          "h=14 w=19 c=16 k=264 r=5 s=5 pad=2 layout=nhwc x=bf16 f=bf16 y=bf16",
          "n=2 h=7 w=9 c=12 k=24 r=3 s=3 pad=1 layout=nhwc math=tf32",
          "h=9 w=8 c=5 k=17 r=3 s=2 stride=2x1 pad=0x1x2x0 layout=nhwc math=tf32",
          "n=2 h=6 w=7 c=36 k=40 r=3 s=3 pad=2 dilation=2 layout=nhwc math=tf32",
          "h=3 w=4 c=200 k=20 r=3 s=3 pad=1 layout=nhwc math=tf32",
          "h=3 w=4 c=200 k=20 r=3 s=3 pad=1 layout=nhwc math=3xtf32",
          "n=2 h=5 w=5 c=160 k=24 r=3 s=3 pad=1 layout=nhwc x=e4m3 f=e4m3 y=bf16 math=two_level",
          "h=6 w=5 c=240 k=40 r=3 s=2 stride=2x1 layout=nhwc x=e5m2 f=e5m2 y=f32 math=two_level",
          "n=2 h=9 w=7 c=16 k=40 r=3 s=3 pad=1 x=f16 f=f16 y=f16",
          "h=11 w=13 c=3 k=24 r=7 s=7 stride=2 pad=3 x=bf16 f=bf16 y=f32",
          "n=2 h=10 w=9 c=12 k=18 r=3 s=2 stride=2x1 pad=0x1x2x0 dilation=1x2 groups=3 x=f16 f=f16 y=f16",
          "n=2 h=7 w=6 c=64 k=64 r=3 s=3 pad=1 groups=2 x=bf16 f=bf16 y=bf16 epilogue=bias+residual",
          "h=6 w=6 c=40 k=33 r=1 s=1 x=f16 f=f16 y=f16",
          "h=3 w=4 c=192 k=24 r=3 s=3 pad=1 x=f16 f=f16 y=f16",
          "h=8 w=9 c=12 k=24 r=3 s=3 pad=1 math=tf32",
          "n=2 h=5 w=7 c=10 k=20 r=2 s=3 stride=1x2 pad=1 groups=2 math=3xtf32",
          "n=2 h=6 w=5 c=24 k=20 r=3 s=3 pad=1 x=s8 f=s8 y=s32 accum=s32",
          "h=5 w=5 c=32 k=24 r=3 s=3 pad=1 x=e4m3 f=e4m3 y=bf16",
          "n=2 h=14 w=14 c=3 k=1 r=3 s=3 stride=2 pad=1 x=s8 f=s8 y=s32 accum=s32",
          "h=15 w=14 c=3 k=24 r=5 s=5 stride=2 pad=2 layout=nhwc x=s8 f=s8 y=s32 accum=s32",
          "n=2 h=9 w=14 c=3 k=24 r=3 s=3 stride=2 pad=1 x=e4m3 f=e4m3 y=f32",
          "h=13 w=9 c=3 k=17 r=3 s=4 pad=1 layout=nhwc x=e5m2 f=e5m2 y=f32",
          "n=2 h=8 w=9 c=9 k=15 r=3 s=3 pad=1 groups=3 x=e5m2 f=e5m2 y=bf16",
          "n=2 h=7 w=8 c=15 k=9 r=3 s=3 groups=3 layout=nhwc x=e4m3 f=e4m3 y=f32 math=two_level",
          "h=9 w=7 c=16 k=16 r=1 s=1 groups=8 x=s8 f=s8 y=s32 accum=s32",
          "n=2 h=8 w=7 c=32 k=48 r=3 s=3 pad=1 groups=4 layout=nhwc x=f16 f=f16 y=f16 "
          "epilogue=scale_shift+residual",
          "h=9 w=10 c=18 k=12 r=3 s=2 stride=2x1 pad=0x1x2x0 groups=6 layout=nhwc x=bf16 f=bf16 y=f32",
          "n=2 h=7 w=9 c=12 k=20 r=3 s=3 pad=1 dilation=2 groups=2 layout=nhwc epilogue=bias+residual",
          "n=3 h=5 w=6 c=64 k=32 r=1 s=1 groups=2 layout=nhwc math=tf32"})
      workloads.push_back(parse_workload(std::string("conv2d ") + text));
    return workloads;
  }();
  return all;
}

std::vector<Workload> served_convolutions(const Template& family) {
  std::vector<Workload> served;
  for (const Workload& workload : convolutions())
    if (!serving(family, workload).empty()) served.push_back(workload);
  return served;
}

/// Returns the convolutions of edge_samples_of().
const std::vector<Workload>& edge_convolutions() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> workloads;
    for (const char* const types :
         {"", "math=tf32", "math=3xtf32", "x=f16 f=f16 y=f16", "x=bf16 f=bf16 y=bf16", "x=bf16 f=bf16 y=f32",
          "x=s8 f=s8 y=s32 accum=s32", "x=e4m3 f=e4m3 y=bf16", "x=e5m2 f=e5m2 y=f32 math=two_level"}) {
      for (const char* const layout : {"nchw", "nhwc"}) {
        for (const char* const shape :
             {"n=40 h=1 w=1 c=16 k=24 r=3 s=3 pad=1", "h=6 w=7 c=32 k=20 r=3 s=3 pad=8 dilation=8",
              "n=3 h=2 w=2 c=16 k=33 r=5 s=5 pad=2", "n=2 h=1 w=9 c=48 k=16 r=3 s=3 pad=1",
              "n=2 h=10 w=1 c=8 k=12 r=3 s=3 stride=2x1 pad=1",
              "n=2 h=1 w=4 c=5 k=10 r=3 s=5 pad=1x5 stride=3x2", "h=2 w=1 c=192 k=20 r=5 s=3 pad=2x1",
              "n=5 h=3 w=2 c=12 k=18 r=3 s=5 pad=1x2x0x4 groups=3",
              "n=2 h=1 w=3 c=16 k=16 r=3 s=3 pad=1 groups=16",
              "h=9 w=9 c=8 k=8 r=3 s=3 pad=12 dilation=12 groups=8",
              "n=5 h=1 w=3 c=32 k=24 r=3 s=3 pad=1 epilogue=bias+residual+relu",
              "h=6 w=5 c=16 k=12 r=5 s=3 pad=12x1 dilation=6x1 epilogue=scale_shift+residual",
              "n=2 h=3 w=4 c=16 k=16 r=3 s=3 pad=4 dilation=4 groups=16 epilogue=residual+relu",
              "n=2 h=4 w=6 c=16 k=10 r=5 s=3 pad=8x1 dilation=4x1 epilogue=bias+relu+maxpool(2)"}) {
          const std::string text = fmt::format("conv2d {} {} layout={}", shape, types, layout);
          const bool is_s32 = text.find("s32") != std::string::npos;
          if (is_s32 && text.find("epilogue") != std::string::npos) continue;
          workloads.push_back(parse_workload(text));
        }
      }
    }
    return workloads;
  }();
  return all;
}

/// Adds configs that split the products for kinds of convolutions without such a config among `samples`, if
/// the family can split them.
void add_splits_of_convolutions(const Template& family, const std::vector<Workload>& served,
                                std::vector<Sample>& samples, Rng& rng) {
  const auto kind_of = [](const Workload& w) { return std::pair(w.conv2d().input, math_of(w)); };
  for (const Workload& workload : served) {
    const bool has = std::any_of(samples.begin(), samples.end(), [&](const Sample& sample) {
      return kind_of(sample.workload) == kind_of(workload) && splits_k(sample.config);
    });
    if (has) continue;
    const Limits limits = serving(family, workload).back();
    const std::optional<Config> config = sample_split(family.space(workload, limits), rng);
    if (config && splits_k(*config)) samples.push_back({&family, workload, limits, *config});
  }
}

/// Returns samples. Every fifth sample is the default config, and every third splits the products if the
/// family can.
std::vector<Sample> samples_of_convolutions(const Template& family, std::size_t count, Rng& rng) {
  const std::vector<Workload> served = served_convolutions(family);
  CHECK(!served.empty(), "{} serves none of the convolutions", family.name);
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < std::max(count, served.size()); ++i) {
    const Workload& workload = served[i % served.size()];
    const std::vector<Limits> limits = serving(family, workload);
    const Limits& arch = limits[i % limits.size()];
    const FamilySpace space = family.space(workload, arch);
    std::optional<Config> config = i % 5 == 0   ? testing::default_of(family, workload, arch)
                                   : i % 3 == 1 ? sample_split(space, rng)
                                                : testing::sample_config(space, rng);
    CHECK(config, "{} finds no schedule for {} on {}", family.name, lehr::to_text(workload), arch.arch);
    samples.push_back({&family, workload, arch, *config});
  }
  add_splits_of_convolutions(family, served, samples, rng);
  return samples;
}

}  // namespace

std::vector<Sample> edge_samples_of(const Template& family, Rng& rng) {
  std::vector<Sample> samples;
  for (const Workload& workload : edge_convolutions()) {
    CHECK(trimmed_view(workload).is_trimmed(), "{}", lehr::to_text(workload));
    const std::vector<Limits> limits = serving(family, workload);
    if (limits.empty()) continue;
    const std::size_t i = samples.size();
    const Limits& arch = limits[i % limits.size()];
    const FamilySpace space = family.space(workload, arch);
    const std::optional<Config> config = i % 3 == 0   ? testing::default_of(family, workload, arch)
                                         : i % 3 == 1 ? sample_split(space, rng)
                                                      : testing::sample_config(space, rng);
    CHECK(config, "{} finds no schedule for {} on {}", family.name, lehr::to_text(workload), arch.arch);
    samples.push_back({&family, workload, arch, *config});
  }
  return samples;
}

std::string to_text(const Sample& sample) {
  return sample.limits.arch + " " + lehr::to_text(sample.workload) + " " + lehr::to_text(sample.config);
}

bool splits_k(const Config& config) {
  return config.find("split_k").value_or(1) > 1;
}

ir::Kernel lowered(const Sample& sample) {
  return testing::lowered(*sample.family, sample.workload, sample.config, sample.limits);
}

Facts facts_of(const Workload& workload) {
  if (workload.op() == Operator::kConv2d) {
    const Conv2d& conv = workload.conv2d();
    return {conv.products(), conv.input, conv.accum, conv.math};
  }
  const Gemm& g = workload.gemm();
  return {g.k, g.a.type, g.accum, g.math};
}

std::vector<const Template*> cuda_families() {
  // A square problem, and a problem with few rows, for which some families are made.
  const std::vector<Shape> probes = {{64, 64, 64, 1}, {1, 64, 64, 1}};
  std::vector<const Template*> families;
  for (const Template& family : catalog()) {
    const bool serves = family.op == Operator::kConv2d ? !served_convolutions(family).empty()
                                                       : !served_operands(family, probes).empty();
    if (serves) families.push_back(&family);
  }
  return families;
}

std::vector<Sample> samples_of(const Template& family, std::size_t count, const std::vector<Shape>& shapes,
                               Rng& rng) {
  if (family.op == Operator::kConv2d) return samples_of_convolutions(family, count, rng);
  const Operands& served = served_operands(family, shapes);
  CHECK(!served.empty(), "{} serves none of the shapes", family.name);
  const std::vector<std::size_t> long_ones = long_shapes(shapes);
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < std::max(count, served.size()); ++i) {
    const auto& [types, layouts] = served[i < served.size() ? i : rng.below(served.size())];
    const bool split = i % 3 == 1;
    const std::size_t shape = split ? long_ones[rng.below(long_ones.size())] : rng.below(shapes.size());
    const Workload workload = *first_served(family, types, layouts, shapes, shape);
    const std::vector<Limits> limits = serving(family, workload);
    const Limits& arch = limits[i % limits.size()];
    std::optional<Config> config = testing::default_of(family, workload, arch);
    if (i % 5 != 0) {
      const FamilySpace space = family.space(workload, arch);
      config = split ? sample_split(space, rng) : testing::sample_config(space, rng);
    }
    CHECK(config, "{} finds no schedule for {} on {}", family.name, lehr::to_text(workload), arch.arch);
    samples.push_back({&family, workload, arch, *config});
  }
  add_splits(family, served, shapes, samples, rng);
  return samples;
}

}  // namespace lehr::testing
