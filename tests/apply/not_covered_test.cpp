// Tests of the share of a network's time that kernels cover, and of what is reported of the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apply/not_covered.h"
#include "apply/report.h"
#include "tests/network/graph_text.h"

namespace lehr::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

std::map<std::string, std::size_t> uncounted(const std::string& graph) {
  const Network network = network_of(graph);
  return uncounted_nodes(network, network.matches);
}

TEST(NotCovered, AreSharesOfTheOriginalsTime) {
  // The rewritten network takes 60 us, its kernels 20 of them.
  const auto shares = time_shares({{"a", "Add", "", false, 0, 2},
                                   {"l", "LSTM", "", false, 20, 20},
                                   {"m", "LSTM", "", false, 10, 10},
                                   {"c", "Conv", "conv2d", true, 60, 20},
                                   {"s", "Softmax", "", false, 8, 8},
                                   {"", "ReorderOutput", "", false, 2, 0}});
  ASSERT_TRUE(shares);
  EXPECT_DOUBLE_EQ(shares->covered, 0.6);
  ASSERT_EQ(shares->not_covered.size(), 3u);
  EXPECT_EQ(shares->not_covered[0].name, "LSTM");
  EXPECT_DOUBLE_EQ(shares->not_covered[0].share, 0.3);
  EXPECT_DOUBLE_EQ(shares->not_covered[1].share, 0.08);
}

TEST(NotCovered, IsUnknownWithoutTimesAndNoMoreThanAll) {
  EXPECT_FALSE(time_shares({}));
  const auto slower =
      time_shares({{"l", "LSTM", "", false, 75, 300}, {"c", "Conv", "conv2d", true, 25, 100}});
  EXPECT_EQ(slower->covered, 0);
  EXPECT_EQ(slower->not_covered[0].share, 1);
}

TEST(NotCounted, AreNodesOfNoMatchAndMatchesOfUnknownSize) {
  EXPECT_THAT(uncounted(R"(
    input x f32 8x16
    input u f32 ?x?
    constant w f32 16x32
    constant v f32 4x4x3x3
    input t f32 1x4x8x8
    m = MatMul(x, w)
    r = Relu(m)
    s = Softmax(r)
    y = Softmax(s)
    z = MatMul(u, w)
    c = ConvTranspose(t, v)
    output y
    output z
    output c
  )"),
              ElementsAre(Pair("ConvTranspose", 1), Pair("MatMul", 1), Pair("Softmax", 2)));
}

TEST(NotCounted, AreNoNodesThatComputeNothingOfAnInput) {
  EXPECT_THAT(uncounted(R"(
    input x f32 8x16
    constant w f32 16x32
    constant f f32 16x32
    v = Add(w, f)
    a = Identity(x)
    m = MatMul(a, v)
    n = Shape(m)
    y = Reshape(m, n)
    output y
  )"),
              IsEmpty());
}

Applied applied_half() {
  Applied applied;
  applied.matches = 2;
  applied.with_kernels = 2;
  applied.replaced = 2;
  applied.share_of_flops = 1;
  applied.verdict.failure = "--no-engine";
  applied.not_counted = {{"LSTM", 2}, {"Softmax", 1}};
  return applied;
}

TEST(Report, NamesWhatIsNotCoveredWithItsShare) {
  Applied applied = applied_half();
  applied.covered_share = 0.6;
  applied.not_covered = {{"LSTM", 0.35}, {"Soft\x1b[31mmax", 0.04}, {"Add", 0.007}, {"Tanh", 0.003}};
  EXPECT_THAT(report_text(applied),
              HasSubstr("\nkernels cover 60.0 % of the original's time; not covered: LSTM 35.0 %, "
                        "Soft?[31mmax 4.0 %, others 1.0 %\n"));
  EXPECT_THAT(report_text(applied), Not(HasSubstr("100.0 %")));
  const nlohmann::json document = to_json(applied);
  EXPECT_EQ(document["covered_share"], 0.6);
  EXPECT_EQ(document["not_covered"].size(), 4u);
  EXPECT_EQ(document["not_covered"][0], nlohmann::json({{"operator", "LSTM"}, {"share", 0.35}}));
}

TEST(Report, NamesWhatIsNotCountedWhereTimeIsNotMeasured) {
  const Applied applied = applied_half();
  EXPECT_THAT(report_text(applied), HasSubstr("by kernels, 100.0 % of the operations that are counted: "));
  EXPECT_THAT(report_text(applied), HasSubstr("\nnot counted: 2 x LSTM, 1 x Softmax\n"));
  const nlohmann::json document = to_json(applied);
  EXPECT_TRUE(document["covered_share"].is_null());
  EXPECT_EQ(document["not_counted"]["LSTM"], 2);
}

}  // namespace
}  // namespace lehr::testing
