// Tests of the tensor memory accelerator's reductions into a workspace: their sums, and errors that a kernel
// can make with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "target/prelude.h"
#include "tests/emulator/kernel_text.h"
#include "tests/emulator/program.h"

namespace lehr::emulator {
namespace {

using lehr::testing::kernel_text;
using lehr::testing::replaced;
using ::testing::HasSubstr;
using Values = std::vector<float>;

constexpr int kThreads = 128;
constexpr int kBlocks = 5;

/// Computes c, the sum of the blocks' rows of a. Each block adds its row to the same elements of the
/// workspace. The last block copies the sums from there and leaves zeros.
constexpr const char* kBody = R"(
  int* row = reinterpret_cast<int*>(lehr_shared);
  unsigned* ticket = reinterpret_cast<unsigned*>(lehr_shared + 512);
  row[t] = a[blockIdx.x * 128 + t];
  lehr_async_proxy_fence();
  __syncthreads();
  if (t == 7) {
    lehr_tma_reduce_add_s32(row, sums, 512);
    lehr_tma_store_commit();
    lehr_tma_store_wait_complete<0>();
    lehr_device_fence();
  }
  __syncthreads();
  if (t == 0) lehr_atomic_inc_u32(ticket, counters, 4);
  __syncthreads();
  if (*ticket == 4) {
    lehr_device_fence();
    c[t ^ 1] = sums[t ^ 1];
    sums[t ^ 1] = 0;
  }
)";

Source source_of(std::string body, DType type = DType::kS32) {
  if (type == DType::kF32) {
    for (const char* const what : {"int* row", "<int*>", "s32"})
      body = replaced(body, what, what == std::string("s32") ? "f32" : replaced(what, "int", "float"));
  }
  Source source =
      kernel_text({{"a", type, kBlocks * kThreads, ir::Direction::kIn},
                   {"c", type, kThreads, ir::Direction::kOut},
                   {"sums", type, kThreads, ir::Direction::kWorkspace},
                   {"counters", DType::kU32, 1, ir::Direction::kWorkspace}},
                  kThreads, 528, body, prelude(Target::kCuda, {"atomic_inc_u32", "base", "device_fence"}));
  source.launch.grid = {kBlocks, 1, 1};
  return source;
}

Values numbers(float scale) {
  Values a;
  for (int i = 0; i < kBlocks * kThreads; ++i) a.push_back(scale * static_cast<float>(i * 37 % 101 - 50));
  return a;
}

Values sums_of(const Values& a) {
  Values sums(kThreads, 0);
  for (std::size_t i = 0; i < a.size(); ++i) sums[i % kThreads] += a[i];
  return sums;
}

TEST(Reduction, AddsUpWhatAllBlocksHaveInEveryOrder) {
  const std::vector<Source> sources = {source_of(kBody), source_of(kBody, DType::kF32)};
  const Program program(sources);
  const Values a = numbers(1);
  for (std::size_t source = 0; source < sources.size(); ++source) {
    for (std::uint64_t i = 0; i < 8; ++i) {
      const Result result = program.run(source, {a}, rotated(i));
      ASSERT_FALSE(result.fault) << *result.fault;
      EXPECT_EQ(result.outputs[0], sums_of(a));
      EXPECT_EQ(result.traffic[2].written_bytes, (kBlocks + 1) * kThreads * 4);
      EXPECT_EQ(result.traffic[2].read_bytes, kThreads * 4);
      EXPECT_EQ(result.shared.read_bytes, kBlocks * (kThreads + kThreads) * 4);  // the ticket, too
    }
  }
}

TEST(Reduction, OfMoreThanTwoFloatsDependsOnTheirOrder) {
  const std::vector<Source> sources = {source_of(kBody, DType::kF32)};
  const Result result = Program(sources).run(0, {numbers(0.1f)});
  EXPECT_THAT(result.fault.value_or(""), HasSubstr("has another result"));
}

TEST(Reduction, FlushesSubnormalSumsToZero) {
  const std::vector<Source> sources = {source_of(kBody, DType::kF32)};
  constexpr float kLeast = std::numeric_limits<float>::min();
  Values a(kBlocks * kThreads, 0);
  a[0] = kLeast / 2;
  a[1] = kLeast;
  a[kThreads + 2] = 1.5f * kLeast;
  a[2] = -kLeast;
  const Result result = Program(sources).run(0, {a});
  ASSERT_FALSE(result.fault) << *result.fault;
  EXPECT_EQ(result.outputs[0][0], 0);
  EXPECT_EQ(result.outputs[0][1], kLeast);
  EXPECT_EQ(result.outputs[0][2], 0);
}

TEST(Reduction, FindsEveryMissingStep) {
  struct Case {
    const char* what;
    const char* instead;
    const char* fault;
  };
  const std::vector<Case> cases = {
      {"lehr_async_proxy_fence();", "", "made no fence for the async proxy"},
      {"lehr_async_proxy_fence();", "if (t > 0) lehr_async_proxy_fence();", "1 of its writers made no fence"},
      {"fence();\n  __syncthreads();\n  if (t == 7)", "fence();\n  if (t == 7)", "a race"},
      {"lehr_tma_store_commit();", "", "ends while TMA stores or reductions are under way"},
      {"lehr_tma_store_wait_complete<0>();", "", "ends while TMA stores or reductions are under way"},
      {"lehr_tma_store_wait_complete<0>();", "lehr_tma_store_wait_complete<1>();",
       "ends while TMA stores or reductions are under way"},
      // Shared memory has been read, but the additions may not be complete.
      {"lehr_tma_store_wait_complete<0>();", "lehr_tma_store_wait<0>();",
       "ends while TMA stores or reductions are under way"},
      {"    lehr_tma_store_wait_complete<0>();\n    lehr_device_fence();\n  }",
       "  }\n  __syncthreads();\n  if (t == 9) c[9] = sums[9];\n  __syncthreads();\n"
       "  if (t == 7) lehr_tma_store_wait_complete<0>();",
       "the reduction of thread 7 of block 3 has not been waited for"},
      {"lehr_tma_store_commit();", "row[9] = 1; lehr_tma_store_commit();",
       "an operation that has not been waited for reads it"},
      {"complete<0>();\n    lehr_device_fence();", "complete<0>();",
       "no fence between that and its block's atomic"},
      {"lehr_tma_store_wait_complete<0>();\n    lehr_device_fence();",
       "lehr_device_fence();\n    lehr_tma_store_wait_complete<0>();",
       "no fence between that and its block's atomic"},
      {"  }\n  __syncthreads();\n  if (t == 0) lehr_atomic", "  }\n  if (t == 0) lehr_atomic",
       "no fence between that and its block's atomic"},
      {"{\n    lehr_device_fence();\n    c[", "{\n    c[", "the reader makes no fence"},
      {"*ticket == 4", "*ticket == 3", "written it"},
      {"sums[t ^ 1] = 0;", "", "has another result"},
      {"sums[t ^ 1] = 0;", "if (t > 0) sums[t ^ 1] = 0;", "has another result"},
      {"__syncthreads();\n  if (t == 0)", "sums[t] = 0;\n  __syncthreads();\n  if (t == 0)", "written it"},
      {"sums, 512", "sums, 520", "a TMA reduction of 520 bytes"},
      {"sums, 512", "sums, 0", "a TMA reduction of 0 bytes"},
      {"sums, 512", "sums + 1, 496", "is not aligned"},
      {"sums, 512", "sums + 4, 512", "16 bytes beyond its 128 elements"},
      {"row, sums, 512", "row + 1, sums, 496", "is not of 16 aligned bytes"},
      {"sums, 512", "c, 512", "which is no workspace"},
      {"row, sums, 512", "row, row, 512", "outside"},
      {"row, sums", "row + 100, sums", "nobody has written it"},
  };
  const Values a = numbers(1);
  std::vector<Source> sources;
  for (const Case& each : cases) sources.push_back(source_of(replaced(kBody, each.what, each.instead)));
  const Program program(sources);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << cases[i].what << " -> " << cases[i].instead);
    EXPECT_THAT(program.run(i, {a}, Order::kWarpAhead).fault.value_or(""), HasSubstr(cases[i].fault));
  }
}

}  // namespace
}  // namespace lehr::emulator
