// The operators, each described once by a table of fields and by what it computes.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "workload/field.h"
#include "workload/workload.h"

namespace lehr {

/// What a flag was given, by its key; "" where it was not.
using GivenFlags = std::function<std::string_view(std::string_view key)>;

struct OperatorTable {
  std::string_view name;     ///< the first word of a text: "gemm"
  std::string_view thing;    ///< "matrix product", in the help of commands
  std::string_view article;  ///< "a GEMM", in sentences
  std::string_view formula;  ///< over the flags in help
  /// Sentences about a workload of many name its sizes; else they hold its text.
  bool named_by_sizes = false;
  std::span<const Field> fields;
  Workload (*usual)() = nullptr;  ///< what a text without any key is
  /// Sets what flags leave open, once those that were given are read. Throws Error(kUser).
  void (*complete)(Workload& workload, const GivenFlags& given) = nullptr;
};

OperatorTable gemm_operator();
OperatorTable conv2d_operator();

/// In the order of Workload::problem's alternatives.
std::span<const OperatorTable> operators();
const OperatorTable& operator_of(const Workload& workload);
/// nullptr where there is none of that name.
const OperatorTable* find_operator(std::string_view name);

std::string text_by_table(const Workload& workload);
Workload parse_by_table(std::string_view text);
double distance(const Workload& a, const Workload& b);

}  // namespace lehr
