// Tests of the set of a range's verdict: read back, refused, and how much it loses.
#include "database/row_set.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/describe_json.h"

namespace lehr::testing {
namespace {

RowSet some_set() {
  return {.workload = "gemm m=1..64 n=8 k=8",
          .least = 1,
          .most = 64,
          .members = {{"gemm m=1", "gemv_cpu(x=1)", 7, "r0", 1},
                      {"gemm m=..64", "gemm_cpu(x=2)", ~0ULL, "r1", 64}},
          .times = {{1, 2, 2}, {8, 6, 5}, {64, 30, 30}},
          .held_out = {{5, 4, 5, 6, -0.2, -0.3, -0.1}, {9, 7, 5, 0, 0.4, 0.3, 0.5}},
          .held_out_seed = 3};
}

StoredVerdict verdict_of(const RowSet& set) {
  StoredVerdict verdict;
  verdict.workload = set.workload;
  verdict.json = nlohmann::json{{"workload", set.workload}, {"set", set}}.dump();
  return verdict;
}

TEST(RowSetOfVerdict, IsReadBackAsItWasWritten) {
  const RowSet set = some_set();
  const std::optional<RowSet> read = row_set_of(verdict_of(set));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, set);
  EXPECT_EQ(member_for(set, 1).record, "r0");
  EXPECT_EQ(member_for(set, 2).record, "r1");
  EXPECT_EQ(member_for(set, 64).record, "r1");
  EXPECT_DOUBLE_EQ(losses_of(set.times).worst, 0.2);
  EXPECT_DOUBLE_EQ(losses_of(set.held_out).worst, 0.4);
  EXPECT_DOUBLE_EQ(losses_of(set.held_out).mean, 0.2) << "what is faster than its own counts as nothing lost";
}

TEST(RowLosses, TellHowWellTheirMeanIsKnown) {
  std::vector<HeldOutRows> held_out(5);
  for (std::size_t i = 0; i < 5; ++i) held_out[i].loss = 0.1 * static_cast<double>(i);
  const Losses five = losses_of(held_out);
  EXPECT_DOUBLE_EQ(five.mean, 0.2);
  EXPECT_NEAR(five.mean_interval.low, 0.0037, 0.005) << "0.2 less 2.776 standard errors";
  EXPECT_NEAR(five.mean_interval.high, 0.3963, 0.005);
  held_out.resize(3);
  EXPECT_FALSE(losses_of(held_out).mean_interval.known());
  EXPECT_FALSE(losses_of(std::vector<HeldOutRows>()).mean_interval.known());
}

TEST(RowSetOfVerdict, IsNoneWhereItCoversNoRange) {
  StoredVerdict verdict;
  verdict.json = "{}";
  EXPECT_FALSE(row_set_of(verdict));
  verdict.json = "no document";
  EXPECT_FALSE(row_set_of(verdict));
  verdict = verdict_of(some_set());
  verdict.workload = "gemm m=1..32 n=8 k=8";
  EXPECT_FALSE(row_set_of(verdict)) << "it is another range's";
  const auto broken = [](auto change) {
    RowSet set = some_set();
    change(set);
    return !row_set_of(verdict_of(set));
  };
  EXPECT_TRUE(broken([](RowSet& set) { set.members.clear(); }));
  EXPECT_TRUE(broken([](RowSet& set) { set.members[0].to = 64; }));
  EXPECT_TRUE(broken([](RowSet& set) { set.members[1].to = 63; }));
  EXPECT_TRUE(broken([](RowSet& set) { set.times[1].rows = 64; }));
  EXPECT_TRUE(broken([](RowSet& set) { set.times[1].us = 0; }));
  EXPECT_TRUE(broken([](RowSet& set) { set.times.pop_back(); }));
  EXPECT_TRUE(broken([](RowSet& set) { set.least = 0; }));
}

}  // namespace
}  // namespace lehr::testing
