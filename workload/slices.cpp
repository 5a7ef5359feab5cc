#include "workload/slices.h"

#include <algorithm>

#include "base/error.h"
#include "workload/operator.h"

namespace lehr {
namespace {

std::vector<TensorSpec> tensors_with(Workload workload, const Field& field, std::string_view value) {
  field.read(field, field.key, value, workload);
  return tensors_of(workload);
}

}  // namespace

std::optional<Slices> slices_of(const Workload& workload) {
  const OperatorTable& table = operator_of(workload);
  const std::string_view key = table.sliced_size(workload);
  if (key.empty()) return std::nullopt;
  const auto field = std::ranges::find(table.fields, key, &Field::key);
  CHECK(field != table.fields.end(), "{} has no field {}", table.name, key);
  Slices slices{key, 1, {}};
  const std::vector<TensorSpec> all = tensors_of(workload);
  // Either a second slice makes a tensor as much larger as the first one did, or the tensor does not grow.
  const Workload fixed = fixed_rows(workload);
  const std::vector<TensorSpec> one = tensors_with(fixed, *field, "1"),
                                two = tensors_with(fixed, *field, "2");
  for (std::size_t i = 0; i < one.size(); ++i) {
    const std::int64_t gained = two[i].elements - one[i].elements;
    CHECK(gained == 0 || gained == one[i].elements, "{} of {} does not grow by slices of {}", one[i].name,
          table.name, key);
    slices.elements.push_back(gained);
    if (gained > 0) slices.count = all[i].elements / gained;
  }
  return slices;
}

}  // namespace lehr
