// Tests of the workloads that matches of f32 are in bf16, and of the nodes between them that carry bf16.
#include "network/narrow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "graph_text.h"

namespace lehr::testing {
namespace {

/// Returns, for each match of a graph by its output, the types of its inputs and its output: "bf16 bf16 f32 >
/// f32".
std::map<std::string, std::string> narrow_types(const std::string& graph, const IsServed& is_served) {
  const OnnxModel model = onnx_model(graph);
  const GraphShapes shapes = infer_shapes(model, {});
  const Matches matches = matches_of(model, shapes);
  const NarrowWorkloads narrow = narrow_workloads(model, shapes, matches, is_served);
  std::map<std::string, std::string> found;
  for (const MatchedWorkload& matched : matches.workloads)
    for (const Match& match : matched.matches) {
      std::string& text = found[std::string(match.output)];
      const auto one = narrow.find(&match);
      if (one == narrow.end()) continue;
      EXPECT_NO_THROW(validate(one->second));
      std::string made;
      for (const TensorSpec& tensor : tensors_of(one->second))
        (tensor.is_output() ? made : text) += std::string(name_of(tensor.type)) + " ";
      text += "> " + made;
    }
  return found;
}
std::map<std::string, std::string> narrow_types(const std::string& graph) {
  return narrow_types(graph, [](const Workload&) { return true; });
}

constexpr const char* kNarrowTensors = R"(
  input x f32 1x8x12x12
  constant w f32 8x8x3x3
  constant b f32 8
  constant v f32 12x5
  constant rows s64 2 = 96 12
)";

TEST(Narrow, OutputsAreNarrowWhereAllThatReadsThemWouldBe) {
  using Types = std::map<std::string, std::string>;
  const auto graph = [](const std::string& nodes) { return kNarrowTensors + nodes; };
  EXPECT_EQ(narrow_types(graph("y = Conv(x, w, b) pads=1,1,1,1\n output y")),
            (Types{{"y", "bf16 bf16 f32 > f32 "}}))
      << "callers read f32";
  const std::string chain = "a = Conv(x, w, b) pads=1,1,1,1\n r = Relu(a)\n y = Conv(r, w) pads=1,1,1,1\n";
  EXPECT_EQ(narrow_types(graph(chain + "output y")),
            (Types{{"r", "bf16 bf16 bf16 > bf16 "}, {"y", "bf16 bf16 > f32 "}}));
  EXPECT_EQ(narrow_types(graph(chain + "s = Hardmax(r)\n output y\n output s")),
            (Types{{"r", "bf16 bf16 f32 > f32 "}, {"y", "bf16 bf16 > f32 "}}))
      << "the engine reads f32";
  // A residual has the type of the sum to which it is added.
  EXPECT_EQ(narrow_types(graph(
                "a = Conv(x, w)\n r = Relu(a)\n p = Conv(r, w) pads=1,1,1,1\n y = Add(p, r)\n output y")),
            (Types{{"r", "bf16 bf16 > f32 "}, {"y", "bf16 bf16 f32 > f32 "}}));
  EXPECT_EQ(narrow_types(graph(
                "a = Conv(x, w)\n r = Relu(a)\n p = Conv(r, w) pads=1,1,1,1\n q = Add(p, r)\n z = Relu(q)\n"
                "y = Conv(z, w)\n output y")),
            (Types{{"r", "bf16 bf16 > bf16 "}, {"y", "bf16 bf16 > f32 "}, {"z", "bf16 bf16 bf16 > bf16 "}}));
}

TEST(Narrow, NodesBetweenMatchesCarryIt) {
  const auto ends_narrow = [](const std::string& between) {
    const auto found =
        narrow_types(std::string(kNarrowTensors) + "a = Conv(x, w) pads=1,1,1,1\n r = Relu(a)\n" + between +
                     "\n m = Reshape(t, rows)\n y = MatMul(m, v)\n output y");
    return found.at("r").ends_with("> bf16 ");
  };
  EXPECT_TRUE(ends_narrow("t = Transpose(r) perm=0,2,3,1"));
  EXPECT_TRUE(ends_narrow("s = Identity(r)\n t = Concat(s, r) axis=1"));
  EXPECT_TRUE(ends_narrow("s = MaxPool(r) kernel_shape=2,2 dilations=2,2\n t = GlobalAveragePool(s)"));
  EXPECT_TRUE(ends_narrow("s = AveragePool(r) kernel_shape=3,3 strides=1,1 pads=1,1,1,1\n t = Add(s, r)"));
  EXPECT_FALSE(ends_narrow("t = Add(r, b)")) << "of another shape";
  EXPECT_FALSE(ends_narrow("t = Hardmax(r)"));
  EXPECT_FALSE(ends_narrow("s = Exp(r)\n t = Concat(s, r) axis=1"));
}

TEST(Narrow, WhatIsNotServedStaysAndWhatReadsItToo) {
  const std::string graph = std::string(kNarrowTensors) +
                            "a = Conv(x, w) pads=1,1,1,1\n r = Relu(a)\n c = Conv(r, w)\n q = Relu(c)\n"
                            "y = Conv(q, w) strides=2,2\n output y";
  using Types = std::map<std::string, std::string>;
  EXPECT_EQ(narrow_types(graph, [](const Workload& workload) { return workload.conv2d().stride_h == 1; }),
            (Types{{"r", "bf16 bf16 > bf16 "}, {"q", "bf16 bf16 > f32 "}, {"y", ""}}));
  EXPECT_EQ(
      narrow_types(graph, [](const Workload& workload) { return workload.conv2d().output == DType::kF32; }),
      (Types{{"r", "bf16 bf16 > f32 "}, {"q", "bf16 bf16 > f32 "}, {"y", "bf16 bf16 > f32 "}}));
}

TEST(Narrow, ProductsOfTwoVariablesAndOtherTypes) {
  using Types = std::map<std::string, std::string>;
  EXPECT_EQ(narrow_types("input q f32 2x4x8\n input k f32 2x8x4\n y = MatMul(q, k)\n output y"),
            (Types{{"y", "bf16 bf16 > f32 "}}));
  EXPECT_EQ(narrow_types("input q f64 4x8\n constant k f64 8x4\n y = MatMul(q, k)\n output y"),
            (Types{{"y", ""}}));
}

}  // namespace
}  // namespace lehr::testing
