// Expression builders: what templates write index arithmetic with. Folds integers so that no dead term
// reaches the printer, the emitter or the analysis.
#include "ir/expr.h"

#include <algorithm>

#include "base/error.h"

namespace lehr::ir {
namespace {

// True when `expr` is certainly one integer: built of constants, variables and arithmetic on them. Loads are
// left out because the builders do not know the buffer's type.
bool is_scalar_integer(const Expr& expr) {
  if (std::holds_alternative<Int>(expr.node) || std::holds_alternative<Var>(expr.node)) return true;
  if (const Binary* binary = std::get_if<Binary>(&expr.node))
    return is_scalar_integer(*binary->a) && is_scalar_integer(*binary->b);
  if (const Select* select = std::get_if<Select>(&expr.node))
    return is_scalar_integer(*select->a) && is_scalar_integer(*select->b);
  return false;
}

bool is_comparison(const Expr& expr) {
  const Binary* binary = std::get_if<Binary>(&expr.node);
  if (binary == nullptr) return false;
  return binary->op == BinaryOp::kLt || binary->op == BinaryOp::kLe || binary->op == BinaryOp::kEq ||
         binary->op == BinaryOp::kAnd;
}

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  CHECK(!__builtin_add_overflow(a, b, &result), "{} + {} overflows", a, b);
  return result;
}

std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  CHECK(!__builtin_mul_overflow(a, b, &result), "{} * {} overflows", a, b);
  return result;
}

Expr binary(BinaryOp op, Expr a, Expr b) {
  return Binary{op, std::move(a), std::move(b)};
}

// x + c for a scalar integer x, looking through one x' + c' or x' - c' or c' - x'.
Expr add_constant(Expr x, std::int64_t c) {
  if (c == 0) return x;
  if (Binary* inner = std::get_if<Binary>(&x.node);
      inner != nullptr && (inner->op == BinaryOp::kAdd || inner->op == BinaryOp::kSub)) {
    const bool adds = inner->op == BinaryOp::kAdd;
    if (const auto right = as_constant(*inner->b)) {
      const std::int64_t total = checked_add(c, adds ? *right : checked_mul(*right, -1));
      Expr base = std::move(*inner->a);
      return add_constant(std::move(base), total);
    }
    if (const auto left = as_constant(*inner->a); left && !adds) {
      Expr rest = std::move(*inner->b);
      return binary(BinaryOp::kSub, integer(checked_add(*left, c)), std::move(rest));
    }
  }
  if (c > 0) return binary(BinaryOp::kAdd, std::move(x), integer(c));
  return binary(BinaryOp::kSub, std::move(x), integer(checked_mul(c, -1)));
}

Expr mul_constant(Expr x, std::int64_t c) {
  if (c == 0) return integer(0);
  if (c == 1) return x;
  if (Binary* inner = std::get_if<Binary>(&x.node); inner != nullptr && inner->op == BinaryOp::kMul) {
    if (const auto right = as_constant(*inner->b)) {
      const std::int64_t total = checked_mul(c, *right);
      Expr base = std::move(*inner->a);
      return mul_constant(std::move(base), total);
    }
  }
  return binary(BinaryOp::kMul, std::move(x), integer(c));
}

}  // namespace

std::optional<std::int64_t> as_constant(const Expr& expr) {
  if (const Int* constant = std::get_if<Int>(&expr.node)) return constant->value;
  return std::nullopt;
}

Expr integer(std::int64_t value) {
  return Int{value};
}
Expr var(VarId id) {
  return Var{id};
}

Expr operator+(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(checked_add(*ca, *cb));
  if (cb && is_scalar_integer(a)) return add_constant(std::move(a), *cb);
  if (ca && is_scalar_integer(b)) return add_constant(std::move(b), *ca);
  return binary(BinaryOp::kAdd, std::move(a), std::move(b));
}

Expr operator-(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (cb && (ca || is_scalar_integer(a))) {
    const std::int64_t negative = checked_mul(*cb, -1);
    return ca ? integer(checked_add(*ca, negative)) : add_constant(std::move(a), negative);
  }
  return binary(BinaryOp::kSub, std::move(a), std::move(b));
}

