#include "templates/shared/winograd_transform.h"

#include <utility>
#include <vector>

namespace lehr {
namespace {

using namespace ir;

using Matrix = Winograd::Matrix;
using Value = std::function<Expr(std::size_t)>;

Stmt put_scalar(BufferId to, const Expr& index, Expr value) {
  return Store{to, index, value, 1, std::nullopt};
}

/// In how many rows two columns have the same element, and in how many opposite elements. Zeros do not count.
struct Likeness {
  int same = 0, opposite = 0, different = 0;
  void add(double a, double b) {
    if (a == b)
      same += a != 0 ? 1 : 0;
    else if (a == -b)
      ++opposite;
    else
      ++different;
  }
  /// Returns whether computing sum and difference once saves operations.
  bool pays() const { return different == 0 && same > 0 && opposite > 0 && same + opposite > 2; }
};

Likeness of_columns(const Matrix& matrix, std::size_t a, std::size_t b) {
  Likeness result;
  for (const std::vector<double>& row : matrix) result.add(row[a], row[b]);
  return result;
}
Likeness of_rows(const std::vector<double>& a, const std::vector<double>& b) {
  Likeness result;
  for (std::size_t j = 0; j < a.size(); ++j) result.add(a[j], b[j]);
  return result;
}

/// Multiplies `matrix` by the vector of `value`s. If two neighbouring columns are equal except for signs,
/// they multiply the sum and the difference of their values. If two neighbouring rows are, their results are
/// the sum and the difference of their common terms.
Block line(KernelBuilder& builder, Matrix matrix, const Value& value,
           const std::function<Stmt(std::size_t row, Expr value)>& put) {
  const std::size_t inputs = matrix.front().size();
  Block result;
  std::vector<Expr> values;
  for (std::size_t j = 0; j < inputs; ++j) values.push_back(value(j));
  for (std::size_t j = 0; j + 1 < inputs; ++j) {
    if (!of_columns(matrix, j, j + 1).pays()) continue;
    const BufferId pair = builder.buffer("of_pair", DType::kF32, Scope::kRegister, 2);
    append(result, block(Alloc{pair}, put_scalar(pair, integer(0), values[j] + values[j + 1]),
                         put_scalar(pair, integer(1), values[j] - values[j + 1])));
    values[j] = load(pair, integer(0));
    values[j + 1] = load(pair, integer(1));
    for (std::vector<double>& row : matrix) {
      const double factor = std::exchange(row[j + 1], 0);
      if (row[j] != factor) std::swap(row[j], row[j + 1]);
    }
    ++j;
  }
  const auto of = [&](const std::vector<double>& row) {
    return combine(row, [&](std::size_t j) { return values[j]; }, 1);
  };
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    if (i + 1 == matrix.size() || !of_rows(matrix[i], matrix[i + 1]).pays()) {
      result.push_back(put(i, of(matrix[i])));
      continue;
    }
    std::vector<double> same = matrix[i], opposite = matrix[i];
    for (std::size_t j = 0; j < inputs; ++j) (matrix[i][j] == matrix[i + 1][j] ? opposite : same)[j] = 0;
    const BufferId pair = builder.buffer("of_pair", DType::kF32, Scope::kRegister, 2);
    const Expr first = load(pair, integer(0)), second = load(pair, integer(1));
    append(result, block(Alloc{pair}, put_scalar(pair, integer(0), of(same)),
                         put_scalar(pair, integer(1), of(opposite)), put(i, first + second),
                         put(i + 1, first - second)));
    ++i;
  }
  return result;
}

}  // namespace

Block both_sides(KernelBuilder& builder, const Matrix& matrix,
                 const std::function<Expr(const Expr& i, const Expr& j)>& at,
                 const std::function<Stmt(const Expr& i, std::int64_t j, Expr value)>& put) {
  const auto rows = static_cast<std::int64_t>(matrix.size());
  const auto inputs = static_cast<std::int64_t>(matrix.front().size());
  const BufferId column = builder.buffer("column_of", DType::kF32, Scope::kRegister, inputs);
  const BufferId half = builder.buffer("half", DType::kF32, Scope::kRegister, rows * inputs);
  const VarId i = builder.var("i"), j = builder.var("j"), q = builder.var("q");
  Block of_column = block(Alloc{column}, loop(q, inputs, LoopKind::kUnrolled,
                                              block(put_scalar(column, var(q), at(var(q), var(j))))));
  append(of_column, line(
                        builder, matrix,
                        [&](std::size_t of) { return load(column, integer(static_cast<std::int64_t>(of))); },
                        [&](std::size_t row, Expr value) {
                          return put_scalar(half, var(j) + static_cast<std::int64_t>(row) * inputs, value);
                        }));
  Block of_row = line(
      builder, matrix,
      [&](std::size_t of) { return load(half, var(i) * inputs + static_cast<std::int64_t>(of)); },
      [&](std::size_t row, Expr value) { return put(var(i), static_cast<std::int64_t>(row), value); });
  return block(Alloc{half}, loop(j, inputs, LoopKind::kUnrolled, of_column),
               loop(i, rows, LoopKind::kUnrolled, of_row));
}

}  // namespace lehr
