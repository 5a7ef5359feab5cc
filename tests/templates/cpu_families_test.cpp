// Tests of the CPU families: every sampled config lowers, verifies and keeps its static limits. Sampled
// kernels, compiled by the system compiler, equal the double-precision reference on odd shapes in every
// layout, and touch nothing outside.
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "base/error.h"
#include "base/overloaded.h"
#include "base/rng.h"
#include "cpu_problems.h"
#include "cpu_runs.h"
#include "ir/analyze.h"
#include "templates/catalog.h"
#include "templates/shared/conv_view.h"
#include "templates/shared/register_tile.h"
#include "tests/support/sample_config.h"
#include "tests/support/verify.h"

namespace lehr {
namespace {

using lehr::testing::all_shapes;
using lehr::testing::convolutions;
using lehr::testing::cpu_limits;
using lehr::testing::depthwise_convolutions;
using lehr::testing::expect_right;
using lehr::testing::fused;
using lehr::testing::nhwc_convolutions;
using lehr::testing::odd_convolutions;
using lehr::testing::shapes;
using lehr::testing::unfused;

TEST(CpuFamilies, EverySampledConfigLowersVerifiesAndKeepsItsLimits) {
  const std::uint64_t seed = 2024;
  Rng rng(seed);
  const std::vector<std::string> texts = all_shapes();
  const std::vector<std::string> layouts = {"", " a=f32:column", " b=f32:column",
                                            " a=f32:column b=f32:column", " c=f32:column"};
  int checked = 0;
  while (checked < 10000) {
    std::string text = texts[rng.below(texts.size())];
    if (text.starts_with("gemm")) text += layouts[rng.below(layouts.size())];
    const Limits limits =
        cpu_limits(std::vector<int>{16, 32, 64}[rng.below(3)], 1 + static_cast<int>(rng.below(4)));
    const Workload workload = parse_workload(text);
    const Space space = kernel_space(workload, limits).space;
    for (int i = 0; i < 50; ++i, ++checked) {
      const Config config = testing::sample_config(space, rng);
      SCOPED_TRACE(
          fmt::format("seed {} {} on {} x{}: {}", seed, text, limits.arch, limits.cores, to_text(config)));
      const ir::Kernel kernel = lower(workload, config, limits);
      if (const auto malformed = ir::why_malformed(kernel)) FAIL() << *malformed;
      const ir::Analysis analysis = ir::analyze(kernel);
      // F(4x4, 3x3) takes a quarter of the products; beyond the edge they count too. Products of taps that
      // only meet padding are left out.
      double least = config.family == "conv2d_winograd_cpu" ? 0.25 : 0.99;
      if (workload.op() == Operator::kConv2d)
        least *= flops_of({cpu::conv_view(workload).conv, {}}) / flops_of(workload);
      ASSERT_GE(analysis.flops, flops_of(workload) * least);
      ASSERT_LE(analysis.scratch_bytes, (64LL << 20) + (4 * limits.l2_bytes));
      ASSERT_LE(analysis.launch.work_items,
                std::max<std::int64_t>(limits.cores, workload.op() == Operator::kConv2d
                                                         ? workload.conv2d().n * workload.conv2d().groups
                                                         : workload.gemm().batch));
    }
  }
}

TEST(CpuFamilies, DefaultsArePointsOfTheSpace) {
  for (const std::string& text : all_shapes()) {
    for (const int bytes : {16, 32, 64}) {
      for (const int cores : {1, 2, 8}) {
        const Limits limits = cpu_limits(bytes, cores);
        const Workload workload = parse_workload(text);
        const Space space = kernel_space(workload, limits).space;
        const std::vector<Config> defaults = families_for(catalog(), workload, limits).defaults;
        ASSERT_EQ(defaults.size(), space.families().size());
        for (const Config& config : defaults) {
          EXPECT_EQ(space.why_invalid(config).value_or(""), "") << text << " " << to_text(config);
        }
      }
    }
  }
}

/// Counts the statements that the compiler sees: those of an unrolled loop once for each turn. Another loop
/// costs as much as some more.
std::int64_t written_out(const ir::Block& block) {
  constexpr std::int64_t kOfALoop = 8;
  std::int64_t count = 0;
  for (const ir::Stmt& stmt : block)
    count += std::visit(overloaded{[](const ir::For& loop) {
                                     const std::int64_t body = written_out(loop.body);
                                     const bool unrolled = loop.kind == ir::LoopKind::kUnrolled;
                                     return unrolled ? loop.bound * body : kOfALoop + body;
                                   },
                                   [](const ir::If& branch) {
                                     return written_out(branch.then) + written_out(branch.otherwise);
                                   },
                                   [](const auto&) { return std::int64_t{1}; }},
                        stmt.node);
  return count;
}

// A line of 128 taps, written out, once compiled for 12 s, and one of 512 for longer than a compilation may
// take.
TEST(CpuFamilies, WriteOutNoMoreOfALongFilterThanOfAShortOne) {
  constexpr std::int64_t kMost = 1500;
  Rng rng(66);
  for (const char* sizes :
       {"h=1 w=16000 c=1 k=66 r=1 s=512 stride=1x128", "h=1 w=9000 c=1 k=34 r=1 s=2048 stride=1x512",
        "h=1 w=8000 c=1 k=258 r=1 s=1024 stride=1x64", "h=1 w=900 c=16 k=32 r=1 s=128 pad=0x0x63x64",
        "h=1100 w=1 c=4 k=16 r=1024 s=1", "h=40 w=40 c=8 k=16 r=31 s=31 pad=15",
        "h=40 w=40 c=32 k=32 r=31 s=31 pad=15 groups=32", "h=1 w=2000 c=32 k=32 r=1 s=512 groups=32",
        "h=64 w=64 c=8 k=32 r=17 s=17 pad=16 dilation=2",
        "h=60 w=600 c=4 k=16 r=1 s=77 epilogue=relu+maxpool(2)"})
    for (const char* types : {"", "layout=nhwc", "x=bf16 f=bf16 y=bf16", "x=bf16 f=bf16 y=bf16 layout=nhwc",
                              "x=u8 f=s8 y=s32 accum=s32 layout=nhwc", "x=u8 f=s8 y=s32 accum=s32",
                              "x=u8 f=s8 y=s32 accum=s32 zero=input"}) {
      const std::string text = fmt::format("conv2d n=1 {} {}", sizes, types);
      std::optional<Workload> workload;
      try {
        workload = parse_workload(text);
      } catch (const Error&) {  // no pool of integers
        continue;
      }
      for (const int bytes : {32, 64}) {
        const Limits limits = cpu_limits(bytes, 2);
        const Families families = families_for(catalog(), *workload, limits);
        std::vector<Config> configs = families.defaults;
        for (const FamilySpace& family : families.spaces)
          for (int i = 0; i < 15; ++i) configs.push_back(*testing::sample_config(family, rng));
        for (const Config& config : configs) {
          const ir::Kernel kernel = lower(*workload, config, limits);
          const std::int64_t count = written_out(kernel.body) + written_out(kernel.prepack);
          EXPECT_LE(count, kMost) << text << " " << limits.arch << " " << to_text(config);
        }
      }
    }
}

// Beyond a few, the phases of the stride are a loop.
TEST(CpuFamilies, ConvolutionsOfLargeStridesEqualTheReference) {
  expect_right({"conv2d n=2 h=1 w=400 c=2 k=6 r=1 s=30 stride=1x12 pad=0x0x5x7",
                "conv2d n=1 h=40 w=47 c=6 k=6 r=3 s=20 stride=11x19 pad=1x1x25x2 groups=6",
                "conv2d n=1 h=3 w=300 c=1 k=9 r=2 s=64 stride=1x16",
                "conv2d n=1 h=1 w=90 c=4 k=4 r=1 s=10 stride=1x33 pad=0x0x40x3 groups=4"},
               6, 67);
}

TEST(CpuFamilies, RefuseWhatTheyCannotComputeWithAReason) {
  try {
    kernel_space(parse_workload("gemm m=8 n=8 k=8 a=bf16:row"), cpu_limits(64, 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    EXPECT_NE(std::string(error.what()).find("computes in f32 only"), std::string::npos) << error.what();
  }
}

// ---- run for real (cpu_runs.h) ----

TEST(CpuFamilies, SampledProductsEqualTheReference) {
  std::vector<std::string> texts;
  for (std::size_t shape = 0; shape < 10; ++shape)
    for (const char* layout : {"", " a=f32:column", " b=f32:column", " a=f32:column b=f32:column",
                               " c=f32:column", " a=f32:column c=f32:column"})
      texts.push_back(shapes()[shape] + layout);
  expect_right(texts, 1, 77);
}

// Returns epilogues in which each step occurs at least once, before and after others, on shapes with edges
// everywhere: each of `prefixes` + "epilogue=...".
std::vector<std::string> with_epilogues(const std::vector<std::string>& prefixes) {
  std::vector<std::string> epilogues = {"bias+relu",
                                        "scale_shift+residual+relu",
                                        "gelu_tanh",
                                        "bias+gelu_erf",
                                        "silu+residual",
                                        "residual+relu6",
                                        "sigmoid+scale_shift",
                                        "tanh+bias",
                                        "clamp(-1,2.5)",
                                        "bias+silu",
                                        "leaky_relu(0.125)+bias",
                                        "bias+hard_swish",
                                        "relu+bias+sigmoid"};
  for (const EpilogueRow& row : kEpilogueRows)
    if (!row.shrinks() && !row.of_integers && std::ranges::none_of(epilogues, [&](const std::string& text) {
          return text.find(row.name) != std::string::npos;
        }))
      epilogues.push_back(example_of(row) + "+bias");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::max(prefixes.size(), epilogues.size()); ++i)
    texts.push_back(prefixes[i % prefixes.size()] + " epilogue=" + epilogues[i % epilogues.size()]);
  return texts;
}

TEST(CpuFamilies, SampledEpiloguesOfProductsEqualTheReference) {
  std::vector<std::string> prefixes;
  for (const char* shape : {"gemm m=33 n=65 k=17", "gemm m=3 n=47 k=50", "gemm m=9 n=31 k=70 batch=2"})
    for (const char* layout :
         {"", " b=f32:column", " a=f32:column c=f32:column", " a=f32:column b=f32:column"})
      prefixes.push_back(std::string(shape) + layout);
  expect_right(with_epilogues(prefixes), 2, 79);
}

// A product of few columns becomes few rows of the transpose, whose C lies across. One column or row lies
// both ways.
TEST(CpuFamilies, ProductsOfFewColumnsEqualTheReference) {
  std::vector<std::string> texts, epilogues;
  for (const char* shape :
       {"gemm m=300 n=1 k=129", "gemm m=47 n=3 k=50", "gemm m=130 n=2 k=8 batch=2", "gemm m=70 n=4 k=33",
        "gemm m=45 n=16 k=70", "gemm m=16 n=90 k=21 batch=3", "gemm m=7 n=3 k=384"})
    for (const char* layout : {"", " a=f32:column", " b=f32:column", " a=f32:column b=f32:column",
                               " c=f32:column", " a=f32:column c=f32:column"}) {
      texts.push_back(std::string(shape) + layout);
      if (std::string_view(shape).ends_with("0")) epilogues.push_back(texts.back());
    }
  expect_right(texts, 1, 92);
  expect_right(with_epilogues(epilogues), 1, 93);
}

TEST(CpuFamilies, ServeFewColumnsAsTheyServeFewRows) {
  const auto families_of = [](const std::string& text) {
    std::vector<std::string> names;
    const Workload workload = parse_workload(text);
    const Space space = kernel_space(workload, cpu_limits(32, 2)).space;
    for (const FamilySpace& family : space.families()) names.push_back(family.family());
    return names;
  };
  for (const std::string few : {"1", "3"}) {
    // C^T = B^T A^T: A's rows are the columns of its transpose.
    EXPECT_EQ(families_of("gemm m=" + few + " n=200 k=64"),
              families_of("gemm m=200 n=" + few + " k=64 a=f32:column b=f32:column"));
    EXPECT_EQ(families_of("gemm m=" + few + " n=200 k=64 b=f32:column"),
              families_of("gemm m=200 n=" + few + " k=64"));
  }
}

// The last block of k is shorter than the others, and A ends with it.
TEST(CpuFamilies, PackNothingBehindTheEndOfAnOperand) {
  const auto packs_blocks = [](const Config& config) {
    return config.at("pack_a") == 1 && config.at("kc") < 40;
  };
  expect_right({"gemm m=13 n=40 k=72", "gemm m=6 n=24 k=40 batch=2", "gemm m=9 n=20 k=44 a=f32:column",
                "gemm m=14 n=33 k=56 c=f32:column", "gemm m=5 n=64 k=88 b=f32:column"},
               4, 98, fused, "gemm_cpu", packs_blocks);
}

// B is laid out beforehand, with columns, rows and lines of padding that nobody has written; or it is read as
// it lies.
TEST(CpuFamilies, SampledProductsWithAConstantBEqualTheReference) {
  std::vector<std::string> texts;
  for (const char* shape :
       {"gemm m=1 n=300 k=129", "gemm m=7 n=5 k=3", "gemm m=33 n=65 k=17", "gemm m=9 n=34 k=70",
        "gemm m=64 n=96 k=128", "gemm m=16 n=256 k=40 batch=3", "gemm m=2 n=130 k=8 batch=2"})
    for (const char* rest : {" b=f32:row:constant", " b=f32:column:constant"})
      texts.push_back(std::string(shape) + rest);
  texts[0] += " epilogue=bias+gelu_tanh";
  texts[7] += " epilogue=swiglu alpha=0.5";
  texts[3] += " c=f32:column";
  const auto is_prepacked = [](const Config& config) { return config.at("pack_b") == 2; };
  std::vector<std::string> as_rows = texts;
  std::erase_if(as_rows, [](const std::string& text) { return text.ends_with("c=f32:column"); });
  expect_right(as_rows, 3, 111, fused, "gemm_cpu", is_prepacked);
  expect_right(texts, 1, 112);
}

std::vector<std::string> gated_products() {
  std::vector<std::string> texts;
  for (const char* shape : {"gemm m=33 n=66 k=17", "gemm m=3 n=2 k=50", "gemm m=9 n=34 k=70 batch=2",
                            "gemm m=26 n=200 k=9", "gemm m=1 n=130 k=33", "gemm m=14 n=96 k=24"})
    for (const char* rest : {" epilogue=swiglu", " b=f32:column epilogue=bias+geglu",
                             " a=f32:column epilogue=scale_shift+swiglu"})
      texts.push_back(std::string(shape) + rest);
  return texts;
}

TEST(CpuFamilies, SampledGatedProductsEqualTheReference) {
  expect_right(gated_products(), 2, 86);
}

// The scale is applied once per sum: where blocks of k are added in C, behind the last one; in front of an
// epilogue.
TEST(CpuFamilies, SampledScaledProductsEqualTheReference) {
  const std::uint64_t seed = 101;
  Rng rng(seed);
  SCOPED_TRACE(fmt::format("seed {}", seed));
  const std::vector<std::string> epilogues = {"none", "bias+relu", "none", "residual+gelu_tanh"};
  std::vector<std::string> texts;
  for (const char* shape : {"gemm m=33 n=65 k=170", "gemm m=3 n=47 k=50", "gemm m=300 n=2 k=129 batch=2"})
    for (const char* layout : {"", " b=f32:column", " a=f32:column c=f32:column"})
      texts.push_back(
          fmt::format("{}{} epilogue={} alpha={}", shape, layout, epilogues[texts.size() % epilogues.size()],
                      static_cast<float>(1 + rng.below(4000)) / (rng.below(2) == 0 ? 512 : -3000)));
  texts.push_back("gemm m=9 n=34 k=70 batch=2 epilogue=bias+swiglu alpha=-0.3");
  expect_right(texts, 1, seed);
  const auto adds_blocks = [](const Config& config) { return config.at("kc") < 100; };
  expect_right({texts[0], texts[1]}, 3, seed, fused, "gemm_cpu", adds_blocks);
  // The product has its scale before the pass.
  expect_right({texts[1], texts.back()}, 1, seed, unfused);
}

TEST(CpuFamilies, SampledEpiloguesOfConvolutionsEqualTheReference) {
  const std::vector<std::string>& all = convolutions();
  expect_right(with_epilogues({all[1], all[3], all[6], all[7], all[9], all[10], all[12]}), 2, 80);
}

// The pass runs on every layout of the output: channels along its rows and across them, and more elements
// than one thread is given.
TEST(CpuFamilies, AnEpilogueAsAPassOfItsOwnEqualsTheReference) {
  expect_right(with_epilogues({"gemm m=9 n=31 k=7 batch=2", "gemm m=33 n=65 k=17 c=f32:column",
                               convolutions()[3], depthwise_convolutions()[5], "gemm m=300 n=129 k=2",
                               "conv2d h=21 w=20 c=1 k=80 r=1 s=1", "conv2d h=9 w=10 c=3 k=5 r=3 s=3 pad=1"}),
               1, 85, unfused);
  expect_right({"gemm m=9 n=34 k=7 batch=2 epilogue=swiglu", "gemm m=300 n=130 k=2 epilogue=bias+geglu"}, 2,
               87, unfused);
}

/// Returns convolutions with lines and columns that fill no window, blocks of lines, images, groups.
std::vector<std::string> pooled_convolutions() {
  std::vector<std::string> texts;
  for (const char* layout : {"nchw", "nhwc"})
    for (const char* rest :
         {"n=2 h=12 w=13 c=5 k=19 r=3 s=3 pad=1", "h=17 w=9 c=3 k=33 r=2 s=3 stride=2x1 pad=1x0x2x1",
          "h=9 w=11 c=8 k=70 r=1 s=1", "h=15 w=22 c=3 k=20 r=3 s=3 pad=1x1x0x0",
          "n=3 h=10 w=10 c=8 k=12 r=3 s=3 groups=2 dilation=2"})
      for (const char* epilogue :
           {"bias+relu+maxpool(2)", "avgpool(2)", "scale_shift+silu+maxpool(3)", "relu+avgpool(4)"})
        texts.push_back(fmt::format("conv2d {} layout={} epilogue={}", rest, layout, epilogue));
  return texts;
}

TEST(CpuFamilies, SampledPooledConvolutionsEqualTheReference) {
  std::vector<std::string> texts;  // of each pool every other shape, of each shape every other pool
  for (std::size_t i = 0; i < pooled_convolutions().size(); ++i)
    if ((i / 4 + i) % 2 == 0) texts.push_back(pooled_convolutions()[i]);
  expect_right(texts, 1, 88);
}

/// Returns windows that overlap, that leave pixels out, that lie outside in part; images that hold one window
/// or less than one, or one column.
std::vector<std::string> overlapping_pools() {
  std::vector<std::string> texts;
  for (const char* layout : {"nchw", "nhwc"})
    for (const char* rest :
         {"n=2 h=21 w=23 c=3 k=19 r=7 s=7 stride=2 pad=3", "h=17 w=9 c=3 k=33 r=2 s=3 stride=2x1 pad=1x0x2x1",
          "h=9 w=31 c=8 k=70 r=1 s=1", "n=2 h=4 w=3 c=5 k=18 r=3 s=3 pad=1",
          "n=2 h=14 w=10 c=8 k=12 r=3 s=3 groups=2 pad=1", "n=2 h=16 w=1 c=6 k=20 r=3 s=3 pad=1"})
      for (const char* epilogue : {"bias+relu+maxpool(3,2,1)", "scale_shift+silu+maxpool(3,2,0,1)",
                                   "maxpool(3,1,1)", "bias+maxpool(5,1,4)", "relu+maxpool(2,3,1)",
                                   "maxpool(4,3,3,2)", "avgpool(3,2)", "bias+avgpool(2,1)"}) {
        const Workload conv = parse_workload(fmt::format("conv2d {} layout={}", rest, layout));
        const PoolWindows windows = windows_of(parse_epilogue(epilogue));
        if (windows.over(conv.conv2d().out_h()) > 0 && windows.over(conv.conv2d().out_w()) > 0)
          texts.push_back(fmt::format("conv2d {} layout={} epilogue={}", rest, layout, epilogue));
      }
  return texts;
}

TEST(CpuFamilies, SampledOverlappingPoolsEqualTheReference) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < overlapping_pools().size(); i += 3) texts.push_back(overlapping_pools()[i]);
  expect_right(texts, 1, 95);
}

TEST(CpuFamilies, APoolAsAPassOfItsOwnEqualsTheReference) {
  const std::vector<std::string> all = pooled_convolutions();
  expect_right({all[0], all[9], all[22], all[39]}, 1, 89, unfused);
  const std::vector<std::string> overlapping = overlapping_pools();
  for (std::size_t i = 0; i < overlapping.size(); i += 7) expect_right({overlapping[i]}, 1, 96, unfused);
}

TEST(CpuFamilies, SampledConvolutionsEqualTheReference) {
  expect_right(convolutions(), 1, 78);
}

/// Returns filters of which some taps only meet padding, images of one column, of one pixel.
std::vector<std::string> edge_convolutions() {
  std::vector<std::string> texts;
  for (const char* layout : {"nchw", "nhwc"})
    for (const char* rest :
         {"n=9 h=1 w=1 c=20 k=37 r=3 s=3 pad=1", "n=2 h=31 w=1 c=9 k=9 r=3 s=3 pad=1 groups=9",
          "h=9 w=9 c=16 k=24 r=3 s=3 pad=12 dilation=12", "n=2 h=2 w=2 c=5 k=10 r=5 s=5 pad=2",
          "h=25 w=1 c=6 k=22 r=5 s=3 stride=2 pad=2x1 groups=2", "n=6 h=1 w=1 c=14 k=26 r=1 s=1 groups=2",
          "h=3 w=20 c=4 k=9 r=5 s=2 pad=4x0 dilation=2x1", "n=3 h=1 w=1 c=12 k=12 r=3 s=3 pad=1 groups=12",
          "n=2 h=1 w=1 c=7 k=9 r=1 s=1 stride=4 pad=1", "n=2 h=40 w=1 c=6 k=8 r=1 s=1",
          "n=7 h=1 w=1 c=33 k=17 r=1 s=1", "n=2 h=1 w=4 c=5 k=10 r=3 s=5 pad=3x5 stride=3x2",
          "h=1 w=1 c=8 k=16 r=3 s=3 pad=1 groups=8"})
      texts.push_back(fmt::format("conv2d {} layout={}", rest, layout));
  return texts;
}

TEST(CpuFamilies, ConvolutionsAtTheEdgesEqualTheReference) {
  expect_right(edge_convolutions(), 1, 94);
  std::vector<std::string> some;
  for (std::size_t i = 0; i < edge_convolutions().size(); i += 3) some.push_back(edge_convolutions()[i]);
  expect_right(with_epilogues(some), 1, 95);
}

// A 3 x 3 filter on an image of one pixel is one product of nine.
TEST(CpuFamilies, LeaveOutTapsThatOnlyMeetPadding) {
  for (const char* layout : {"nchw", "nhwc"}) {
    const Workload workload =
        parse_workload(fmt::format("conv2d n=64 h=1 w=1 c=32 k=48 r=3 s=3 pad=1 layout={}", layout));
    const Limits limits = cpu_limits(32, 2);
    for (const Config& config : families_for(catalog(), workload, limits).defaults) {
      if (config.family == "conv2d_winograd_cpu") continue;  // its tiles are of 3 x 3 taps
      EXPECT_LE(ir::analyze(lower(workload, config, limits)).flops, flops_of(workload) / 9 * 1.01)
          << to_text(config);
    }
  }
}

// 3 x 4 and 2 x 6 vectors of sums leave 16 registers no room for a row of B: their factors are held instead.
TEST(CpuFamilies, TilesThatHoldTheirFactorsEqualTheReference) {
  const auto holds_factors = [](const Config& config) {
    return cpu::streams_b(config.at("mr"), config.at("nv"));
  };
  expect_right({"gemm m=7 n=93 k=19", "gemm m=9 n=45 k=50 b=f32:column",
                "gemm m=3 n=130 k=9 batch=2 epilogue=bias+residual",
                "gemm m=11 n=90 k=33 a=f32:column epilogue=swiglu"},
               3, 96, fused, "gemm_cpu", holds_factors);
  for (const char* family : {"conv2d_cpu", "conv2d_oc_cpu", "conv2d_winograd_cpu", "conv2d_im2col_cpu"})
    expect_right({"conv2d n=2 h=9 w=8 c=7 k=50 r=3 s=3 pad=1",
                  "conv2d h=11 w=13 c=5 k=33 r=3 s=3 pad=1 epilogue=bias+relu"},
                 2, 97, fused, family, holds_factors);
}

TEST(CpuFamilies, SampledNhwcConvolutionsEqualTheReference) {
  expect_right(nhwc_convolutions(), 2, 83);
}

TEST(CpuFamilies, SampledEpiloguesOfNhwcConvolutionsEqualTheReference) {
  const std::vector<std::string>& all = nhwc_convolutions();
  expect_right(with_epilogues({all[1], all[3], all[4], all[6], all[11]}), 2, 84);
}

// Tiles of pixels begin and end anywhere in a line, and their padding lies on any side.
TEST(CpuFamilies, PanelsOfPixelsOfAnyConvolutionEqualTheReference) {
  Rng rng(90);
  expect_right(odd_convolutions(rng, 60), 2, 91, fused, "conv2d_im2col_cpu");
}

TEST(CpuFamilies, SampledDepthwiseConvolutionsEqualTheReference) {
  expect_right(depthwise_convolutions(), 2, 81);
}

TEST(CpuFamilies, SampledEpiloguesOfDepthwiseConvolutionsEqualTheReference) {
  const std::vector<std::string>& all = depthwise_convolutions();
  expect_right(with_epilogues({all[0], all[6], all[1], all[5]}), 2, 82);
}

}  // namespace
}  // namespace lehr