Expr operator*(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(checked_mul(*ca, *cb));
  if (cb && is_scalar_integer(a)) return mul_constant(std::move(a), *cb);
  if (ca && is_scalar_integer(b)) return mul_constant(std::move(b), *ca);
  return binary(BinaryOp::kMul, std::move(a), std::move(b));
}

Expr operator/(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (cb && is_scalar_integer(a)) {
    CHECK(*cb > 0, "division by {}: the divisor must be positive", *cb);
    CHECK(!ca || *ca >= 0, "division of {}: the dividend must not be negative", *ca);
    if (ca) return integer(*ca / *cb);
    if (*cb == 1) return a;
  }
  return binary(BinaryOp::kDiv, std::move(a), std::move(b));
}

Expr operator%(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (cb && is_scalar_integer(a)) {
    CHECK(*cb > 0, "remainder by {}: the divisor must be positive", *cb);
    CHECK(!ca || *ca >= 0, "remainder of {}: the dividend must not be negative", *ca);
    if (ca) return integer(*ca % *cb);
    if (*cb == 1) return integer(0);
  }
  return binary(BinaryOp::kMod, std::move(a), std::move(b));
}

Expr operator+(Expr a, std::int64_t b) {
  return std::move(a) + integer(b);
}
Expr operator-(Expr a, std::int64_t b) {
  return std::move(a) - integer(b);
}
Expr operator*(Expr a, std::int64_t b) {
  return std::move(a) * integer(b);
}
Expr operator/(Expr a, std::int64_t b) {
  return std::move(a) / integer(b);
}
Expr operator%(Expr a, std::int64_t b) {
  return std::move(a) % integer(b);
}

Expr min(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(std::min(*ca, *cb));
  return binary(BinaryOp::kMin, std::move(a), std::move(b));
}

Expr max(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(std::max(*ca, *cb));
  return binary(BinaryOp::kMax, std::move(a), std::move(b));
}

Expr lt(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(*ca < *cb ? 1 : 0);
  return binary(BinaryOp::kLt, std::move(a), std::move(b));
}

Expr le(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(*ca <= *cb ? 1 : 0);
  return binary(BinaryOp::kLe, std::move(a), std::move(b));
}

Expr eq(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(*ca == *cb ? 1 : 0);
  return binary(BinaryOp::kEq, std::move(a), std::move(b));
}

Expr logical_and(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(*ca != 0 && *cb != 0 ? 1 : 0);
  // Only a scalar may vanish, and 1 && x is x only when x is already 0 or 1.
  if (ca && is_scalar_integer(b)) {
    if (*ca == 0) return integer(0);
    if (is_comparison(b)) return b;
  }
  if (cb && is_scalar_integer(a)) {
    if (*cb == 0) return integer(0);
    if (is_comparison(a)) return a;
  }
  return binary(BinaryOp::kAnd, std::move(a), std::move(b));
}

Expr bit_xor(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(*ca ^ *cb);
  if (cb == 0 && is_scalar_integer(a)) return a;
  if (ca == 0 && is_scalar_integer(b)) return b;
  return binary(BinaryOp::kXor, std::move(a), std::move(b));
}

Expr load(BufferId buffer, Expr index, int lanes) {
  return Load{buffer, std::move(index), lanes, std::nullopt};
}

Expr load_active(BufferId buffer, Expr index, int lanes, Expr active) {
  if (const auto count = as_constant(active); count && *count >= lanes)
    return load(buffer, std::move(index), lanes);
  return Load{buffer, std::move(index), lanes, Box<Expr>(std::move(active))};
}

Expr splat(Expr value, int lanes) {
  return Splat{std::move(value), lanes};
}
Expr fma(Expr a, Expr b, Expr c) {
  return Fma{std::move(a), std::move(b), std::move(c)};
}
Expr reduce_add(Expr value) {
  return ReduceAdd{std::move(value)};
}

Expr select(Expr condition, Expr a, Expr b) {
  if (const auto constant = as_constant(condition)) return *constant != 0 ? std::move(a) : std::move(b);
  return Select{std::move(condition), std::move(a), std::move(b)};
}

Expr zero(DType type, int lanes) {
  const bool is_integer = type == DType::kS32 || type == DType::kS8 || type == DType::kU8;
  Expr scalar = is_integer ? Expr(Int{0}) : Expr(Float{0, type});
  return lanes == 1 ? std::move(scalar) : splat(std::move(scalar), lanes);
}

}  // namespace lehr::ir
