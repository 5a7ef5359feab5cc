// Tests with planted faults: the emulator must find the faults, and must report nothing for kernels without a
// fault. The kernels are written in the form that the emitter would write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "target/prelude.h"
#include "tests/emulator/kernel_text.h"
#include "tests/emulator/program.h"

namespace lehr::emulator {
namespace {

using ::testing::HasSubstr;

constexpr int kThreads = 64;

/// Returns a kernel with one block of 64 threads, an input `a` and an output `c` (64 elements each), and 256
/// bytes of shared memory.
Source source_of(const std::string& body, const std::string& prelude = "") {
  return lehr::testing::kernel_text(
      {{"a", DType::kF32, kThreads, ir::Direction::kIn}, {"c", DType::kF32, kThreads, ir::Direction::kOut}},
      kThreads, kThreads * 4, "  float* s = reinterpret_cast<float*>(lehr_shared);\n" + body, prelude);
}

struct Case {
  const char* name;
  const char* body;
  const char* fault;  ///< a part of the fault's text; "": there is no fault
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"Right", "s[t] = a[t]; __syncthreads(); c[t] = s[63 - t];", ""},
      {"RightTwice",
       "s[t] = a[t]; __syncthreads(); float x = s[63 - t]; __syncthreads(); s[t] = x; __syncthreads(); c[t] "
       "= s[t ^ 1];",
       ""},
      {"RightVector",
       "if (t < 16) *reinterpret_cast<float4*>(c + t * 4) = *reinterpret_cast<const float4*>(a + t * 4);",
       ""},
      {"RightAsync",
       "lehr_cp_async_4(s + t, a + t); lehr_cp_async_commit(); lehr_cp_async_wait<0>(); __syncthreads(); "
       "c[t] = s[63 - t];",
       ""},
      {"RightZeroFill",
       "lehr_cp_async_4(s + t, a + t + 1000, 0); lehr_cp_async_commit(); lehr_cp_async_wait<0>(); c[t] = "
       "s[t];",
       ""},
      {"MissingBarrierBeforeRead", "s[t] = a[t]; c[t] = s[63 - t];", "shared memory"},
      {"MissingBarrierBeforeWrite",
       "s[t] = a[t]; __syncthreads(); float x = s[63 - t]; s[t] = x; __syncthreads(); c[t] = s[t];",
       "a race"},
      {"TwoWriters", "s[t / 2] = a[t]; __syncthreads(); c[t] = s[t / 2];", "a race"},
      {"NeverWritten", "if (t < 32) s[t] = a[t]; __syncthreads(); c[t] = s[t];", "nobody has written it"},
      {"ReadsBehindTheInput", "c[t] = a[t + 1];", "index 64 of 64"},
      {"ReadsFarBehindTheInput", "c[t] = a[t + 100];", "outside"},
      {"WritesBehindTheOutput", "c[t + 1] = a[t];", "index 64 of 64"},
      {"WritesBeforeTheOutput", "c[t - 1] = a[t];", "index -1 of 64"},
      {"WritesTheInput", "const_cast<float*>(a)[t] = 0; c[t] = 0;", "an input"},
      {"SharedOutOfBounds", "s[t + 1] = a[t]; c[t] = 0;", "byte 256 of 256"},
      {"VectorOverTheEnd",
       "if (t == 15) *reinterpret_cast<float4*>(c + 62) = *reinterpret_cast<const float4*>(a);",
       "8 bytes beyond its 64 elements"},
      {"Misaligned",
       "if (t < 15) *reinterpret_cast<float2*>(c + t * 4 + 1) = *reinterpret_cast<const float2*>(a + t * 4);",
       "not aligned"},
      {"TwoThreadsWriteOneOutput", "c[t / 2] = a[t];", "has written"},
      {"ReadsAnUnwrittenOutput", "c[t] = a[t] + c[t];", "has not written"},
      {"BarrierUnderAnIf", "s[t] = a[t]; if (t < 32) __syncthreads(); c[t] = s[t];", "has ended"},
      {"TwoBarriersThatDisagree",
       "if (t < 32) {\n __syncthreads();\n } else {\n __syncthreads();\n }\n c[t] = a[t];",
       "thread 32 waits at the block barrier of line"},
      {"BarrierInOneHalfOfAWarp", "if (t % 32 < 16) __syncwarp(); c[t] = a[t];", "waits at the warp barrier"},
      {"WarpsThatMeetAtNoBarrier", "if (t < 32) __syncthreads(); else __syncwarp(); c[t] = a[t];",
       "has ended"},
      {"RightWarpSynchronous",
       "s[t] = a[t]; __syncwarp(); float x = s[t ^ 31]; __syncwarp(); s[t ^ 31] = x; __syncwarp(); c[t] = "
       "s[t];",
       ""},
      {"MissingWarpBarrierBeforeRead", "s[t] = a[t]; c[t] = s[t ^ 1];", "shared memory"},
      {"MissingWarpBarrierBeforeWrite", "s[t] = a[t]; __syncwarp(); float x = s[t ^ 1]; s[t] = x; c[t] = x;",
       "a race"},
      {"WarpBarrierBetweenTwoWarps", "s[t] = a[t]; __syncwarp(); c[t] = s[63 - t];", "shared memory"},
      {"WarpBarrierAfterAsync",
       "lehr_cp_async_4(s + t, a + t); lehr_cp_async_commit(); lehr_cp_async_wait<0>(); __syncwarp(); c[t] = "
       "s[t ^ 31];",
       ""},
      {"MissingWait", "lehr_cp_async_4(s + t, a + t); lehr_cp_async_commit(); __syncthreads(); c[t] = s[t];",
       "has not been waited for"},
      {"WaitForTooFew",
       "lehr_cp_async_4(s + t, a + t); lehr_cp_async_commit(); lehr_cp_async_wait<1>(); c[t] = s[t];",
       "has not been waited for"},
      {"MissingCommit", "lehr_cp_async_4(s + t, a + t); lehr_cp_async_wait<0>(); c[t] = s[t];",
       "has not been waited for"},
      {"WaitWithoutBarrier",
       "lehr_cp_async_4(s + t, a + t); lehr_cp_async_commit(); lehr_cp_async_wait<0>(); c[t] = s[63 - t];",
       "shared memory"},
      {"AsyncUnaligned", "if (t < 15) lehr_cp_async_16(s + t * 4, a + t * 4 + 1); c[t] = 0;", "unaligned"},
      {"AsyncSharedUnaligned", "if (t < 15) lehr_cp_async_8(s + t * 4 + 1, a + t * 4); c[t] = 0;",
       "not aligned"},
      {"AsyncBehindTheInput", "lehr_cp_async_4(s + t, a + t + 1); lehr_cp_async_commit(); c[t] = 0;",
       "index 64 of 64"},
      {"AsyncOverwritesWhatIsRead",
       "s[t] = a[t]; __syncthreads(); c[t] = s[63 - t]; lehr_cp_async_4(s + t, a + t);",
       "asynchronous copy into it"},
  };
  return all;
}

