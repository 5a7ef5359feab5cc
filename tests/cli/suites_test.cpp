// Lists of workloads that come with the program.
#include "cli/suites.h"

#include <gtest/gtest.h>

#include <set>

#include "support.h"
#include "templates/catalog.h"
#include "tests/templates/cpu_problems.h"

namespace lehr::testing {
namespace {

TEST(Suites, HaveWorkloadsThatAProcessorServes) {
  for (const Suite& suite : suites()) {
    std::set<std::string_view> networks;
    std::vector<std::string> left_out;
    const std::vector<Workload> workloads = workloads_of_suite(
        std::string(suite.name), [&](const std::string& text) { left_out.push_back(text); });
    std::size_t without = 0;
    for (const SuiteRow& row : suite.rows) {
      networks.insert(row.network);
      without += row.workload.empty() ? 1 : 0;
      EXPECT_EQ(row.workload.empty(), !row.note.empty()) << row.network;
    }
    EXPECT_EQ(left_out.size(), without);
    EXPECT_EQ(workloads.size() + without, suite.rows.size()) << "a workload is there twice";
    EXPECT_GE(networks.size(), 2U);
    for (const Workload& workload : workloads) EXPECT_NO_THROW(kernel_space(workload, cpu_limits(32, 2)));
  }
}

TEST(Suites, AreProblemsOfACommand) {
  const Scratch scratch;
  const Ran unknown = run_lehr(words("tune --suite autotwm"), scratch.path());
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err.find("did you mean autotvm"), std::string::npos) << unknown.err;
  const Ran both = run_lehr(words("tune --suite autotvm --problems x"), scratch.path());
  EXPECT_EQ(both.code, 1);
  EXPECT_NE(both.err.find("exclude each other"), std::string::npos) << both.err;
}

}  // namespace
}  // namespace lehr::testing
