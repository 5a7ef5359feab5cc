// Tests of clusters: blocks that run together, multicast loads, arrivals at another block's mbarriers, and
// errors that a kernel can make with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "target/prelude.h"
#include "tests/emulator/kernel_text.h"
#include "tests/emulator/program.h"

namespace lehr::emulator {
namespace {

using lehr::testing::kernel_text;
using lehr::testing::replaced;
using ::testing::HasSubstr;
using Values = std::vector<float>;

constexpr auto kIn = ir::Direction::kIn;
constexpr auto kOut = ir::Direction::kOut;

/// In each of three rounds, two blocks each load one half of a tile of 16 x 64 (16 bit) for both. C is a
/// warpgroup's product of the tile with itself, summed over the rounds.
const char* const kShare = R"(
  const int rank = blockIdx.x % 2;
  const int cluster = blockIdx.x / 2;
  unsigned short* tile = reinterpret_cast<unsigned short*>(lehr_shared);
  unsigned* full = reinterpret_cast<unsigned*>(lehr_shared + 8192);
  unsigned* empty = full + 2;
  if (t == 0) {
    lehr_mbarrier_init(full, 1);
    lehr_mbarrier_init(empty, 2);
    lehr_mbarrier_init_fence();
  }
  lehr_cluster_barrier_relaxed();
  float d[4] = {0, 0, 0, 0};
  for (int round = 0; round < 3; ++round) {
    if (t == 0) {
      lehr_mbarrier_wait(empty, (round + 1) % 2);
      lehr_mbarrier_expect_tx(full, 8192);
      lehr_tma_multicast_2d(tile + rank * 2048, &a, full, 0, cluster * 192 + round * 64 + rank * 32, 3);
    }
    lehr_mbarrier_wait(full, round % 2);
    lehr_wgmma_fence();
    lehr_wgmma_m64n8k16_f32_bf16<0, 0>(d, tile, tile, 128, 16, 1024, 128, 16, 1024, 1);
    lehr_wgmma_commit();
    lehr_wgmma_wait<0>();
    lehr_mbarrier_arrive_cluster(empty, rank ^ t, t < 2);
  }
  for (int i = 0; i < 4; ++i)
    c[blockIdx.x * 512 + (t / 32 * 16 + t % 32 / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = d[i];
  lehr_cluster_barrier();)";

constexpr std::int64_t kRows = 2 * 3 * 64;

Source source_of(const std::string& body) {
  std::vector<SourceParam> params = {{"a", DType::kBF16, kRows * 64, kIn}, {"c", DType::kF32, 4 * 512, kOut}};
  ir::TensorMap map;
  map.dims = {64, kRows, 0};
  map.strides = {1, 64, 0};
  map.box = {64, 32, 0};
  map.swizzle = 128;
  params[0].map = map;
  Source source =
      kernel_text(params, 128, 8208, body, prelude(Target::kCuda, {"tensor_map", "wgmma_m64n8k16_f32_bf16"}));
  source.launch.grid[0] = 4;
  source.launch.cluster = 2;
  return source;
}

Values input() {
  Values values(kRows * 64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 11) - 5;
  return values;
}

TEST(Cluster, MulticastBringsEachHalfToBothBlocksAndReadsItOnce) {
  const Values a = input();
  const std::vector<Source> sources = {source_of(kShare)};
  const Program program(sources);
  for (std::uint64_t i = 0; i < 8; ++i) {
    const Result result = program.run(0, {a}, rotated(i));
    ASSERT_FALSE(result.fault) << *result.fault;
    for (std::size_t block = 0; block < 4; ++block) {
      for (std::size_t row = 0; row < 64; ++row) {
        for (std::size_t column = 0; column < 8; ++column) {
          float sum = 0;
          for (std::size_t round = 0; round < 3; ++round) {
            const std::size_t first = (block / 2 * 3 + round) * 64;
            for (std::size_t k = 0; k < 16; ++k)
              sum += a[(first + row) * 64 + k] * a[(first + column) * 64 + k];
          }
          ASSERT_EQ(result.outputs[0][block * 512 + row * 8 + column], sum)
              << block << ": " << row << ", " << column;
        }
      }
    }
    EXPECT_EQ(result.traffic[0].read_bytes, kRows * 64 * 2);
    EXPECT_EQ(result.shared.written_bytes, 2 * kRows * 64 * 2);
    EXPECT_EQ(result.barriers, 4 * 2);
  }
}

TEST(Cluster, FindsEveryMissingStep) {
  struct Case {
    const char* what;
    const char* instead;
    const char* fault;
  };
  const std::vector<Case> cases = {
      {"  lehr_cluster_barrier_relaxed();", "  __syncthreads();", "with no cluster barrier behind its init"},
      {"    lehr_mbarrier_init_fence();\n", "", "with no barrier in between"},
      {"i % 2] = d[i];\n  lehr_cluster_barrier();", "i % 2] = d[i];\n  lehr_cluster_barrier_relaxed();",
       "no cluster barrier follows"},
      {"i % 2] = d[i];\n  lehr_cluster_barrier();", "i % 2] = d[i];", "mbarrier"},
      {"i % 2] = d[i];\n  lehr_cluster_barrier();", "i % 2] = d[i]; if (rank == 0) lehr_cluster_barrier();",
       "waits at the cluster barrier"},
      {", 3);\n", ", 1);\n", "waits at the mbarrier"},
      {", 3);\n", ", 0);\n", "waits at the mbarrier"},
      {", 3);\n", ", 7);\n", "block 2 of a cluster of 2"},
      {"init(empty, 2)", "init(empty, 1)", "a load into it has not been waited for"},
      {"init(empty, 2)", "init(empty, 3)", "waits at the mbarrier"},
      {"rank ^ t, t < 2", "rank ^ t, t < 1", "waits at the mbarrier"},
      {"rank ^ t, t < 2", "rank, t < 2", ""},
      {"rank ^ t, t < 2", "2 - t, t < 2", "block 2 of a cluster of 2"},
      {"expect_tx(full, 8192)", "expect_tx(full, 4096)", ""},
      {"tile + rank * 2048, &a", "tile, &a", "asynchronous copy into it has not been waited for"},
      {"lehr_mbarrier_wait(empty, (round + 1) % 2);", "", ""},
      {"lehr_mbarrier_wait(full, round % 2);", "", "no load has written it"},
  };
  const Values a = input();
  std::vector<Source> sources = {source_of(kShare)};
  for (const Case& each : cases) sources.push_back(source_of(replaced(kShare, each.what, each.instead)));
  const Program program(sources);
  const Values right = program.run(0, {a}).outputs[0];
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << cases[i].what << " -> " << cases[i].instead);
    const Result result = program.run(i + 1, {a}, Order::kWarpAhead);
    if (result.fault) {
      EXPECT_THAT(*result.fault, HasSubstr(cases[i].fault));
    } else {
      EXPECT_NE(result.outputs[0], right);
    }
  }
}

/// Distributed shared memory: each thread reads the value that the thread with the same number in the other
/// block has written.
TEST(Cluster, ReadsTheOtherBlocksMemoryBetweenTwoBarriersOfAll) {
  const std::string barrier = "  lehr_cluster_barrier();\n";
  const std::string write =
      "  const int rank = blockIdx.x % 2;\n  float* s = reinterpret_cast<float*>(lehr_shared);\n"
      "  for (int i = 0; i < 4; ++i) s[t * 4 + i] = a[(blockIdx.x * 128 + t) * 4 + i];\n";
  const std::string read =
      "  float v[4];\n  lehr_cluster_load_16(v, s + (t ^ 1) * 4, rank ^ 1);\n"
      "  for (int i = 0; i < 4; ++i) c[(blockIdx.x * 128 + t) * 4 + i] = v[i];\n";
  struct Case {
    std::string body;
    const char* fault;
  };
  const std::vector<Case> cases = {
      {write + barrier + read + barrier, ""},
      {write + "  __syncthreads();\n" + read + barrier, "no cluster barrier is behind its write"},
      {write + "  lehr_cluster_barrier_relaxed();\n" + read + barrier,
       "no cluster barrier is behind its write"},
      {write + barrier + read, "which has ended"},
      {write + barrier +
           "  float v[4];\n  if (rank == 1) lehr_cluster_load_16(v, s + t * 4, 0);\n  if (rank == 0) s[t * "
           "4] = 0;\n" +
           barrier,
       "another block has read it since"},
      {write + barrier + "  if (t < 64) s[t * 4] = 0;\n" + read + barrier, "cluster barrier"},
      {write + barrier + replaced(read, "rank ^ 1", "rank + 1") + barrier, "block 2 of a cluster of 2"},
      {write + barrier + replaced(read, "(t ^ 1) * 4", "(t ^ 1) * 4 + 1") + barrier, "aligned"},
      {write + barrier + replaced(read, "(t ^ 1) * 4", "(t + 1) * 4") + barrier, "shared memory"},
  };
  Values a(2 * 128 * 4);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  const auto count = static_cast<std::int64_t>(a.size());
  std::vector<Source> sources;
  for (const Case& each : cases) {
    sources.push_back(
        kernel_text({{"a", DType::kF32, count, kIn}, {"c", DType::kF32, count, kOut}}, 128, 2048, each.body));
    sources.back().launch.grid[0] = sources.back().launch.cluster = 2;
  }
  const Program program(sources);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].body);
    const Result result = program.run(i, {a}, rotated(0));
    EXPECT_THAT(result.fault.value_or(""), HasSubstr(cases[i].fault));
    if (*cases[i].fault != 0) continue;
    ASSERT_FALSE(result.fault);
    for (std::size_t j = 0; j < a.size(); ++j)
      ASSERT_EQ(result.outputs[0][j], a[(j ^ 4) < 512 ? (j ^ 4) + 512 : (j ^ 4) - 512]);
  }
}

TEST(Cluster, RefusesWhatCannotBeLaunched) {
  std::vector<Source> sources = {source_of(kShare), source_of(kShare)};
  sources[0].launch.grid[0] = 3;
  sources[1].launch.cluster = 16;
  const Program program(sources);
  EXPECT_THAT(program.run(0, {input()}).fault.value_or(""), HasSubstr("3 blocks in clusters of 2"));
  EXPECT_THAT(program.run(1, {input()}).fault.value_or(""), HasSubstr("clusters of 16"));
}

}  // namespace
}  // namespace lehr::emulator
