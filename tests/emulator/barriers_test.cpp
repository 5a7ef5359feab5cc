// Tests of named barriers: which accesses they order, and errors that a kernel can make with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/emulator/kernel_text.h"
#include "tests/emulator/program.h"

namespace lehr::emulator {
namespace {

using lehr::testing::kernel_text;
using ::testing::HasSubstr;

constexpr int kThreads = 128;

struct Case {
  const char* name;
  std::string body;
  const char* fault;  ///< "": the kernel is right
};

/// Returns a kernel of two groups of two warps. Each group has one half of shared memory and its own barrier.
std::string groups(const std::string& body) {
  return "  float* s = reinterpret_cast<float*>(lehr_shared);\n  const int g = t / 64;\n" + body;
}
std::string sync(const std::string& id, const std::string& threads = "64") {
  return "  emulated_named_barrier(" + id + ", " + threads + ", __LINE__);\n";
}

const std::vector<Case>& cases() {
  static const std::string write = "  s[t] = a[t];\n";
  static const std::string mirror = "  c[t] = s[g * 64 + 63 - t % 64];\n";
  static const std::string own = sync("1 + g");
  static const std::vector<Case> all = {
      {"OrdersItsOwnGroup", write + own + mirror, ""},
      {"OrdersReadersBeforeTheNextWriter",
       write + own + "  float x = s[g * 64 + 63 - t % 64];\n" + own + "  s[t] = x;\n" + own +
           "  c[t] = s[t];\n",
       ""},
      {"ManyReadersThenAWriter",
       write + own + "  float x = 0;\n  for (int i = 0; i < 64; ++i) x += s[g * 64 + i];\n" + own +
           "  if (t % 64 == 0) s[t] = x;\n" + own + "  c[t] = s[g * 64] - x + a[g * 64 + 63 - t % 64];\n",
       ""},
      {"BlockBarriersBeside", write + own + mirror + "  __syncthreads();\n  s[127 - t] = 0;\n", ""},
      {"OverTwoHops",  // barrier 3 orders group 0 before all, barrier 2 orders all before group 1
       "  if (g == 0) s[t] = a[t];\n" + sync("3", "128") + "  if (g == 1) s[64 + t % 64] = s[t % 64];\n" +
           sync("2", "128") + "  c[t] = s[64 + 63 - t % 64] * 0 + a[g * 64 + 63 - t % 64];\n",
       ""},
      {"Missing", write + mirror, "reads shared memory at byte"},
      {"MissingBeforeTheNextWrite",
       write + own + "  float x = s[g * 64 + 63 - t % 64];\n  s[t] = x;\n  c[t] = 0;\n",
       "since the last barrier"},
      {"DoesNotOrderTheOtherGroup", write + own + "  c[t] = s[127 - t];\n", "reads shared memory at byte"},
      {"SameWarpOnly", "  if (t % 64 < 32) s[t] = a[t];\n  __syncwarp();\n  c[t] = s[g * 64 + t % 32];\n",
       "reads shared memory at byte"},
      {"TooManyAreWaitedFor", write + sync("1 + g", "96") + mirror, "waits at the named barrier"},
      {"CountsDiffer",
       write + "  if (t < 32) {\n" + sync("1", "64") + "  } else {\n" + sync("1", "128") + "  }\n",
       "others wait for"},
      {"NumberZero", sync("0"), "comes to named barrier 0"},
      {"HalfAWarp", sync("1", "48"), "for 48 threads"},
  };
  return all;
}

const Program& program() {
  static const Program program = [] {
    std::vector<Source> sources;
    for (const Case& one : cases()) {
      sources.push_back(kernel_text({{"a", DType::kF32, kThreads, ir::Direction::kIn},
                                     {"c", DType::kF32, kThreads, ir::Direction::kOut}},
                                    kThreads, 4 * kThreads, groups(one.body)));
    }
    return Program(sources);
  }();
  return program;
}

class NamedBarrier : public ::testing::TestWithParam<std::size_t> {};

TEST_P(NamedBarrier, IsJudgedAlikeInEveryOrderOfThreads) {
  const Case& one = cases()[GetParam()];
  std::vector<float> input;
  for (int i = 0; i < kThreads; ++i) input.push_back(static_cast<float>(i + 1));
  for (std::uint64_t number = 0; number < 8; ++number) {
    SCOPED_TRACE(::testing::Message() << "schedule " << number);
    const Result run = program().run(GetParam(), {input}, rotated(number));
    if (*one.fault != '\0') {
      ASSERT_TRUE(run.fault) << "nothing found in " << one.body;
      EXPECT_THAT(*run.fault, HasSubstr(one.fault));
      continue;
    }
    ASSERT_FALSE(run.fault) << *run.fault;
    for (std::size_t t = 0; t < kThreads; ++t)
      EXPECT_EQ(run.outputs[0][t], input[t / 64 * 64 + 63 - t % 64]) << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, NamedBarrier, ::testing::Range<std::size_t>(0, 13),
                         [](const auto& info) { return cases()[info.param].name; });

TEST(NamedBarrierCases, AreAllRun) {
  EXPECT_EQ(cases().size(), 13u);
}

}  // namespace
}  // namespace lehr::emulator
