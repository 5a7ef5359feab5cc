// Tests of mbarriers, loads of the tensor memory accelerator and wgmma: their layouts according to the PTX
// ISA, and errors that a kernel can make with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "target/prelude.h"
#include "tests/emulator/kernel_text.h"
#include "tests/emulator/program.h"
#include "tests/emulator/wgmma.h"

namespace lehr::emulator {
namespace {

using lehr::testing::kernel_text;
using lehr::testing::replaced;
using ::testing::HasSubstr;
using Values = std::vector<float>;

constexpr std::uint64_t kSeed = 20261121;
constexpr auto kIn = ir::Direction::kIn;
constexpr auto kOut = ir::Direction::kOut;
constexpr const char* kWgmmaName = "wgmma_m64n16k16_f32_bf16";

/// Returns a map of a matrix of 16-bit elements, `inner` x `outer`. Its boxes are `swizzle` bytes wide.
ir::TensorMap map_of(std::int64_t inner, std::int64_t outer, std::int64_t box_outer, std::int64_t swizzle) {
  ir::TensorMap map;
  map.dims = {inner, outer, 0};
  map.strides = {1, inner, 0};
  map.box = {swizzle / 2, box_outer, 0};
  map.swizzle = swizzle;
  return map;
}

/// C (64 x 16) = A (64 x 64, by rows) B (16 x 64, by rows, transposed), by one warpgroup and with one load
/// for each operand.
const char* const kGemm = R"(
  unsigned short* sa = reinterpret_cast<unsigned short*>(lehr_shared);
  unsigned short* sb = sa + 4096;
  unsigned* full = reinterpret_cast<unsigned*>(lehr_shared + 10240);
  if (t == 0) {
    lehr_mbarrier_init(full, 1);
    lehr_mbarrier_init_fence();
  }
  __syncthreads();
  if (t == 0) {
    lehr_mbarrier_expect_tx(full, 10240);
    lehr_tma_load_2d(sa, &a, full, 0, 0);
    lehr_tma_load_2d(sb, &b, full, 0, 0);
  }
  float d[8];
  for (int i = 0; i < 8; ++i) d[i] = 0;
  lehr_mbarrier_wait(full, 0);
  lehr_wgmma_fence();
  for (int k = 0; k < 4; ++k)
    lehr_wgmma_m64n16k16_f32_bf16<0, 0>(d, sa + k * 16, sb + k * 16, 128, 16, 1024, 128, 16, 1024, 1);
  lehr_wgmma_commit();
  lehr_wgmma_wait<0>();
  for (int i = 0; i < 8; ++i)
    c[(t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8) * 16 + i / 4 * 8 + t % 4 * 2 + i % 2] = d[i];)";

Source gemm(const std::string& body) {
  std::vector<SourceParam> params = {
      {"a", DType::kBF16, 4096, kIn}, {"b", DType::kBF16, 1024, kIn}, {"c", DType::kF32, 1024, kOut}};
  params[0].map = map_of(64, 64, 64, 128);
  params[1].map = map_of(64, 16, 16, 128);
  return kernel_text(params, 128, 10256, body, prelude(Target::kCuda, {"tensor_map", kWgmmaName}));
}

Values small_numbers(std::size_t count, Rng& rng) {
  Values values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(rng.below(9)) - 4);
  return values;
}

TEST(Wgmma, MultipliesWhatTheTensorMemoryAcceleratorBringsInEveryOrder) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Rng rng(kSeed);
  const Values a = small_numbers(4096, rng);
  const Values b = small_numbers(1024, rng);
  const std::vector<Source> sources = {gemm(kGemm)};
  const Program program(sources);
  for (std::uint64_t i = 0; i < 8; ++i) {
    const Result result = program.run(0, {a, b}, rotated(i));
    ASSERT_FALSE(result.fault) << *result.fault;
    for (std::size_t row = 0; row < 64; ++row) {
      for (std::size_t column = 0; column < 16; ++column) {
        float sum = 0;
        for (std::size_t k = 0; k < 64; ++k) sum += a[row * 64 + k] * b[column * 64 + k];
        ASSERT_EQ(result.outputs[0][row * 16 + column], sum) << row << ", " << column;
      }
    }
    EXPECT_EQ(result.flops, 2.0 * 64 * 16 * 64);
    EXPECT_EQ(result.traffic[0].read_bytes, 8192);
    EXPECT_EQ(result.shared.written_bytes, 10240);
    EXPECT_EQ(result.shared.read_bytes, 4 * (64 + 16) * 32);
  }
}

