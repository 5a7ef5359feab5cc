// Tests of warp collectives: the positions of values according to the PTX ISA, and errors that a kernel can
// make with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "tests/emulator/kernel_text.h"
#include "tests/emulator/number.h"
#include "tests/emulator/program.h"

namespace lehr::emulator {
namespace {

using lehr::testing::kernel_text;
using lehr::testing::replaced;
using ::testing::HasSubstr;
using Values = std::vector<float>;

constexpr std::uint64_t kSeed = 20251121;
constexpr auto kIn = ir::Direction::kIn;
constexpr auto kOut = ir::Direction::kOut;

/// C (16 x 8) = A (16 x 16, by rows) B (16 x 8, by rows), by one warp, as tensor-core kernels are written: A
/// is loaded by ldmatrix, B by ldmatrix.trans.
const char* const kGemm = R"(
  unsigned short* sa = reinterpret_cast<unsigned short*>(lehr_shared);
  unsigned short* sb = sa + 256;
  for (int i = t; i < 256; i += 32) sa[i] = a[i];
  for (int i = t; i < 128; i += 32) sb[i] = b[i];
  __syncwarp();
  unsigned ra[4];
  unsigned rb[2];
  float d[4] = {0, 0, 0, 0};
  lehr_ldmatrix_x4(ra, sa + t % 16 * 16 + t / 16 * 8);
  lehr_ldmatrix_x2_trans(rb, sb + t % 16 * 8);
  lehr_mma_m16n8k16_f32_bf16(d, ra, rb);
  for (int r = 0; r < 4; ++r) c[(t / 4 + r / 2 * 8) * 8 + t % 4 * 2 + r % 2] = d[r];)";

Source gemm(const std::string& body, int threads = 32) {
  return kernel_text(
      {{"a", DType::kBF16, 256, kIn}, {"b", DType::kBF16, 128, kIn}, {"c", DType::kF32, 128, kOut}}, threads,
      768, body);
}

/// Returns small integers, which are exact in every type.
Values small_numbers(std::size_t count, Rng& rng) {
  Values values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(rng.below(9)) - 4);
  return values;
}

Values product(const Values& a, const Values& b, std::size_t k) {
  Values c(128);
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      for (std::size_t i = 0; i < k; ++i) c[row * 8 + column] += a[row * k + i] * b[i * 8 + column];
    }
  }
  return c;
}

struct Mutant {
  const char* name;
  const char* what;
  const char* instead;
  const char* fault;  ///< a part of the fault's text; "": the result is wrong
};

const std::vector<Mutant>& mutants() {
  static const std::vector<Mutant> all = {
      {"WrongRow", "t % 16 * 16", "(t ^ 1) % 16 * 16", ""},
      {"WrongColumn", "t / 16 * 8", "(1 - t / 16) * 8", ""},
      {"SwappedRegisters", "  lehr_mma", "  unsigned x = ra[1]; ra[1] = ra[2]; ra[2] = x;\n  lehr_mma", ""},
      {"NotTransposed", "x2_trans", "x2", ""},
      {"WrongResultRow", "r / 2 * 8", "r % 2 * 8", ""},
      {"StaleAccumulator", "{0, 0, 0, 0}", "{0, 0, 1, 0}", ""},
      {"MissingWarpBarrier", "__syncwarp();", "", "shared memory"},
      {"MisalignedRow", "t / 16 * 8", "t / 16 * 8 + 1", "not aligned"},
      {"RowBehindSharedMemory", "sa + t % 16 * 16", "sa + t * 16", "outside shared memory"},
      {"RowInGlobalMemory", "sb + t % 16 * 8", "b + t % 16 * 8", "outside shared memory"},
      {"DivergentMma", "  lehr_mma", "  if (t != 7) lehr_mma", "thread 7 has ended"},
      {"LaneThatLeaves", "  lehr_mma", "  if (t == 31) return;\n  lehr_mma", "thread 31 has ended"},
      {"LanesAtTwoInstructions", "  lehr_mma", "  if (t < 16) lehr_ldmatrix_x4(ra, sa);\n  lehr_mma",
       "of its warp waits at the"},
      {"LaneAtABlockBarrier", "  lehr_mma", "  if (t == 3) __syncthreads();\n  lehr_mma", "block barrier"},
  };
  return all;
}

