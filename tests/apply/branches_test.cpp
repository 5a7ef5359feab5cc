// Tests of networks with the kernels and the original in one file: what callers see, what each branch has,
// and what comes back of it.
#include "apply/branches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apply/constants_file.h"
#include "base/error.h"
#include "network/protobuf.h"
#include "tests/network/graph_text.h"

namespace lehr::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kOpenGraph = R"(
  input x f32 BxTx16
  input m s64 BxT
  constant w f32 16x32
  constant b f32 32
  p = MatMul(x, w)
  q = Add(p, b)
  y = Relu(q)
  s = Shape(y)
  output y
  output x
  output s
)";

OnnxModel parsed(const std::string& bytes) {
  return parse_onnx(std::make_shared<const std::string>(bytes), "it");
}

Network bound(const std::string& text, const ShapeBindings& bindings) {
  Network network = {onnx_model(text), {}, {}, {}};
  network.shapes = infer_shapes(network.model, bindings);
  network.matches = matches_of(network.model, network.shapes);
  return network;
}

struct Both {
  Network network;
  RewrittenModel rewritten;
  BranchedModel model;
  OnnxModel outer;
};
Both both_of(const std::string& text, const ShapeBindings& bindings) {
  Network network = bound(text, bindings);
  const MatchedWorkload& matched = network.matches.workloads.at(0);
  const Replacement replacement = {&matched.matches[0], matched.workload, 1, false, 1};
  RewrittenModel rewritten = rewrite(network.model, network.shapes, {&replacement, 1});
  BranchedModel model =
      in_form(network.model, rewritten, {{}, size_checks(network.model, network.shapes), "file"});
  OnnxModel outer = parsed(model.bytes);
  return {std::move(network), std::move(rewritten), std::move(model), std::move(outer)};
}

std::vector<std::string_view> names_of(const auto& values) {
  std::vector<std::string_view> names;
  for (const auto& value : values) names.push_back(value.name);
  return names;
}

/// Returns the first graph among a node's attributes, or the second, as a model.
OnnxModel branch_of(const OnnxNode& node, int number) {
  Wire record(node.record);
  record.next();
  std::string graph;
  for (Wire wire(record.bytes()); wire.next();)
    if (wire.field() == 5)
      for (Wire attribute(wire.bytes()); attribute.next();)
        if (attribute.field() == 6 && number-- == 0) graph = attribute.bytes();
  // Its inputs are those of the graph around it.
  for (const char* const input : {"x", "m"}) graph += bytes_field(11, bytes_field(1, input));
  return parsed(number_field(1, 8) + bytes_field(8, number_field(2, 17)) + bytes_field(7, graph));
}

TEST(Branches, CallersSeeTheOriginal) {
  const Both both = both_of(kOpenGraph, {{{"B", 2}, {"T", 3}}, {}});
  const OnnxModel &outer = both.outer, &original = both.network.model;
  EXPECT_EQ(names_of(outer.inputs), names_of(original.inputs));
  EXPECT_EQ(names_of(outer.outputs), names_of(original.outputs));
  for (std::size_t i = 0; i < outer.inputs.size(); ++i)
    EXPECT_EQ(outer.inputs[i].record, original.inputs[i].record);
  EXPECT_TRUE(outer.opsets.contains(kFusedDomain));
  const OnnxNode& last = outer.nodes.back();
  EXPECT_EQ(last.op, "If");
  EXPECT_THAT(last.outputs, ElementsAre("y", "s")) << "x is the caller's";
}

TEST(Branches, EachHasItsNodesAndItsConstants) {
  const Both both = both_of(kOpenGraph, {{{"B", 2}, {"T", 3}}, {}});
  const OnnxModel then = branch_of(both.outer.nodes.back(), 0), other = branch_of(both.outer.nodes.back(), 1);
  std::vector<std::string_view> ops;
  for (const OnnxModel* model : {&then, &other})
    for (const OnnxNode& node : model->nodes) ops.push_back(node.op);
  EXPECT_THAT(ops, ElementsAre("Fused", "Shape", "MatMul", "Add", "Relu", "Shape"));
  EXPECT_EQ(names_of(then.constants), names_of(other.constants));
  ASSERT_EQ(then.constants.size(), 2u);
  const OnnxTensor &one = then.constants[0], &two = other.constants[0];
  EXPECT_TRUE(one.external && two.external);
  EXPECT_EQ(one.location, "file");
  EXPECT_EQ(std::tie(one.offset, one.length), std::tie(two.offset, two.length));
  EXPECT_EQ(both.model.constants.size(), 16u * 32 * 4);
  EXPECT_FALSE(then.constants[1].external) << "a short one stays in the model";
  // Names in branches repeat no name of the graph around them.
  for (const OnnxModel* model : {&then, &other}) {
    EXPECT_THAT(names_of(model->outputs), ElementsAre("y.branch", "s.branch"));
    for (const OnnxNode& node : model->nodes)
      for (const std::string_view output : node.outputs)
        EXPECT_TRUE(output != "y" && output != "s") << output;
  }
}

