// How the inner products of CPU families are taken: the one place that knows the types of operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/dtype.h"
#include "base/limits.h"
#include "ir/kernel.h"
#include "workload/workload.h"

namespace lehr::cpu {

/// A row: operands of such types, on processors with such an instruction. A micro-kernel multiplies `group`
/// neighbours of k at once, `first` (A, an image) from memory and `second` (B, filters) in vectors, as
/// ir::Fma has it.
struct DotForm {
  DType first = DType::kF32, second = DType::kF32;  ///< as the workload has them
  std::optional<Ability> needs = std::nullopt;
  std::int64_t group = 1;
  /// As the micro-kernel reads them, from panels; `first` is read where it lies if that is its type.
  DType first_panel = DType::kF32, second_panel = DType::kF32;
  DType sums = DType::kF32;
  std::int64_t offset = 0;  ///< added to each element of `first` in a panel
  /// Registers that a vector of `second` takes while it is multiplied, and that products take on their way.
  std::int64_t second_registers = 1, product_registers = 0;

  /// Whether the operands are f32, in any layout.
  bool is_plain() const { return first == DType::kF32; }
  /// Groups that so many products of one sum take.
  std::int64_t groups(std::int64_t products) const { return (products + group - 1) / group; }
  /// Elements of `first` as a panel has them; `lanes` of them.
  ir::Expr in_first_panel(ir::Expr elements, int lanes) const;
  ir::Expr in_second_panel(ir::Expr element) const;
};

/// That of operands of f32.
const DotForm& plain_form();
/// For families that multiply in f32 only: that of f32, or of bf16, u8 and s8 that is widened
/// (in_first_panel()) as it is read, of both operands; nullptr for other types. Sums of up to
/// kMostExactProducts products of integers, zero points taken from them, are exact in f32.
const DotForm* widening_form(const Workload& workload);
inline constexpr std::int64_t kMostExactProducts = (std::int64_t{1} << 24) / (255 * 128);
/// The best one for the workload on such a processor; nullptr: there is none, why_no_form() says why.
const DotForm* dot_form(const Workload& workload, const Limits& limits);
std::optional<std::string> why_no_form(const Workload& workload, const Limits& limits);

/// Makes groups of elements, each of `group` neighbours of k, as the micro-kernel reads them: element e of
/// group i is from[source + i from_step + e line_step], or zero from e = `lines` on, and goes to to[target +
/// i to_step + e].
struct GroupCopy {
  ir::BufferId from{}, to{};
  ir::Expr source = ir::integer(0), target = ir::integer(0);
  ir::Expr count = ir::integer(1);
  std::int64_t most_count = 1;
  std::int64_t from_step = 1, line_step = 1;
  ir::Expr lines = ir::integer(1);
  std::int64_t to_step = 1;
};
/// `from` has elements of the first operand's type, or of the second's.
ir::Stmt copy_first_groups(const DotForm& form, const GroupCopy& copy);
ir::Stmt copy_second_groups(const DotForm& form, const GroupCopy& copy);

/// Sums of the elements of each column of a panel, [group of k][column][element of the group]: what a
/// Correction takes from.
struct ColumnSums {
  ir::BufferId panel{}, sums{};
  ir::Expr panel_at = ir::integer(0), sums_at = ir::integer(0);
  std::int64_t columns = 1;
  ir::Expr groups = ir::integer(1);
  std::int64_t most_groups = 1;
};
ir::Stmt sum_columns(ir::KernelBuilder& builder, const DotForm& form, const ColumnSums& c);

/// Whether the sums of the workload need a Correction.
bool needs_correction(const Workload& workload, const DotForm& form);

/// The sums of a product, when `first` has an offset or a zero point: what these add to each sum is the sum
/// of the elements of `second` that belong to it, times both.
struct Correction {
  std::optional<ir::BufferId> zero;  ///< of one element: the zero point of `first`
  std::int64_t offset = 0;
  bool needed() const { return zero || offset != 0; }
  /// Sums without it. `of_second`: the sums of elements of `second`, as many.
  ir::Expr corrected(ir::Expr sums, ir::Expr of_second, int lanes) const;
  /// What `first` has in a panel where its value is to be zero.
  ir::Expr zero_in_panel(const DotForm& form) const;
};

/// Adds the zero point to the kernel's parameters, where there is one: behind the output.
Correction correction_of(ir::KernelBuilder& builder, const Workload& workload, const DotForm& form);

}  // namespace lehr::cpu