TEST(Vote, GivesEveryLaneThePredicatesOfAll) {
  const std::vector<Source> sources = {
      kernel_text({{"a", DType::kF32, 64, kIn}, {"c", DType::kF32, 192, kOut}}, 64, 16,
                  "  const unsigned votes = __ballot_sync(~0u, a[t] > 2);\n"
                  "  c[t] = static_cast<float>(votes >> (t % 32) & 1);\n"
                  "  c[64 + t] = __any_sync(~0u, a[t] > 2) ? 1.0f : 0.0f;\n"
                  "  c[128 + t] = __all_sync(~0u, a[t] > 2) ? 1.0f : 0.0f;\n"),
      kernel_text({{"a", DType::kF32, 64, kIn}, {"c", DType::kF32, 192, kOut}}, 64, 16,
                  "  if (t % 32 != 5) c[t] = static_cast<float>(__ballot_sync(~0u, a[t] > 2));\n")};
  const Program program(sources);
  Values a(64, 3);
  a[7] = 1;  // the lanes of the first warp disagree, those of the second warp agree
  for (std::uint64_t i = 0; i < 4; ++i) {
    const Result run = program.run(0, {a}, rotated(i));
    ASSERT_FALSE(run.fault) << *run.fault;
    for (std::size_t t = 0; t < 64; ++t) {
      EXPECT_EQ(run.outputs[0][t], t == 7 ? 0 : 1) << t;
      EXPECT_EQ(run.outputs[0][64 + t], 1) << t;
      EXPECT_EQ(run.outputs[0][128 + t], t < 32 ? 0 : 1) << t;
    }
    const Result divergent = program.run(1, {a}, rotated(i));
    ASSERT_TRUE(divergent.fault);
    EXPECT_THAT(*divergent.fault, HasSubstr("waits at the vote"));
  }
}

TEST(WarpCollectives, EveryMutantOfAWarpsGemmIsFound) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::vector<Source> sources = {gemm(kGemm)};
  for (const Mutant& mutant : mutants())
    sources.push_back(gemm(replaced(kGemm, mutant.what, mutant.instead)));
  const Program program(sources);
  Rng rng(kSeed);
  const Values a = small_numbers(256, rng);
  const Values b = small_numbers(128, rng);
  const Values expected = product(a, b, 16);
  for (std::uint64_t number = 0; number < 8; ++number) {
    const Result right = program.run(0, {a, b}, rotated(number));
    ASSERT_FALSE(right.fault) << *right.fault;
    EXPECT_EQ(right.outputs.at(0), expected);
    EXPECT_EQ(right.flops, 2 * 16 * 8 * 16);
    EXPECT_EQ(right.shared.read_bytes, (256 + 128) * 2);  // each element once
    for (std::size_t i = 0; i < mutants().size(); ++i) {
      SCOPED_TRACE(::testing::Message() << mutants()[i].name << ", schedule " << number);
      const Result run = program.run(i + 1, {a, b}, rotated(number));
      if (*mutants()[i].fault == '\0') {
        EXPECT_FALSE(run.fault) << *run.fault;
        EXPECT_NE(run.outputs.at(0), expected);
      } else {
        ASSERT_TRUE(run.fault);
        EXPECT_THAT(*run.fault, HasSubstr(mutants()[i].fault));
      }
    }
  }
}

TEST(WarpCollectives, NeedAWholeWarp) {
  const std::vector<Source> sources = {kernel_text(
      {{"c", DType::kF32, 40, kOut}}, 40, 0, "  float x = t;\n  lehr_warp_sum_f32(&x, 8);\n  c[t] = x;")};
  const Result run = Program(sources).run(0, {}, Order::kReverse);
  ASSERT_TRUE(run.fault);
  EXPECT_THAT(*run.fault, HasSubstr("in a warp of 8 lanes"));
}

TEST(WarpCollectives, DivergenceIsReportedWithItsLines) {
  const std::vector<Source> sources = {
      kernel_text({{"c", DType::kF32, 32, kOut}}, 32, 0,
                  "  float x = 1;\n  if (t < 8) {\n    lehr_warp_sum_f32(&x, 32);\n  } else {\n    "
                  "lehr_warp_sum_f32(&x, 32);\n  }\n  c[t] = x;")};
  const Result run = Program(sources).run(0, {});
  ASSERT_TRUE(run.fault);
  EXPECT_EQ(
      *run.fault,
      "block 0 thread 8: comes to the shfl of line 8, while lane 0 of its warp waits at the shfl of line 6");
}

TEST(WarpCollectives, SumsOverGroupsOfLanes) {
  std::vector<Source> sources;
  for (const int width : {1, 2, 8, 32}) {
    sources.push_back(
        kernel_text({{"c", DType::kF32, 64, kOut}, {"d", DType::kS32, 64, kOut}}, 64, 0,
                    fmt::format("  float x = t * 0.5f;\n  int y = t;\n  lehr_warp_sum_f32(&x, {0});\n  "
                                "lehr_warp_sum_s32(&y, {0});\n  c[t] = x;\n  d[t] = y;",
                                width)));
  }
  const Program program(sources);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Result run = program.run(i, {}, rotated(i + 1));
    ASSERT_FALSE(run.fault) << *run.fault;
    const int width = std::vector<int>{1, 2, 8, 32}[i];
    for (int t = 0; t < 64; ++t) {
      int sum = 0;
      for (int lane = t / width * width; lane < t / width * width + width; ++lane) sum += lane;
      EXPECT_EQ(run.outputs.at(0).at(static_cast<std::size_t>(t)), static_cast<float>(sum) * 0.5F);
      EXPECT_EQ(run.outputs.at(1).at(static_cast<std::size_t>(t)), static_cast<float>(sum));
    }
  }
}

