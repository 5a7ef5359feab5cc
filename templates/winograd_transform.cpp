#include "templates/winograd_transform.h"

#include <utility>

namespace lehr {

using namespace ir;

Block both_sides(KernelBuilder& builder, const Winograd::Matrix& matrix,
                 const std::function<Expr(const Expr& i, const Expr& j)>& at,
                 const std::function<Stmt(const Expr& i, std::int64_t j, Expr value)>& put) {
  const auto rows = static_cast<std::int64_t>(matrix.size());
  const auto inputs = static_cast<std::int64_t>(matrix.front().size());
  const BufferId column = builder.buffer("column_of", DType::kF32, Scope::kRegister, inputs);
  const BufferId half = builder.buffer("half", DType::kF32, Scope::kRegister, rows * inputs);
  const VarId i = builder.var("i"), j = builder.var("j"), q = builder.var("q");
  Block of_column =
      block(Alloc{column}, loop(q, inputs, LoopKind::kUnrolled,
                                block(Store{column, var(q), at(var(q), var(j)), 1, std::nullopt})));
  Block of_row;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::vector<double>& factors = matrix[static_cast<std::size_t>(row)];
    Expr down = combine(
        factors, [&](std::size_t of) { return load(column, integer(static_cast<std::int64_t>(of))); }, 1);
    of_column.push_back(Store{half, var(j) + row * inputs, std::move(down), 1, std::nullopt});
    Expr across = combine(
        factors, [&](std::size_t of) { return load(half, var(i) * inputs + static_cast<std::int64_t>(of)); },
        1);
    of_row.push_back(put(var(i), row, std::move(across)));
  }
  return block(Alloc{half}, loop(j, inputs, LoopKind::kUnrolled, std::move(of_column)),
               loop(i, rows, LoopKind::kUnrolled, std::move(of_row)));
}

}  // namespace lehr