TEST(Wgmma, FindsEveryMissingStep) {
  struct Case {
    const char* what;
    const char* instead;
    const char* fault;
  };
  const std::vector<Case> cases = {
      {"lehr_mbarrier_wait(full, 0);", "", "a load into it has not been waited for"},
      {"lehr_mbarrier_wait(full, 0);", "lehr_mbarrier_wait(full, 1);",
       "a load into it has not been waited for"},
      {"lehr_mbarrier_expect_tx(full, 10240);", "lehr_mbarrier_arrive(full, 1);",
       "a load into it has not been waited for"},
      {"expect_tx(full, 10240)", "expect_tx(full, 10256)", "waits at the mbarrier"},
      {"lehr_mbarrier_expect_tx(full, 10240);", "", "waits at the mbarrier"},
      {"lehr_tma_load_2d(sb, &b, full, 0, 0);", "", "waits at the mbarrier"},
      {"lehr_mbarrier_init(full, 1);", "lehr_mbarrier_init(full, 2);", "waits at the mbarrier"},
      {"lehr_mbarrier_init(full, 1);", "", "no mbarrier at byte 10240"},
      {"  }\n  __syncthreads();", "  }", "mbarrier"},
      {"lehr_mbarrier_expect_tx(full, 10240);",
       "lehr_mbarrier_expect_tx(full, 10240); lehr_mbarrier_arrive(full, 1);",
       "arrives at an mbarrier that has its 1 arrivals"},
      {"lehr_wgmma_fence();", "", "without a wgmma.fence"},
      {"lehr_wgmma_wait<0>();", "lehr_wgmma_wait<1>();", "while wgmma operations are under way"},
      {"lehr_wgmma_commit();", "", "while wgmma operations are under way"},
      {"lehr_wgmma_commit();", "d[0] = 1; lehr_wgmma_commit();", "has written sums"},
      {"sa + k * 16, sb", "sa + k * 16 + t / 64 * 64, sb", "with other operands"},
      {"lehr_tma_load_2d(sa, &a", "lehr_tma_load_2d(sa + 8, &a", "no multiple of 128"},
      {"lehr_wgmma_commit();", "if (t == 0) sa[0] = 0; lehr_wgmma_commit();",
       "an operation that has not been waited for reads it"},
      {"lehr_wgmma_commit();",
       "if (t == 0) { lehr_mbarrier_expect_tx(full, 8192); lehr_tma_load_2d(sa, &a, full, 0, 0); } "
       "lehr_wgmma_commit();",
       "an operation that has not been waited for reads it"},
      {"lehr_wgmma_fence();", "if (t == 0) sa[0] = 0; __syncthreads(); lehr_wgmma_fence();",
       "no load has written it"},
      {"128, 16, 1024, 128, 16, 1024, 1", "64, 16, 1024, 128, 16, 1024, 1", ""},
      {"128, 16, 1024, 128, 16, 1024, 1", "128, 16, 512, 128, 16, 1024, 1", ""},
      {"128, 16, 1024, 128, 16, 1024, 1", "128, 16, 1024, 128, 16, 1024, 0", ""},
      {"<0, 0>(d", "<0, 1>(d", ""},
  };
  Rng rng(kSeed);
  const Values a = small_numbers(4096, rng);
  const Values b = small_numbers(1024, rng);
  std::vector<Source> sources = {gemm(kGemm)};
  for (const Case& each : cases) sources.push_back(gemm(replaced(kGemm, each.what, each.instead)));
  const Program program(sources);
  const Values right = program.run(0, {a, b}).outputs[0];
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Result result = program.run(i + 1, {a, b}, Order::kWarpAhead);
    SCOPED_TRACE(::testing::Message() << cases[i].what << " -> " << cases[i].instead);
    if (result.fault) {
      EXPECT_THAT(*result.fault, HasSubstr(cases[i].fault));
    } else {
      EXPECT_STREQ(cases[i].fault, "");
      EXPECT_NE(result.outputs[0], right);
    }
  }
}

