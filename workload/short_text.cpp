#include "workload/short_text.h"

#include <fmt/core.h>

#include "base/error.h"
#include "workload/operator.h"

namespace lehr {

std::optional<Workload> read_workload(std::string_view text) {
  try {
    return parse_workload(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string short_text(const Workload& workload) {
  const OperatorTable& op = operator_of(workload);
  std::string text(op.name);
  for (const Field& field : op.fields) {
    if (!field.in_text()) continue;
    std::string value, usual;
    field.append(workload, value);
    field.append(op.usual, usual);
    if (field.required || value != usual) text += fmt::format(" {}={}", field.key, value);
  }
  return text;
}

std::string short_text(std::string_view text) {
  const std::optional<Workload> workload = read_workload(text);
  return workload ? short_text(*workload) : std::string(text);
}

}  // namespace lehr
