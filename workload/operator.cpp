#include "workload/operator.h"

#include <array>
#include <variant>

#include "workload/conv2d/conv2d_operator.h"
#include "workload/epilogue.h"
#include "workload/gemm/gemm_operator.h"
#include "workload/rowwise/rowwise_operator.h"

namespace lehr {

std::span<const OperatorTable> operators() {
  static const std::array<OperatorTable, std::variant_size_v<decltype(Workload::problem)>> tables = {
      gemm_operator(), conv2d_operator(), rowwise_operator()};
  return tables;
}

const OperatorTable& operator_of(const Workload& workload) {
  return operators()[workload.problem.index()];
}

std::int64_t channels_of(const Workload& workload) {
  return operator_of(workload).channels(workload);
}

double needed_flops_of(const Workload& workload) {
  const OperatorTable& op = operator_of(workload);
  return op.needed_flops != nullptr ? op.needed_flops(workload) : op.flops(workload);
}

std::optional<ImageSums> images_of(const Workload& workload) {
  const auto images = operator_of(workload).images;
  return images != nullptr ? std::optional(images(workload)) : std::nullopt;
}

std::vector<Dimension> output_shape(const Workload& workload) {
  return operator_of(workload).shape(workload);
}

std::vector<std::vector<Dimension>> tensor_shapes(const Workload& workload) {
  std::vector<std::vector<Dimension>> shapes = operator_of(workload).input_shapes(workload);
  const std::vector<StepOperand> operands = operands_of(workload.epilogue);
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  for (std::size_t i = shapes.size(); i < tensors.size(); ++i) {
    // The operands of the epilogue are the last ones.
    const std::size_t behind = tensors.size() - i;
    const bool is_element =
        behind <= operands.size() && operands[operands.size() - behind].per == OperandPer::kElement;
    if (tensors[i].is_output() || is_element)
      shapes.push_back(output_shape(workload));
    else
      shapes.push_back({{tensors[i].elements}});
  }
  return shapes;
}

std::vector<std::vector<Dimension>> output_shapes(const Workload& workload) {
  std::vector<std::vector<Dimension>> shapes = tensor_shapes(workload), outputs;
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].is_output()) outputs.push_back(std::move(shapes[i]));
  return outputs;
}

const OperatorTable* find_operator(std::string_view name) {
  for (const OperatorTable& op : operators())
    if (op.name == name) return &op;
  return nullptr;
}

std::vector<std::string_view> operator_names() {
  std::vector<std::string_view> names;
  for (const OperatorTable& op : operators()) names.push_back(op.name);
  return names;
}

}  // namespace lehr