TEST(TmaLoad, SwizzlesItsBoxAndFillsWithZerosWhatLiesOutside) {
  for (const std::int64_t swizzle : {32, 64, 128}) {
    const std::int64_t width = swizzle / 2;
    SourceParam a = {"a", DType::kBF16, 40 * 10, kIn};
    a.map = map_of(40, 10, 8, swizzle);
    const std::string body = fmt::format(R"(
  unsigned short* sa = reinterpret_cast<unsigned short*>(lehr_shared);
  unsigned* full = reinterpret_cast<unsigned*>(lehr_shared + 1024);
  if (t == 0) {{
    lehr_mbarrier_init(full, 1);
    lehr_mbarrier_init_fence();
    lehr_mbarrier_expect_tx(full, {0});
    lehr_tma_load_2d(sa, &a, full, 16, 4);
    lehr_mbarrier_wait(full, 0);
  }}
  __syncthreads();
  for (int i = t; i < {1}; i += 32) c[i] = sa[i];)",
                                         8 * swizzle, 8 * width);
    const std::vector<Source> sources = {kernel_text({a, {"c", DType::kBF16, 8 * width, kOut}}, 32, 1040,
                                                     body, prelude(Target::kCuda, {"tensor_map"}))};
    Values values(400);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 199 + 1);
    const Result result = Program(sources).run(0, {values});
    ASSERT_FALSE(result.fault) << *result.fault;
    std::int64_t inside = 0;
    for (std::int64_t row = 0; row < 8; ++row) {
      for (std::int64_t column = 0; column < width; ++column) {
        const bool exists = row + 4 < 10 && column + 16 < 40;
        inside += exists;
        const float expected = exists ? values[static_cast<std::size_t>((row + 4) * 40 + column + 16)] : 0;
        // CUDA Driver API, CUtensorMapSwizzle: the line of 128 bytes permutes the chunks of 16 bytes of a
        // row.
        const std::int64_t line = row * swizzle / 128;
        const std::int64_t chunk = column / 8 ^ line % (swizzle / 16);
        EXPECT_EQ(result.outputs[0][static_cast<std::size_t>(row * width + chunk * 8 + column % 8)], expected)
            << "swizzle " << swizzle << " row " << row << " column " << column;
      }
    }
    EXPECT_EQ(result.traffic[0].read_bytes, 2 * inside);
  }
}

TEST(MatrixDescriptor, LeadsToTheChunksOfTheCanonicalLayouts) {
  EXPECT_EQ(swizzled(1024 + 128 + 16, 128), 1024u + 128);  // line 9: chunk 1 ^ 1
  EXPECT_EQ(swizzled(2 * 128 + 3 * 16, 128), 256u + 16);   // line 2: chunk 3 ^ 2
  EXPECT_EQ(swizzled(2 * 128 + 3 * 16, 64), 256u + 16);    // span of four chunks
  EXPECT_EQ(swizzled(3 * 128 + 16, 32), 3u * 128);         // span of two chunks
  EXPECT_EQ(swizzled(3 * 128 + 16, 0), 3u * 128 + 16);
  // mode 1 (128 bytes), SBO 1024, LBO 16, address 2048
  const MatrixDescriptor d = decoded(1ULL << 62 | 64ULL << 32 | 1ULL << 16 | 128);
  EXPECT_EQ(d.start, 2048u);
  EXPECT_EQ(d.leading, 16u);
  EXPECT_EQ(d.stride, 1024u);
  EXPECT_EQ(d.swizzle, 128);
  const auto along_k = chunks_of(d, 64, true);
  ASSERT_EQ(along_k.size(), 128u);
  EXPECT_EQ(along_k[2 * 9 + 1], 2048u + 1024 + 128);  // row 9, second half of k
  // Without swizzle rows have 16 bytes, and the second half of k is LBO bytes away.
  const auto plain = chunks_of({0, 512, 128, 0}, 64, true);
  EXPECT_EQ(plain[2 * 9 + 1], 128u + 16 + 512);
  // Along m with 128 bytes: the next 64 elements of a row are LBO bytes away, and the next eight values of k
  // are SBO bytes away.
  const auto along_m = chunks_of({0, 8192, 1024, 128}, 128, false);
  ASSERT_EQ(along_m.size(), 256u);
  EXPECT_EQ(along_m[9 * 16 + 10], 8192u + 1024 + 128 + (2 ^ 1) * 16);  // k = 9, elements 80 to 87
  const auto plain_m = chunks_of({0, 256, 512, 0}, 16, false);
  EXPECT_EQ(plain_m[9 * 2 + 1], 512u + 256 + 16);
}

TEST(Setmaxnreg, CannotHandOutMoreThanThereIs) {
  const std::string body = R"(
  if (t / 128 == 0) lehr_setmaxnreg_dec<40>(); else lehr_setmaxnreg_inc<240>();
  c[t] = 1;)";
  const std::vector<SourceParam> params = {{"c", DType::kF32, 384, kOut}};
  const std::vector<Source> sources = {kernel_text(params, 384, 0, body),
                                       kernel_text(params, 384, 0, replaced(body, "<240>", "<232>"))};
  const Program program(sources);
  EXPECT_THAT(program.run(0, {}).fault.value_or(""), HasSubstr("66560 registers in all"));
  EXPECT_FALSE(program.run(1, {}).fault);
}

}  // namespace
}  // namespace lehr::emulator