TEST(Branches, TheFirstAloneIsTheRewrittenNetwork) {
  const Both both = both_of(kOpenGraph, {{{"B", 2}, {"T", 3}}, {}});
  EXPECT_FALSE(unbranched(both.rewritten.bytes));
  const OnnxModel plain = parsed(unbranched(both.model.bytes).value()),
                  rewritten = parsed(both.rewritten.bytes);
  EXPECT_EQ(names_of(plain.inputs), names_of(rewritten.inputs));
  EXPECT_EQ(names_of(plain.outputs), names_of(rewritten.outputs));
  EXPECT_EQ(names_of(plain.constants), names_of(rewritten.constants));
  ASSERT_EQ(plain.nodes.size(), rewritten.nodes.size());
  for (std::size_t i = 0; i < plain.nodes.size(); ++i) {
    EXPECT_EQ(plain.nodes[i].op, rewritten.nodes[i].op);
    EXPECT_EQ(plain.nodes[i].inputs, rewritten.nodes[i].inputs);
    EXPECT_EQ(plain.nodes[i].outputs, rewritten.nodes[i].outputs);
  }
}

TEST(Branches, AreOnlyWhereASizeIsOpenAndSomethingIsReplaced) {
  const Both fixed = both_of("input x f32 4x16\nconstant w f32 16x8\ny = MatMul(x, w)\noutput y", {});
  EXPECT_EQ(fixed.model.bytes, fixed.rewritten.bytes);
  const Network open = bound(kOpenGraph, {{{"B", 2}, {"T", 3}}, {}});
  const RewrittenModel none = rewrite(open.model, open.shapes, {});
  EXPECT_EQ(in_form(open.model, none, {{}, size_checks(open.model, open.shapes), "file"}).bytes, none.bytes);
}

std::string checks_of(const std::string& text, const ShapeBindings& bindings, const ShapeBindings& other) {
  const OnnxModel model = onnx_model(text);
  const GraphShapes one = infer_shapes(model, bindings), two = infer_shapes(model, other);
  std::string said;
  for (const SizeCheck& check : size_checks(model, one, &two))
    said += fmt::format("{}[{}] {}..{} '{}', ", check.input, check.axis, check.least, check.most, check.name);
  return said + sizes_text(size_checks(model, one, &two));
}

TEST(Branches, WhatIsOpenAndStatedIsChecked) {
  const ShapeBindings two = {{{"B", 2}, {"T", 3}}, {}}, eight = {{{"B", 8}, {"T", 3}}, {}},
                      one = {{{"B", 2}}, {}};
  EXPECT_EQ(checks_of(kOpenGraph, two, two),
            "x[0] 2..2 'B', x[1] 3..3 'T', m[0] 2..2 'B', m[1] 3..3 'T', B=2, T=3");
  EXPECT_EQ(checks_of(kOpenGraph, eight, two),
            "x[0] 2..8 'B', x[1] 3..3 'T', m[0] 2..8 'B', m[1] 3..3 'T', B=2..8, T=3");
  EXPECT_EQ(checks_of(kOpenGraph, one, one), "x[0] 2..2 'B', m[0] 2..2 'B', B=2") << "T is anybody's";
  const std::string unnamed = "input x f32 ?x16\nconstant w f32 16x8\ny = MatMul(x, w)\noutput y";
  const ShapeBindings whole = {{}, {{"x", {5, 16}}}};
  EXPECT_EQ(checks_of(unnamed, whole, whole), "x[0] 5..5 '', dimension 1 of x = 5");
}