const Program& program() {
  static const Program program = [] {
    std::vector<Source> sources;
    for (const Case& one : cases()) sources.push_back(source_of(one.body));
    return Program(sources);
  }();
  return program;
}

std::vector<float> input() {
  std::vector<float> values;
  for (int i = 0; i < kThreads; ++i) values.push_back(static_cast<float>(i + 1));
  return values;
}

class PlantedFault : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlantedFault, IsFoundInEveryOrderOfThreads) {
  const Case& one = cases()[GetParam()];
  for (std::uint64_t number = 0; number < 8; ++number) {
    SCOPED_TRACE(::testing::Message() << "schedule " << number);
    const Result run = program().run(GetParam(), {input()}, rotated(number));
    if (*one.fault == '\0') {
      EXPECT_FALSE(run.fault) << *run.fault;
    } else {
      ASSERT_TRUE(run.fault) << "nothing found in " << one.body;
      EXPECT_THAT(*run.fault, HasSubstr(one.fault));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Emulator, PlantedFault, ::testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& info) { return std::string(cases()[info.param].name); });

std::size_t index_of(const std::string& name) {
  for (std::size_t i = 0; i < cases().size(); ++i) {
    if (name == cases()[i].name) return i;
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(Emulator, GivesTheKernelsResult) {
  for (const char* name : {"Right", "RightAsync"}) {
    const Result run = program().run(index_of(name), {input()});
    for (int t = 0; t < kThreads; ++t)
      EXPECT_EQ(run.outputs.at(0).at(static_cast<std::size_t>(t)), 64 - t) << name;
  }
  const Result filled = program().run(index_of("RightZeroFill"), {input()});
  for (const float value : filled.outputs.at(0)) EXPECT_EQ(value, 0);
}

TEST(Emulator, LeavesNaNWhereNothingWasWritten) {
  const Result run = program().run(index_of("NeverWritten"), {input()}, Order::kReverse);
  EXPECT_TRUE(std::isnan(run.outputs.at(0).at(0)));
}

TEST(Emulator, CountsWhatIsMoved) {
  const Result run = program().run(index_of("RightTwice"), {input()});
  EXPECT_EQ(run.traffic.at(0).read_bytes, 256);
  EXPECT_EQ(run.traffic.at(1).written_bytes, 256);
  EXPECT_EQ(run.shared.written_bytes, 512);
  EXPECT_EQ(run.shared.read_bytes, 512);
  EXPECT_EQ(run.barriers, 3);
}

TEST(Emulator, RunsEveryBlockWithFreshSharedMemory) {
  Source source = source_of(
      "const int i = blockIdx.x * 8 + t % 8;\n  if (blockIdx.x == 0 && blockIdx.y == 0) s[t] = 1;\n  "
      "__syncthreads();\n"
      "  if (blockIdx.y == 1 && t < 8) c[i] = s[t] + gridDim.x;");
  source.launch.grid = {8, 2, 1};
  const std::vector<Source> sources = {source};
  const Result run = Program(sources).run(0, {input()});
  ASSERT_TRUE(run.fault);
  EXPECT_THAT(*run.fault, HasSubstr("block 8 thread 0"));
  EXPECT_THAT(*run.fault, HasSubstr("nobody has written it"));
}

TEST(Emulator, NumbersThreadsInThreeDimensions) {
  Source source = source_of(
      "c[threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)] = threadIdx.z * 100 + "
      "threadIdx.y * 10 + threadIdx.x;");
  source.launch.block = {4, 8, 2};
  const std::vector<Source> sources = {source};
  const Result run = Program(sources).run(0, {input()});
  ASSERT_FALSE(run.fault) << *run.fault;
  EXPECT_EQ(run.outputs.at(0).at(0), 0);
  EXPECT_EQ(run.outputs.at(0).at(5), 11);
  EXPECT_EQ(run.outputs.at(0).at(63), 173);
}

TEST(Emulator, HasASecondBodyOfEveryFunctionThatIsInlinePtx) {
  SnippetSet snippets = {"base",        "prefetch",        "cp_async_4",   "cp_async_8",
                         "cp_async_16", "cp_async_commit", "cp_async_wait"};
  const Source source = source_of(
      "lehr_prefetch(a + t); lehr_cp_async_4(s + t, a + t); lehr_cp_async_commit(); lehr_cp_async_wait<0>(); "
      "if (t < 0) { lehr_cp_async_8(s, a); lehr_cp_async_16(s, a, 8); }\nc[t] = 2 * s[t];",
      prelude(Target::kCuda, snippets));
  EXPECT_THAT(source.text, HasSubstr("asm volatile"));
  const std::vector<Source> sources = {source};
  EXPECT_EQ(Program(sources).run(0, {input()}).outputs.at(0).at(10), 22);
}

TEST(Emulator, PassesOnTheCompilersWords) {
  const std::vector<Source> sources = {source_of("c[t] = missing_name;")};
  try {
    const Program program(sources);
    FAIL() << "it compiled";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing_name"));
  }
}

}  // namespace
}  // namespace lehr::emulator
