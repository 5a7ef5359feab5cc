// Tests of a node, and of the shape of what it makes.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph_text.h"
#include "network/shapes.h"

namespace lehr::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string text_of(const ValueFacts& facts) {
  if (!facts.shape) return "unknown";
  std::vector<std::string> dims;
  for (const Dim& dim : *facts.shape) dims.push_back(dim ? std::to_string(*dim) : "?");
  return fmt::format("{}", fmt::join(dims, "x"));
}

std::string shape_of(const std::string& graph, const ShapeBindings& bindings = {}, std::int64_t opset = 17) {
  const OnnxModel model = onnx_model(graph, opset);
  return text_of(infer_shapes(model, bindings).of("y"));
}

struct Case {
  const char* node;
  const char* shape;
};

// x is 2x3x10x12; y is made of it.
constexpr Case kCases[] = {
    {"y = Relu(x)", "2x3x10x12"},
    {"y = Clip(x, zero, one)", "2x3x10x12"},
    {"y = Add(x, channels)", "2x3x10x12"},
    {"y = Mul(channels, x)", "2x3x10x12"},
    {"y = Add(x, five)", "unknown"},
    {"y = Equal(x, x)", "2x3x10x12"},
    {"y = Conv(x, filter)", "2x4x8x10"},
    {"y = Conv(x, filter) pads=1,1,1,1", "2x4x10x12"},
    {"y = Conv(x, filter) strides=2,2 pads=1,1,0,0", "2x4x5x6"},
    {"y = Conv(x, filter) dilations=2,2", "2x4x6x8"},
    {"y = Conv(x, filter) auto_pad=\"SAME_UPPER\" strides=3,3", "2x4x4x4"},
    {"y = Conv(x, filter) auto_pad=\"VALID\" strides=3,3", "2x4x3x4"},
    {"y = Conv(x, filter) dilations=9,9", "2x4x?x?"},
    {"y = Conv(steps, taps) pads=1,1", "11x6x4"},
    {"y = MaxPool(steps) kernel_shape=2, strides=2,", "11x1x2"},
    {"y = ConvTranspose(x, turned) strides=2,2", "2x5x21x25"},
    {"y = ConvTranspose(x, turned) strides=2,2 pads=1,1,1,1 output_padding=1,1", "2x5x20x24"},
    {"y = MaxPool(x) kernel_shape=3,3 strides=2,2", "2x3x4x5"},
    {"y = MaxPool(x) kernel_shape=3,3 strides=2,2 ceil_mode=1", "2x3x5x6"},
    // The last window would begin in the padding: it is left out.
    {"y = AveragePool(x) kernel_shape=2,2 strides=5,7 pads=0,0,3,3 ceil_mode=1", "2x3x3x2"},
    {"y = GlobalAveragePool(x)", "2x3x1x1"},
    {"y = Flatten(x)", "2x360"},
    {"y = Flatten(x) axis=-1", "60x12"},
    {"y = Flatten(x) axis=0", "1x720"},
    {"y = Transpose(x)", "12x10x3x2"},
    {"y = Transpose(x) perm=0,2,3,1", "2x10x12x3"},
    {"y = Reshape(x, to6)", "6x30x4"},
    {"y = Reshape(x, keep)", "2x3x120"},
    {"y = Concat(x, x, x) axis=1", "2x9x10x12"},
    {"y = Concat(x, x) axis=-1", "2x3x10x24"},
    {"y, z = Split(x) axis=2", "2x3x5x12"},
    {"z, y = Split(x, parts) axis=2", "2x3x7x12"},
    {"y = Slice(x, begins, ends, axes)", "2x3x4x12"},
    {"y = Slice(x, back, start, axes, minus)", "2x3x10x12"},
    {"y = Squeeze(unit)", "7"},
    {"y = Squeeze(unit, first)", "7x1"},
    {"y = Unsqueeze(x, first)", "1x2x3x10x12"},
    {"y = Gather(x, five_places) axis=3", "2x3x10x5"},
    {"y = Gather(x, place) axis=1", "2x10x12"},
    {"y = Shape(x)", "4"},
    {"s = Shape(x)\n y = ConstantOfShape(s)", "2x3x10x12"},
    {"s = Shape(x) start=-2\n y = ConstantOfShape(s)", "10x12"},
    {"y = Expand(channels, wide)", "3x6x7"},
    {"y = Tile(unit, wide)", "3x42x7"},
    {"y = Pad(unit, pads)", "4x8x3"},
    {"y = ReduceMean(x) axes=2,3", "2x3x1x1"},
    {"y = ReduceSum(x, first) keepdims=0", "3x10x12"},
    {"y = ReduceMax(x) keepdims=0", ""},
    {"y = ArgMax(x) axis=1 keepdims=0", "2x10x12"},
    {"y = DepthToSpace(deep) blocksize=2", "1x2x6x8"},
    {"y = SpaceToDepth(x) blocksize=2", "2x12x5x6"},
    {"y = Gemm(a, b)", "4x6"},
    {"y = Gemm(a, b2) transB=1", "4x6"},
    {"y = MatMul(a, b)", "4x6"},
    {"y = MatMul(batched, b)", "9x4x6"},
    {"y = MatMul(batched, batched_b)", "9x4x6"},
    {"y = MatMul(unit5, b)", "6"},
    {"y = Resize(x, , scales)", "2x3x20x24"},
    {"y = Resize(x, , , sizes)", "2x3x5x5"},
    {"y = Range(zero_s, ten, three)", "4"},
    {"y = Cast(x) to=10", "2x3x10x12"},
    {"y = Dropout(x)", "2x3x10x12"},
    {"y, h, c = LSTM(steps, lw, lr) hidden_size=8 direction=\"bidirectional\"", "11x2x1x8"},
    {"y = NonZero(x)", "unknown"},
    {"y = com.example::Relu(x)", "unknown"},
    // Sizes that are computed from shapes, as exporters write them.
    {"s = Shape(x)\n n = Gather(s, first)\n l = Concat(n, minus1) axis=0\n y = Reshape(x, l)", "2x360"},
    // Padding of the last dimensions, before and behind each, in the order of the dimensions from the last
    // one on, as PyTorch writes it.
    {"l = Concat(ends_of_two, zeros) axis=0\n m = Reshape(l, pairs)\n r = Slice(m, back, start, first, "
     "minus)\n t = Transpose(r) perm=1,0\n"
     "p = Reshape(t, minus1)\n q = Cast(p) to=7\n y = Pad(unit, q)",
     "1x10x2"},
    {"m = Reshape(matrix, rows3)\n s = Slice(m, begins2, ends2, axes2)\n f = Reshape(s, minus1)\n"
     "y = ConstantOfShape(f)",
     "5x6x8x9"},
    {"m = Reshape(matrix, rows3)\n s = Transpose(m)\n f = Reshape(s, minus1)\n y = ConstantOfShape(f)",
     "1x4x7x2x5x8x3x6x9"},
    {"s = Shape(x)\n h = Slice(s, two, four)\n t = Mul(h, twice)\n y = ConstantOfShape(t)", "20x24"},
};

