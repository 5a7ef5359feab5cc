// Tests of the lists of problems that come with the program.
#include "problems/suites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "problems/list.h"
#include "templates/catalog.h"
#include "tests/templates/cpu_problems.h"

namespace lehr::testing {
namespace {

TEST(Suites, HaveWorkloadsThatAProcessorServes) {
  for (const Suite& suite : suites()) {
    const ProblemList list = read_problems(suite.text, suite.name);
    EXPECT_THAT(list.unusable, ::testing::IsEmpty());
    EXPECT_EQ(list.problems.size(), list.lines) << "a workload is there twice";
    EXPECT_GE(std::ranges::count(suite.text, '#'), 2) << "networks";
    for (const Workload& workload : list.problems) EXPECT_NO_THROW(kernel_space(workload, cpu_limits(32, 2)));
  }
}

}  // namespace
}  // namespace lehr::testing
