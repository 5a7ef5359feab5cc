// Tests of the kernels that matches get before an engine is asked: by their times, and by what casts and
// transposes between them take.
#include "apply/choose_matches.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apply/value_forms.h"
#include "network/layouts.h"
#include "network/narrow.h"
#include "tests/network/graph_text.h"

namespace lehr::testing {
namespace {

/// Returns a network of convolutions one behind the other, of images `size` pixels high and wide. The last
/// one's output is the graph's.
Network chain(int convolutions, int size) {
  std::string text = fmt::format("input v0 f32 1x16x{}x{}\n constant w f32 16x16x3x3\n", size, size);
  for (int i = 0; i < convolutions; ++i)
    text += fmt::format("c{0} = Conv(v{0}, w) pads=1,1,1,1\n v{1} = Relu(c{0})\n", i, i + 1);
  return network_of(text + fmt::format("output v{}", convolutions));
}

/// Returns a letter for each match in order, e.g. "fbb": the type in which it is expected to be fastest. In
/// f32 each takes 1000 us, and in bf16 the time that is given; 0: it has no kernel of bf16.
std::string expected(const Network& network, const std::vector<double>& narrow_us) {
  const NarrowWorkloads narrow =
      narrow_workloads(network.model, network.shapes, network.matches, [](const Workload&) { return true; });
  std::vector<MatchKernels> matches(narrow_us.size());
  for (const MatchedWorkload& matched : network.matches.workloads)
    for (const Match& match : matched.matches) {
      const std::size_t i = match.nodes[0] / 2;
      matches[i].push_back({&match, matched.workload, 1, false, 1000});
      if (narrow_us[i] > 0) matches[i].push_back({&match, narrow.at(&match), 1, false, narrow_us[i]});
    }
  std::string types;
  for (const Replacement& each : expected_fastest(network, matches))
    types += inputs_of(each.workload)[0].type == DType::kBF16 ? 'b' : 'f';
  return types;
}

TEST(ExpectedFastest, CountsCasts) {
  // 256 x 256 x 16 numbers: a cast takes about 393 us.
  const Network large = chain(4, 256);
  EXPECT_EQ(expected(large, {1000, 900, 900, 900}), "ffff")
      << "100 us each do not pay for the cast before them";
  EXPECT_EQ(expected(large, {1010, 850, 850, 850}), "fbbb") << "450 us do: the last one makes f32 by itself";
  EXPECT_EQ(expected(large, {1100, 500, 1100, 1100}), "ffff");
  EXPECT_EQ(expected(large, {900, 1050, 800, 800}), "bbbb") << "50 us are less than two casts";
  EXPECT_EQ(expected(large, {500, 0, 500, 900}), "ffbb");
  const Network small = chain(4, 16);
  EXPECT_EQ(expected(small, {1010, 990, 1010, 990}), "fbfb") << "casts take 1.5 us";
  EXPECT_EQ(expected(small, {0, 0, 0, 0}), "ffff");
}

/// Returns a letter for each match in order, e.g. "nLL": its layout. With channels first each takes 1000 us,
/// and with channels last the time that is given; 0: it has no such kernel.
std::string expected_layouts(const Network& network, const std::vector<double>& last_us) {
  std::vector<MatchKernels> matches(last_us.size());
  for (const MatchedWorkload& matched : network.matches.workloads)
    for (const Match& match : matched.matches) {
      if (match.by_rows) continue;  // the engine's here
      const std::size_t i = std::count_if(network.model.nodes.begin(),
                                          network.model.nodes.begin() + static_cast<long>(match.nodes[0]),
                                          [](const OnnxNode& node) { return node.op == "Conv"; });
      matches[i].push_back({&match, matched.workload, 1, false, 1000});
      if (last_us[i] > 0)
        matches[i].push_back({&match, *channels_last(matched.workload), 1, false, last_us[i]});
    }
  std::string layouts;
  for (const Replacement& each : expected_fastest(network, matches))
    layouts += has_channels_last(each.workload) ? 'L' : 'n';
  return layouts;
}

TEST(ExpectedFastest, CountsTransposes) {
  // 64 x 64 x 16 numbers: a Transpose takes about 8 us.
  const Network network = chain(4, 64);
  EXPECT_EQ(expected_layouts(network, {999, 999, 999, 999}), "nnnn") << "4 us do not pay for two transposes";
  EXPECT_EQ(expected_layouts(network, {995, 995, 995, 995}), "LLLL");
  EXPECT_EQ(expected_layouts(network, {1100, 980, 990, 1100}), "nLLn");
  EXPECT_EQ(expected_layouts(network, {1100, 990, 1100, 1100}), "nnnn");
  EXPECT_EQ(expected_layouts(network, {900, 0, 900, 900}), "LnLL");
  EXPECT_EQ(expected_layouts(network, {990, 1005, 990, 990}), "LLLL") << "5 us are less than two transposes";
}

TEST(ExpectedFastest, CountsNoTransposesOfWhatLiesBetween) {
  const auto layouts = [](const std::string& between) {
    return expected_layouts(network_of("input x f32 1x16x64x64\n constant w f32 16x16x3x3\n"
                                       "constant c f32 1x16x1x1\n a = Conv(x, w) pads=1,1,1,1\n" +
                                       between + " y = Conv(m, w) pads=1,1,1,1\n output y"),
                            {988, 988});
  };
  EXPECT_EQ(layouts("m = Exp(a)\n"), "nn") << "four transposes: one before and one behind each";
  EXPECT_EQ(layouts("e = Relu(a)\n f = Sub(c, a)\n m = Mul(f, e)\n"), "LL");
}

}  // namespace
}  // namespace lehr::testing