constexpr const char* kValues = R"(
  input x f32 2x3x10x12
  input a f32 4x5
  input deep f32 1x8x3x4
  input unit f32 1x7x1
  input batched f32 9x4x5
  input batched_b f32 9x5x6
  input unit5 f32 5
  input steps f32 11x1x4
  input lw f32 2x32x4
  input lr f32 2x32x8
  constant b f32 5x6
  constant b2 f32 6x5
  constant zero f32 - = 0
  constant one f32 - = 1
  constant channels f32 3x1x1
  constant five f32 5
  constant filter f32 4x3x3x3
  constant turned f32 3x5x3x3
  constant taps f32 6x1x3
  constant to6 s64 3 = 6 -1 4
  constant keep s64 3 = 0 0 -1
  constant parts s64 2 = 3 7
  constant begins s64 1 = 1
  constant ends s64 1 = 5
  constant axes s64 1 = 2
  constant back s64 1 = -1
  constant start s64 1 = -9999
  constant minus s64 1 = -1
  constant minus1 s64 1 = -1
  constant first s64 1 = 0
  constant two s64 1 = 2
  constant four s64 1 = 4
  constant twice s64 - = 2
  constant five_places s64 5
  constant place s64 - = 2
  constant wide s64 3 = 3 6 7
  constant zeros s64 2 = 0 0
  constant ends_of_two s64 4 = 1 0 2 1
  constant pairs s64 2 = -1 2
  constant matrix s64 9 = 1 2 3 4 5 6 7 8 9
  constant rows3 s64 2 = 3 -1
  constant begins2 s64 2 = 1 1
  constant ends2 s64 2 = 3 9
  constant axes2 s64 2 = 0 1
  constant pads s64 6 = 1 0 1 2 1 1
  constant scales f32 4 = 1 1 2 2
  constant sizes s64 4 = 2 3 5 5
  constant zero_s s64 - = 0
  constant ten s64 - = 10
  constant three s64 - = 3
  )";

TEST(Shapes, FollowFromNodes) {
  for (const Case& each : kCases)
    EXPECT_EQ(shape_of(std::string(kValues) + each.node), each.shape) << each.node;
}

TEST(Shapes, OlderOpsetsSayThingsInAttributes) {
  const std::string x = "input x f32 2x1x10x12\n";
  EXPECT_EQ(shape_of(x + "y = Slice(x) starts=1,1 ends=2,99 axes=0,3", {}, 9), "1x1x10x11");
  EXPECT_EQ(shape_of(x + "y = Squeeze(x) axes=1,", {}, 11), "2x10x12");
  EXPECT_EQ(shape_of(x + "y = Unsqueeze(x) axes=0,4", {}, 11), "1x2x1x10x1x12");
  EXPECT_EQ(shape_of(x + "constant s f32 4 = 1 1 2 3\n y = Upsample(x, s)", {}, 9), "2x1x20x36");
  EXPECT_EQ(shape_of(x + "y = Pad(x) pads=0,0,1,1,0,0,1,1", {}, 10), "2x1x12x14");
}

