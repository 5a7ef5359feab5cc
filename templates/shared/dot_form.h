// How CPU families compute inner products. This is the only file that depends on the types of the operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/dtype.h"
#include "base/limits.h"
#include "ir/kernel.h"
#include "workload/workload.h"

namespace lehr::cpu {

/// How to multiply operands of two types on processors with a certain instruction; a row of the table in
/// dot_form.cpp. The micro-kernel multiplies `group` neighbours along k at once. It reads the operand `first`
/// (A, an image) from memory and keeps the operand `second` (B, filters) in vectors, as in ir::Fma.
struct DotForm {
  DType first = DType::kF32, second = DType::kF32;  ///< types of the operands in the workload
  std::optional<Ability> needs = std::nullopt;
  std::int64_t group = 1;
  /// Types of the operands in panels, which the micro-kernel reads. If `first` has its panel's type already,
  /// it is read without a panel.
  DType first_panel = DType::kF32, second_panel = DType::kF32;
  DType sums = DType::kF32;
  std::int64_t offset = 0;  ///< value added to each element of `first` in a panel
  /// Registers that a vector of `second` takes while it is multiplied, and registers for intermediate results
  /// of products.
  std::int64_t second_registers = 1, product_registers = 0;

  /// Returns whether the operands are f32, in any layout.
  bool is_plain() const { return first == DType::kF32; }
  /// Returns the number of groups for a sum of `products` products.
  std::int64_t groups(std::int64_t products) const { return (products + group - 1) / group; }
  /// Converts `lanes` elements of `first` to the values that a panel has.
  ir::Expr in_first_panel(ir::Expr elements, int lanes) const;
  ir::Expr in_second_panel(ir::Expr element) const;
};

/// Returns the form for f32 operands.
const DotForm& plain_form();
/// Returns the form for families that multiply in f32 only. bf16, u8 and s8 operands are converted to f32 as
/// they are read (in_first_panel()). Returns nullptr for other types. Sums of up to kMostExactProducts
/// products of integers, with zero points subtracted, are exact in f32.
const DotForm* widening_form(const Workload& workload);
inline constexpr std::int64_t kMostExactProducts = (std::int64_t{1} << 24) / (255 * 128);
/// Returns the best form for the workload on such a processor; nullptr if there is no form, for a reason that
/// why_no_form() returns.
const DotForm* dot_form(const Workload& workload, const Limits& limits);
std::optional<std::string> why_no_form(const Workload& workload, const Limits& limits);

/// Converts elements to groups of `group` neighbours along k, as the micro-kernel reads them. Element e of
/// group i is from[source + i from_step + e line_step], or zero if e >= `lines`. It goes to to[target + i
/// to_step + e].
struct GroupCopy {
  ir::BufferId from{}, to{};
  ir::Expr source = ir::integer(0), target = ir::integer(0);
  ir::Expr count = ir::integer(1);
  std::int64_t most_count = 1;
  std::int64_t from_step = 1, line_step = 1;
  ir::Expr lines = ir::integer(1);
  std::int64_t to_step = 1;
};
/// Copy groups of elements: of the first operand, or of the second.
ir::Stmt copy_first_groups(const DotForm& form, const GroupCopy& copy);
ir::Stmt copy_second_groups(const DotForm& form, const GroupCopy& copy);

/// Sums over k of the elements in each column of a panel laid out as [group of k][column][element of the
/// group]. A Correction subtracts multiples of these sums.
struct ColumnSums {
  ir::BufferId panel{}, sums{};
  ir::Expr panel_at = ir::integer(0), sums_at = ir::integer(0);
  std::int64_t columns = 1;
  ir::Expr groups = ir::integer(1);
  std::int64_t most_groups = 1;
};
ir::Stmt sum_columns(ir::KernelBuilder& builder, const DotForm& form, const ColumnSums& c);

/// Returns whether the sums of the workload need a Correction.
bool needs_correction(const Workload& workload, const DotForm& form);

/// Corrects the sums of a product when `first` has an offset or a zero point. Both add to each sum of
/// products a multiple of the sum of `second`'s elements in the same column.
struct Correction {
  std::optional<ir::BufferId> zero;  ///< buffer of one element, the zero point of `first`
  std::int64_t offset = 0;
  bool needed() const { return zero || offset != 0; }
  /// Returns the corrected sums. `of_second` are the sums of `second`'s elements, one for each lane of
  /// `sums`.
  ir::Expr corrected(ir::Expr sums, ir::Expr of_second, int lanes) const;
  /// Returns the element of a panel of `first` whose value is zero.
  ir::Expr zero_in_panel(const DotForm& form) const;
};

/// Adds the zero point, if there is one, to the kernel's parameters, after the output.
Correction correction_of(ir::KernelBuilder& builder, const Workload& workload, const DotForm& form);

}  // namespace lehr::cpu
