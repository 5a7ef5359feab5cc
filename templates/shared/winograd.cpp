#include "templates/shared/winograd.h"

#include <optional>

#include "base/error.h"

namespace lehr {

using namespace ir;

Expr combine(std::span<const double> row, const std::function<Expr(std::size_t)>& value, int lanes) {
  const auto factor = [&](double number) {
    Expr one = Float{number, DType::kF32};
    return lanes == 1 ? one : splat(one, lanes);
  };
  std::optional<Expr> sum;
  // Terms with coefficient 1 come first, so that no sum begins with a product by one.
  for (std::size_t j = 0; j < row.size(); ++j)
    if (row[j] == 1) sum = sum ? *sum + value(j) : value(j);
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (row[j] == 0 || row[j] == 1) continue;
    if (!sum)
      sum = factor(row[j]) * value(j);
    else if (row[j] == -1)
      sum = *sum - value(j);
    else
      sum = fma(factor(row[j]), value(j), *sum);
  }
  CHECK(sum.has_value(), "a row of zeros");
  return *sum;
}

}  // namespace lehr