std::string operators_of(const std::string& text, const ShapeBindings& bindings, const ShapeBindings& other,
                         std::int64_t opset = 17) {
  const OnnxModel model = onnx_model(text, opset);
  const GraphShapes one = infer_shapes(model, bindings), two = infer_shapes(model, other);
  int number = 0;
  try {
    expect_branches(model, size_checks(model, one, &two));
    const SizeCondition condition =
        size_condition(model, size_checks(model, one, &two),
                       [&](std::string_view name) { return fmt::format("{}{}", name, number++); });
    std::string graph = condition.fields + bytes_field(12, bytes_field(1, condition.name));
    for (const OnnxValueInfo& input : model.inputs) graph += input.record;
    std::vector<std::string> operators;
    for (const OnnxNode& node :
         parsed(number_field(1, 8) + bytes_field(8, number_field(2, opset)) + bytes_field(7, graph)).nodes)
      operators.emplace_back(node.op);
    return fmt::format("{}", fmt::join(operators, " "));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    return error.what();
  }
}

TEST(Branches, TheConditionIsAsShortAsItCanBe) {
  const std::string one = "input x f32 Bx16\ny = Relu(x)\noutput y";
  const ShapeBindings two = {{{"B", 2}}, {}}, eight = {{{"B", 8}}, {}}, both = {{{"B", 2}, {"T", 3}}, {}},
                      wide = {{{"B", 8}, {"T", 3}}, {}};
  EXPECT_EQ(operators_of(one, two, two), "Shape Gather Equal");
  EXPECT_EQ(operators_of(kOpenGraph, both, both), "Shape Shape Concat Gather Equal Cast ReduceMin Cast");
  EXPECT_EQ(operators_of(one, two, eight), "Shape Gather Less Less Concat Cast ReduceMin Cast");
  EXPECT_EQ(operators_of(kOpenGraph, both, wide),
            "Shape Shape Concat Gather Equal Gather Less Less Gather Equal Concat Cast ReduceMin Cast");
  EXPECT_EQ(operators_of(one, two, two, 7), "Shape Gather Equal");
  EXPECT_EQ(operators_of(one, two, eight, 8),
            "the model is of opset 8, whose Less takes no sizes: a range of them needs 9 or newer");
}

TEST(Branches, SequencesComeFromAnIfOfANewOpsetAlone) {
  const auto said = [](std::int64_t opset) -> std::string {
    const OnnxModel model = onnx_model("input x f32 Bx16\ny = Relu(x)\noutput y", opset);
    // The same output as a sequence: TypeProto's field 4.
    std::string graph;
    for (Wire wire(*model.bytes); wire.next();)
      if (wire.field() == 7)
        for (Wire field(wire.bytes()); field.next();)
          graph += field.field() == 12
                       ? bytes_field(12, bytes_field(1, "y") + bytes_field(2, bytes_field(4, "")))
                       : std::string(field.record());
    const OnnxModel other =
        parsed(number_field(1, 8) + bytes_field(8, number_field(2, opset)) + bytes_field(7, graph));
    const GraphShapes shapes = infer_shapes(other, {{{"B", 2}}, {}});
    try {
      expect_branches(other, size_checks(other, shapes));
      branched(other, *other.bytes, size_checks(other, shapes), "file");
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(said(13), "");
  EXPECT_THAT(said(11), HasSubstr("'y' is no tensor"));
}

TEST(ConstantsFile, HasTheSameElementsOnce) {
  ConstantsFile file("there");
  const std::string elements(2000, 'e'), others(5000, 'o');
  const auto moved = [&](std::string_view raw) {
    OnnxTensor tensor;
    tensor.type = OnnxType::kU8, tensor.dims = {std::ssize(raw)}, tensor.raw = raw;
    const std::string graph =
        bytes_field(5, file.moved(tensor, number_field(1, std::ssize(raw)) + number_field(2, 2) +
                                              bytes_field(8, "t") + bytes_field(9, raw)));
    const OnnxModel model =
        parsed(number_field(1, 8) + bytes_field(8, number_field(2, 17)) + bytes_field(7, graph));
    const OnnxTensor& read = model.constants.at(0);
    return fmt::format("{} {} {}", read.external, read.offset, read.length);
  };
  EXPECT_EQ(moved(elements), "true 0 2000");
  EXPECT_EQ(moved(others), "true 4096 5000");
  EXPECT_EQ(moved(std::string(elements)), "true 0 2000");
  EXPECT_EQ(moved("short"), "false 0 0");
  EXPECT_EQ(file.take_bytes().size(), 4096u + 5000);
}

}  // namespace
}  // namespace lehr::testing
