#include "workload/operator.h"

#include <array>
#include <variant>

#include "workload/conv2d/conv2d_operator.h"
#include "workload/gemm/gemm_operator.h"

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
  return operator_of(workload).shape(workload);
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