TEST(WarpCollectives, StmatrixIsTheInverseOfLdmatrix) {
  // Four matrices of 8 x 8, with the value i at element i. They are loaded as they are and stored transposed.
  const std::string body = R"(
  unsigned short* s = reinterpret_cast<unsigned short*>(lehr_shared);
  for (int i = t; i < 256; i += 32) s[i] = i;
  __syncwarp();
  unsigned r[4];
  lehr_ldmatrix_x4(r, s + t * 8);
  for (int i = 0; i < 4; ++i) d[t * 4 + i] = r[i];
  __syncwarp();
  lehr_stmatrix_x4_trans(s + t * 8, r);
  __syncwarp();
  for (int i = t; i < 256; i += 32) c[i] = s[i];)";
  const std::vector<SourceParam> params = {{"c", DType::kU8, 256, kOut}, {"d", DType::kS32, 128, kOut}};
  const std::vector<Source> sources = {
      kernel_text(params, 32, 512, body),
      kernel_text(params, 32, 512,
                  replaced(body, "  __syncwarp();\n  for (int i = t; i < 256; i += 32) c",
                           "  for (int i = t; i < 256; i += 32) c")),
      kernel_text(params, 32, 512, replaced(body, "  __syncwarp();\n  lehr_stmatrix", "  lehr_stmatrix"))};
  const Program program(sources);
  const Result run = program.run(0, {}, Order::kRandom);
  ASSERT_FALSE(run.fault) << *run.fault;
  // PTX ISA, "ldmatrix", figure of the fragment layout: thread 0 holds row 0, elements 0 and 1; thread 5 row
  // 1, elements 2 and 3; thread 31 row 7, elements 6 and 7; register i the i-th matrix.
  EXPECT_EQ(run.outputs.at(1).at(0), 0 + 65536 * 1);
  EXPECT_EQ(run.outputs.at(1).at(5 * 4), 10 + 65536 * 11);
  EXPECT_EQ(run.outputs.at(1).at(5 * 4 + 2), 138 + 65536 * 139);
  EXPECT_EQ(run.outputs.at(1).at(31 * 4 + 3), 254 + 65536 * 255);
  for (std::size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(run.outputs.at(0).at(i), static_cast<float>(i / 64 * 64 + i % 8 * 8 + i / 8 % 8)) << i;
  }
  for (std::size_t i = 1; i < 3; ++i) {
    const Result mutant = program.run(i, {}, rotated(i));
    ASSERT_TRUE(mutant.fault) << i;
    EXPECT_THAT(*mutant.fault, HasSubstr("a race"));
  }
}

/// A type of mma, with the positions of its fragments in the notation of the PTX ISA, element by element: `i`
/// is the number of the element, `u` is threadID_in_group, `g` is groupID.
struct MmaCase {
  const char* shape;
  DType type;  ///< type of A and B in memory; the bits if they are 8-bit floats
  int k;
  int packed;  ///< elements per register
  const char* a_row_is_low;
  const char* a_column;
  const char* b_row;
  NumberFormat format;  ///< format of the bits
  int registers = 4;    ///< registers of A; B has half as many
};

std::string text_of(const MmaCase& one) {
  const bool integer = one.type == DType::kS8;
  return fmt::format(R"(
  const int g = t >> 2, u = t % 4;
  unsigned ra[4] = {{0, 0, 0, 0}}, rb[2] = {{0, 0}};
  for (int i = 0; i < {10} * {1}; ++i) {{
    const int row = ({2}) ? g : g + 8;
    const int column = {3};
    unsigned x = {5}a[row * {6} + column]{7};
    ra[i / {1}] |= {8} << (i % {1} * (32 / {1}));
  }}
  for (int i = 0; i < {10} / 2 * {1}; ++i) {{
    const int row = {4};
    unsigned x = {5}b[row * 8 + g]{7};
    rb[i / {1}] |= {8} << (i % {1} * (32 / {1}));
  }}
  {9} d[4] = {{1, 1, 1, 1}};
  lehr_mma_{0}(d, ra, rb);
  for (int i = 0; i < 4; ++i) c[(i < 2 ? g : g + 8) * 8 + u * 2 + (i & 1)] = d[i];)",
                     one.shape, one.packed, one.a_row_is_low, one.a_column, one.b_row,
                     one.type == DType::kF32 ? "__float_as_uint(" : "(", one.k, ")",
                     one.packed == 4 ? "(x & 0xff)" : "x", integer ? "int" : "float", one.registers);
}

