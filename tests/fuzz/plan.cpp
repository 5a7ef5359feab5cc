// The plan of a fused node in a stranger's model, and the shapes that its nodes compute.
#include <cstdlib>
#include <cstring>

#include "plugin/node_shapes.h"
#include "tests/fuzz/targets.h"

namespace lehr::test {
namespace {

using namespace lehr::onnxruntime;

void keep_plan(bool promise) {
  if (!promise) std::abort();
}

void keep_within(const Plan& plan) {
  keep_plan(plan.shapes.size() <= Plan::kMostInputs && plan.constant.size() == plan.shapes.size() &&
            plan.input_types.size() == plan.shapes.size() && bytes_of(plan.makes) > 0);
  for (const PlanConstant& one : plan.constants)
    keep_plan(one.count > 0 && 8 * one.first + one.count * static_cast<std::uint64_t>(bytes_of(one.type)) <=
                                   8 * plan.words.size());
  for (const PlanField& field : plan.vary) keep_plan(field.first + field.count <= plan.dimensions.size());
  for (const PlanDimension& one : plan.dimensions)
    keep_plan(one.input < plan.shapes.size() && one.dimension < plan.shapes[one.input].rank);
  for (std::size_t j = 0; j < plan.nodes.size(); ++j) {
    const PlanNode& node = plan.nodes[j];
    keep_plan(bytes_of(node.makes) > 0);
    keep_plan(node.first_operand + node.operands <= plan.operands.size());
    keep_plan(node.first_type + node.types <= plan.types.size());
    keep_plan(node.first_attribute + node.attributes <= plan.attributes.size());
    for (std::uint32_t i = 0; i < node.operands; ++i) {
      const PlanOperand& operand = plan.operands[node.first_operand + i];
      if (operand.kind == PlanOperand::Kind::kValue) keep_plan(operand.index < plan.shapes.size() + j);
      if (operand.kind == PlanOperand::Kind::kConstant) keep_plan(operand.index < plan.constants.size());
    }
  }
}

}  // namespace

void fuzz_plan(std::string_view bytes) {
  Plan plan;
  lehr_error error = {sizeof error, ""};
  keep_plan(plan.text.resize(bytes.size()));
  if (!bytes.empty()) std::memcpy(plan.text.data(), bytes.data(), bytes.size());
  if (!read_plan(plan, error)) return keep_plan(error.text[0] != '\0');
  keep_within(plan);
  Array<Shape> shapes;
  if (!all_shapes(plan, plan.shapes.data(), shapes, error)) return keep_plan(error.text[0] != '\0');
  keep_plan(shapes.size() == plan.shapes.size() + plan.nodes.size());
  for (const Shape& shape : shapes)
    keep_plan(shape.rank <= Shape::kMostRank && shape.bytes(OrtElementType::kBool) >= 0);
}

}  // namespace lehr::test
