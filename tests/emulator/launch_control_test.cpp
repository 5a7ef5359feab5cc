// Tests of launches that overlap the launch before them (griddepcontrol), and of errors that a kernel can
// make with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/emulator/kernel_text.h"
#include "tests/emulator/program.h"

namespace lehr::emulator {
namespace {

using lehr::testing::kernel_text;
using ::testing::HasSubstr;

constexpr int kThreads = 64;

struct Case {
  const char* name;
  std::string body;
  const char* fault;  ///< "": the kernel is right
};

const std::vector<Case>& cases() {
  static const std::string wait = "  lehr_griddepcontrol_wait();\n";
  static const std::string next = "  lehr_griddepcontrol_launch_dependents();\n";
  static const std::string copy = "  c[t] = a[t];\n";
  static const std::vector<Case> all = {
      {"Waits", wait + next + copy, ""},
      {"LetsTheNextBeginByOneThreadAndLast",
       wait + copy + "  if (t == 7) lehr_griddepcontrol_launch_dependents();\n", ""},
      {"WorksInSharedMemoryBefore",
       "  float* s = reinterpret_cast<float*>(lehr_shared);\n  s[t] = 2;\n" + wait + next +
           "  c[t] = s[t] - 2 + a[t];\n",
       ""},
      {"ReadsBefore", "  const float x = a[t];\n" + wait + next + "  c[t] = x;\n",
       "reads a before it has waited for the launches before"},
      {"WritesBefore", "  c[t] = 1;\n" + wait + next + copy, "writes c before it has waited"},
      {"CopiesBefore",
       "  if (t < 16) lehr_cp_async_16(lehr_shared + t * 16, a + t * 4);\n" + wait + next + copy,
       "reads a before it has waited"},
      {"OneThreadReliesOnTheOthers", "  if (t != 3)" + wait + next + copy,
       "thread 3: reads a before it has waited"},
      {"OneThreadEndsBeforeTheOthersHaveWaited", next + "  if (t == 5) return;\n" + wait + copy,
       "thread 5 has not waited for the launches before"},
      {"NeverLetsTheNextBegin", wait + copy, "do not let the next launch begin"},
  };
  return all;
}

class LaunchControl : public ::testing::TestWithParam<std::size_t> {};

TEST_P(LaunchControl, IsChecked) {
  const Case& one = cases()[GetParam()];
  std::vector<Source> sources = {kernel_text(
      {{"a", DType::kF32, kThreads, ir::Direction::kIn}, {"c", DType::kF32, kThreads, ir::Direction::kOut}},
      kThreads, 4 * kThreads, one.body)};
  sources[0].launch.programmatic = true;
  const Program program(sources);
  const std::vector<float> input(kThreads, 3);
  const Result run = program.run(0, {input});
  if (*one.fault != 0) {
    EXPECT_THAT(run.fault.value_or(""), HasSubstr(one.fault));
    return;
  }
  EXPECT_FALSE(run.fault) << *run.fault;
  EXPECT_EQ(run.outputs.at(0), input);
}

INSTANTIATE_TEST_SUITE_P(Cases, LaunchControl, ::testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& info) { return std::string(cases()[info.param].name); });

TEST(LaunchControlOfOrdinaryLaunches, IsRefused) {
  const std::vector<Source> sources = {kernel_text({{"c", DType::kF32, kThreads, ir::Direction::kOut}},
                                                   kThreads, 16,
                                                   "  lehr_griddepcontrol_wait();\n  c[t] = 1;\n")};
  const Result run = Program(sources).run(0, {});
  EXPECT_THAT(run.fault.value_or(""), HasSubstr("griddepcontrol in a launch that does not overlap others"));
}

}  // namespace
}  // namespace lehr::emulator