TEST(Mma, ComputesInEveryTypeFromTheFragmentsOfThePtxIsa) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const char* low_2 = "i < 2 || (4 <= i && i < 6)";
  const char* low_4 = "i < 4 || (8 <= i && i < 12)";
  const char* column_2 = "i < 4 ? u * 2 + (i & 1) : u * 2 + (i & 1) + 8";
  const char* row_2 = "i < 2 ? u * 2 + (i & 1) : u * 2 + (i & 1) + 8";
  const char* column_4 = "i < 8 ? u * 4 + (i & 3) : u * 4 + (i & 3) + 16";
  const char* row_4 = "i < 4 ? u * 4 + (i & 3) : u * 4 + (i & 3) + 16";
  const std::vector<MmaCase> cases = {
      {"m16n8k16_f32_bf16", DType::kBF16, 16, 2, low_2, column_2, row_2, kBF16},
      {"m16n8k16_f32_f16", DType::kF16, 16, 2, low_2, column_2, row_2, kF16},
      {"m16n8k8_f32_f16", DType::kF16, 8, 2, "i < 2", "u * 2 + (i & 1)", "u * 2 + (i & 1)", kF16, 2},
      {"m16n8k8_f32_tf32",
       DType::kF32,
       8,
       1,
       "i == 0 || i == 2",
       "i < 2 ? u : u + 4",
       "i == 0 ? u : u + 4",
       {}},
      {"m16n8k32_s32_s8", DType::kS8, 32, 4, low_4, column_4, row_4, {}},
      {"m16n8k32_f32_e4m3", DType::kU8, 32, 4, low_4, column_4, row_4, kE4M3},
      {"m16n8k32_f32_e5m2", DType::kU8, 32, 4, low_4, column_4, row_4, kE5M2},
  };
  std::vector<Source> sources;
  for (const MmaCase& one : cases) {
    sources.push_back(kernel_text({{"a", one.type, 16 * one.k, kIn},
                                   {"b", one.type, 8 * one.k, kIn},
                                   {"c", one.type == DType::kS8 ? DType::kS32 : DType::kF32, 128, kOut}},
                                  32, 0, text_of(one)));
  }
  const Program program(sources);
  Rng rng(kSeed);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].shape);
    const auto k = static_cast<std::size_t>(cases[i].k);
    Values a = small_numbers(16 * k, rng);
    Values b = small_numbers(8 * k, rng);
    if (cases[i].type == DType::kS8) a[5] = -128;
    if (cases[i].type == DType::kF32) a[3] = 1 + 0x1p-11F;  // below the 10 fraction bits of tf32: ignored
    Values bits_a = a;
    Values bits_b = b;
    if (cases[i].type == DType::kU8) {
      for (float& x : bits_a)
        x = static_cast<float>(encode(kE5M2, x) & 0xff);  // any pattern will do: decoded below
      for (float& x : bits_b) x = static_cast<float>(encode(kE5M2, x) & 0xff);
      for (std::size_t j = 0; j < a.size(); ++j)
        a[j] = decode(cases[i].format, static_cast<std::uint32_t>(bits_a[j]));
      for (std::size_t j = 0; j < b.size(); ++j)
        b[j] = decode(cases[i].format, static_cast<std::uint32_t>(bits_b[j]));
    }
    const Result run = program.run(i, {bits_a, bits_b}, rotated(i));
    ASSERT_FALSE(run.fault) << *run.fault;
    if (cases[i].type == DType::kF32) a[3] = 1;
    Values expected = product(a, b, k);
    for (float& x : expected) x += 1;
    EXPECT_EQ(run.outputs.at(0), expected);
    EXPECT_EQ(run.flops, 2.0 * 16 * 8 * cases[i].k);
  }
}

TEST(Mma, AddsTheProductsOfAStepAtOnce) {
  // 1 + 2^-24, added k times: f32 additions one by one would lose every small term.
  const std::vector<Source> sources = {kernel_text(
      {{"c", DType::kF32, 32, kOut}}, 32, 0,
      "  unsigned ra[4], rb[2];\n  for (int i = 0; i < 4; ++i) ra[i] = 0x39803980;\n"  // bf16 2^-12
      "  for (int i = 0; i < 2; ++i) rb[i] = 0x39803980;\n  float d[4] = {1, 1, 1, 1};\n"
      "  lehr_mma_m16n8k16_f32_bf16(d, ra, rb);\n  c[t] = d[t % 4];")};
  const Result run = Program(sources).run(0, {});
  ASSERT_FALSE(run.fault) << *run.fault;
  for (const float x : run.outputs.at(0)) EXPECT_EQ(x, 1 + 0x1p-20F);
}

}  // namespace
}  // namespace lehr::emulator
