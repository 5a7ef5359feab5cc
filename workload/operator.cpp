#include "workload/operator.h"

#include <algorithm>
#include <array>
#include <variant>

namespace lehr {

std::span<const OperatorTable> operators() {
  static const std::array<OperatorTable, std::variant_size_v<decltype(Workload::problem)>> tables = {
      gemm_operator(), conv2d_operator()};
  return tables;
}

const OperatorTable& operator_of(const Workload& workload) {
  return operators()[workload.problem.index()];
}

std::vector<Dimension> output_shape(const Workload& workload) {
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  const auto output = std::ranges::find_if(tensors, &TensorSpec::is_output);
  return operator_of(workload).shape(workload, output->elements);
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
