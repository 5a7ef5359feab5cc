#include "templates/shared/dot_form.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "workload/operator.h"

namespace lehr::cpu {

using namespace ir;

namespace {

// The first row that fits is taken. Possible further rows: AVX-VNNI's vpdpbusd of 32 bytes, AMX's tiles.
constexpr std::array kForms = {
    DotForm{},
    DotForm{.first = DType::kBF16,
            .second = DType::kBF16,
            .needs = Ability::kBf16Dot,
            .group = 2,
            .first_panel = DType::kBF16,
            .second_panel = DType::kBF16},
    // Converts bf16 to f32 by shifts: `first` in its panel, `second` at each use.
    DotForm{.first = DType::kBF16,
            .second = DType::kBF16,
            .group = 2,
            .second_panel = DType::kBF16,
            .second_registers = 2,
            .product_registers = 1},
    // Uses the same instruction if the processor has it, otherwise vpmaddubsw, and vpmaddwd with ones.
    DotForm{.first = DType::kU8,
            .second = DType::kS7,
            .group = 4,
            .first_panel = DType::kU8,
            .second_panel = DType::kS7,
            .sums = DType::kS32,
            .product_registers = 2},
    DotForm{.first = DType::kS8,
            .second = DType::kS7,
            .group = 4,
            .first_panel = DType::kU8,
            .second_panel = DType::kS7,
            .sums = DType::kS32,
            .offset = 128,
            .product_registers = 2},
    DotForm{.first = DType::kU8,
            .second = DType::kS8,
            .needs = Ability::kInt8Dot,
            .group = 4,
            .first_panel = DType::kU8,
            .second_panel = DType::kS8,
            .sums = DType::kS32},
    DotForm{.first = DType::kS8,
            .second = DType::kS8,
            .needs = Ability::kInt8Dot,
            .group = 4,
            .first_panel = DType::kU8,
            .second_panel = DType::kS8,
            .sums = DType::kS32,
            .offset = 128},
    DotForm{.first = DType::kU8,
            .second = DType::kS8,
            .group = 2,
            .first_panel = DType::kS16,
            .second_panel = DType::kS16,
            .sums = DType::kS32,
            .product_registers = 1},
    DotForm{.first = DType::kS8,
            .second = DType::kS8,
            .group = 2,
            .first_panel = DType::kS16,
            .second_panel = DType::kS16,
            .sums = DType::kS32,
            .product_registers = 1},
    // For widening_form() only, which converts the operands to f32; the workload's sums are in s32.
    DotForm{.first = DType::kU8, .second = DType::kS8, .second_panel = DType::kF32},
    DotForm{.first = DType::kS8, .second = DType::kS8, .second_panel = DType::kF32},
};

Expr in_panel(Expr elements, DType from, DType to) {
  return from == to ? elements : cast(to, std::move(elements));
}

}  // namespace

Expr DotForm::in_first_panel(Expr elements, int lanes) const {
  Expr moved = in_panel(std::move(elements), first, first_panel);
  if (offset == 0) return moved;
  // For s8 as u8: adding 128 flips the sign bit.
  const Expr sign = cast(DType::kU8, integer(offset));
  return bit_xor(std::move(moved), lanes == 1 ? sign : splat(sign, lanes));
}

Expr DotForm::in_second_panel(Expr element) const {
  return in_panel(std::move(element), second, second_panel);
}

const DotForm& plain_form() {
  return kForms[0];
}

const DotForm* widening_form(const Workload& workload) {
  const ProductSums sums = sums_of(workload);
  const DType stored = sums.second == DType::kS7 ? DType::kS8 : sums.second;
  for (const DotForm& form : kForms)
    if (form.first == sums.operand && form.second == stored && form.first_panel == DType::kF32) return &form;
  return nullptr;
}

const DotForm* dot_form(const Workload& workload, const Limits& limits) {
  const ProductSums sums = sums_of(workload);
  for (const DotForm& form : kForms)
    if (form.first == sums.operand && form.second == sums.second && form.sums == sums.accum &&
        (!form.needs || limits.has(*form.needs)))
      return &form;
  return nullptr;
}

std::optional<std::string> why_no_form(const Workload& workload, const Limits& limits) {
  if (dot_form(workload, limits) != nullptr) return std::nullopt;
  return "multiplies f32, bf16, and u8 or s8 by s8 only";
}

namespace {

Stmt copy_groups(DType from, DType to, std::int64_t group, const GroupCopy& c) {
  const std::int64_t elements = c.most_count * group;
  const bool by_lines = c.from_step == 1;
  Touch written = {c.to, c.target, elements, true, c.most_count, c.to_step};
  if (c.to_step == group) {
    written.rows = 1;
    written.row_stride = 0;
  }
  const Touch read = {c.from,
                      c.source,
                      elements,
                      false,
                      by_lines ? group : c.most_count,
                      by_lines ? c.line_step : c.from_step,
                      true};
  return Intrinsic{intrinsic_name(fmt::format("groups_{}_{}", name_of(from), name_of(to))),
                   {written, read},
                   {c.count, integer(c.from_step), integer(c.line_step), c.lines, integer(c.to_step)},
                   0};
}

}  // namespace

Stmt copy_first_groups(const DotForm& form, const GroupCopy& copy) {
  return copy_groups(form.first, form.first_panel, form.group, copy);
}

Stmt copy_second_groups(const DotForm& form, const GroupCopy& copy) {
  return copy_groups(form.second, form.second_panel, form.group, copy);
}

Stmt sum_columns(KernelBuilder& builder, const DotForm& form, const ColumnSums& c) {
  const VarId j = builder.var("sum_j"), k = builder.var("sum_k"), e = builder.var("sum_e");
  const Expr sum = c.sums_at + var(j);
  const Expr element =
      load(c.panel, c.panel_at + var(k) * (c.columns * form.group) + var(j) * form.group + var(e));
  const Stmt add = Store{c.sums, sum, load(c.sums, sum) + cast(DType::kS32, element), 1, std::nullopt};
  return loop(
      j, c.columns, LoopKind::kSerial,
      block(Store{c.sums, sum, integer(0), 1, std::nullopt},
            loop_to(k, c.groups, c.most_groups, block(loop(e, form.group, LoopKind::kSerial, block(add))))));
}

bool needs_correction(const Workload& workload, const DotForm& form) {
  return form.offset != 0 || zero_of(workload) != ZeroPoint::kNone;
}

Correction correction_of(KernelBuilder& builder, const Workload& workload, const DotForm& form) {
  Correction correction{.zero = std::nullopt, .offset = form.offset};
  if (zero_of(workload) == ZeroPoint::kNone) return correction;
  const std::vector<TensorSpec> tensors = operator_of(workload).tensors(workload);
  correction.zero = builder.param(tensors.back().name, tensors.back().type, 1, Direction::kIn);
  builder.kernel.params.back().is_number = true;
  return correction;
}

Expr Correction::corrected(Expr sums, Expr of_second, int lanes) const {
  if (!needed()) return sums;
  Expr factor = integer(offset);
  if (zero) factor = cast(DType::kS32, load(*zero, integer(0))) + offset;
  return std::move(sums) - splat(std::move(factor), lanes) * std::move(of_second);
}

Expr Correction::zero_in_panel(const DotForm& form) const {
  if (zero) return form.in_first_panel(load(*zero, integer(0)), 1);
  if (form.first == DType::kF32 || form.first == DType::kBF16) return ir::zero(form.first_panel);
  return cast(form.first_panel, integer(form.offset));
}

}  // namespace lehr::cpu