TEST(Shapes, DimensionsAreBoundByNameOrWithTheWholeInput) {
  const std::string graph = "input x f32 Nx3xHx4\n input z f32 NxH\n y = Relu(x)\n w = Relu(z)";
  EXPECT_EQ(shape_of(graph), "?x3x?x4");
  EXPECT_EQ(shape_of(graph, {{{"N", 2}, {"H", 5}}, {}}), "2x3x5x4");
  EXPECT_EQ(shape_of(graph, {{}, {{"x", {1, 3, 7, 4}}}}), "1x3x7x4");
  const OnnxModel model = onnx_model(graph);
  const auto refusal = [&](const ShapeBindings& bindings) -> std::string {
    try {
      infer_shapes(model, bindings);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({{{"M", 2}}, {}}), "--dim M=2: no input has a dimension of that name; there are N, H");
  EXPECT_EQ(refusal({{}, {{"q", {2}}}}), "--input q=2: the model has no input of that name");
  EXPECT_EQ(refusal({{}, {{"x", {2}}}}), "--input x=2: it has 4 dimensions");
  EXPECT_EQ(refusal({{}, {{"x", {2, 4, 5, 4}}}}), "--input x=2x4x5x4: its dimension 2 is 3");
}

TEST(Shapes, SayWhereTheyEnd) {
  const OnnxModel model = onnx_model(R"(
    input x f32 2x3
    input n f32 Nx?
    a = NonZero(x)
    b = Relu(a)
    c = If(x)
    d = other::Thing(x)
    e = Frobnicate(x)
  )");
  EXPECT_THAT(infer_shapes(model, {}).unknown,
              ElementsAre("input 'n' (Nx?)", HasSubstr("NonZero number 1"), HasSubstr("If number 3"),
                          HasSubstr("Thing number 4: it is of the domain other"),
                          HasSubstr("Frobnicate number 5: its operator is not known")));
}

TEST(Shapes, SayWhatIsMissingOfTheInputs) {
  const auto missing = [](const std::string& graph, const ShapeBindings& bindings = {}) {
    return infer_shapes(onnx_model(graph), bindings).missing_sizes;
  };
  // A number of things that are computed at once is 1, and the user has to fill in all other sizes. A name is
  // printed once.
  EXPECT_THAT(missing("input a s64 batchxlength\n input b s64 batchxlength"),
              ElementsAre("--dim batch=1", "--dim length=?"));
  EXPECT_THAT(missing("input a s64 Nx8\n input b s64 8xN"), ElementsAre("--dim N=1"));
  EXPECT_THAT(missing("input a s64 lengthxMy_Batchx8"), ElementsAre("--dim length=?", "--dim My_Batch=1"));
  EXPECT_THAT(missing("input a f32 Nx3xheightxwidth", {{{"N", 4}, {"width", 224}}, {}}),
              ElementsAre("--dim height=?"));
  EXPECT_THAT(missing("input a f32 length"), ElementsAre("--dim length=?"));
  // Without a name for each dimension only the whole shape can be given, in which the other sizes are known.
  EXPECT_THAT(missing("input a f32 ?x3x?x?\n input b f32 N"), ElementsAre("--input a=1x3x?x?", "--dim N=?"));
  EXPECT_THAT(missing("input a f32 ?x3x?x?", {{}, {{"a", {1, 3, 8, 8}}}}), IsEmpty());
}

TEST(Shapes, StatedOnesHelpWhereNodesDoNot) {
  const OnnxModel model = onnx_model("input x f32 2x3\n value a f32 2x9\n a = NonZero(x)\n y = Relu(a)");
  const GraphShapes shapes = infer_shapes(model, {});
  EXPECT_EQ(text_of(shapes.of("y")), "2x9");
  EXPECT_THAT(shapes.unknown, IsEmpty());
}

// Thousands of nodes each add dimensions or elements: shapes keep within limits.
TEST(Shapes, StrangersShapesStaySmall) {
  std::string graph =
      "input x f32 2x3\n constant first s64 1 = 0\n constant l s64 512\n l0 = Identity(l)\n x0 = Relu(x)\n";
  for (int i = 0; i < 3000; ++i)
    graph += fmt::format("x{1} = Unsqueeze(x{0}, first)\n l{1} = Concat(l{0}, l{0}) axis=0\n", i, i + 1);
  const OnnxModel model = onnx_model(graph);
  EXPECT_EQ(text_of(infer_shapes(model, {}).of("x3000")), "unknown");
}

TEST(Shapes, KnowWhatDependsOnNoInput) {
  const OnnxModel model = onnx_model(R"(
    input x f32 2x3
    constant s s64 2 = 4 5
    a = ConstantOfShape(s)
    b = Neg(a)
    c = Add(b, x)
    d = RandomNormal() shape=2,3
  )");
  const GraphShapes shapes = infer_shapes(model, {});
  EXPECT_TRUE(shapes.of("b").fixed);
  EXPECT_FALSE(shapes.of("c").fixed);
  EXPECT_FALSE(shapes.of("d").fixed);
}

}  // namespace
}  // namespace lehr::testing
