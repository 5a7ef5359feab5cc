// Expression builders: what templates write index arithmetic with. Folds integers so that no dead term
// reaches the printer, the emitter or the analysis.
#include "ir/expr.h"

#include <algorithm>

#include "base/error.h"
#include "base/power_of_two.h"
#include "ir/kernel_memory.h"

namespace lehr::ir {

// Makes the kinds that have operands.
class ExprFactory {
 public:
  using Head = Expr::Head;
  using Kind = Expr::Kind;

  template <typename... Operand>
  static Expr with(Head head, Operand... operand) {
    constexpr std::size_t kCount = sizeof...(operand);
    auto* operands = static_cast<Expr*>(take_kernel_memory(kCount * sizeof(Expr)));
    Expr* at = operands;
    (new (at++) Expr(operand), ...);
    return Expr(head.count(kCount), Expr::payload_of(operands));
  }
  static Expr binary(BinaryOp op, Expr a, Expr b) {
    const bool is_index = a.is_index() && b.is_index();
    const bool divides = op == BinaryOp::kDiv || op == BinaryOp::kMod;
    const bool is_plain =
        a.is_plain_index() && b.is_plain_index() && (!divides || is_power_of_two(as_constant(b).value_or(0)));
    return with(Head(Kind::kBinary).op(op).index(is_index).plain(is_plain), a, b);
  }
  static Expr unary(UnaryOp op, Expr value) {
    return with(Head(Kind::kUnary).op(static_cast<BinaryOp>(op)), value);
  }
  template <typename... Active>
  static Expr load(BufferId buffer, int lanes, Expr index, Active... active) {
    CHECK(static_cast<std::uint32_t>(buffer) <= 0xffff, "buffer {}", static_cast<int>(buffer));
    return with(Head(Kind::kLoad).buffer(buffer).lanes(lanes), index, active...);
  }
  static Expr splat(Expr value, int lanes) { return with(Head(Kind::kSplat).lanes(lanes), value); }
  static Expr fma(Expr a, Expr b, Expr c) { return with(Head(Kind::kFma), a, b, c); }
  static Expr reduce_add(Expr value) { return with(Head(Kind::kReduceAdd), value); }
  static Expr cast(DType type, Expr value) { return with(Head(Kind::kCast).type(type), value); }
  static Expr select(Expr condition, Expr a, Expr b) {
    const bool is_index = a.is_index() && b.is_index();
    const bool is_plain = condition.is_plain_index() && a.is_plain_index() && b.is_plain_index();
    return with(Head(Kind::kSelect).index(is_index).plain(is_plain), condition, a, b);
  }
};

bool operator==(const Expr& x, const Expr& y) {
  using Kind = Expr::Kind;
  const Kind kind = x.head_.kind();
  if (kind != y.head_.kind() || x.head_.count() != y.head_.count() || x.head_.lanes() != y.head_.lanes())
    return false;
  switch (kind) {
    case Kind::kInt:
    case Kind::kVar:
      return x.payload_ == y.payload_;
    case Kind::kFloat:
      return x.number() == y.number() && x.head_.type() == y.head_.type();
    case Kind::kBinary:
    case Kind::kUnary:
      if (x.head_.op() != y.head_.op()) return false;
      break;
    case Kind::kLoad:
      if (x.head_.buffer() != y.head_.buffer()) return false;
      break;
    case Kind::kCast:
      if (x.head_.type() != y.head_.type()) return false;
      break;
    case Kind::kSplat:
    case Kind::kFma:
    case Kind::kReduceAdd:
    case Kind::kSelect:
      break;
  }
  return x.operands() == y.operands() ||
         std::equal(x.operands(), x.operands() + x.head_.count(), y.operands());
}

namespace {

bool is_comparison(const Expr& expr) {
  const auto binary = expr.as_binary();
  return binary && (binary->op == BinaryOp::kLt || binary->op == BinaryOp::kLe ||
                    binary->op == BinaryOp::kEq || binary->op == BinaryOp::kAnd);
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
  return ExprFactory::binary(op, a, b);
}

// x + c for a scalar integer x, looking through one x' + c' or x' - c' or c' - x'.
Expr add_constant(Expr x, std::int64_t c) {
  if (c == 0) return x;
  if (const auto inner = x.as_binary();
      inner && (inner->op == BinaryOp::kAdd || inner->op == BinaryOp::kSub)) {
    const bool adds = inner->op == BinaryOp::kAdd;
    if (const auto right = as_constant(inner->b)) {
      const std::int64_t total = checked_add(c, adds ? *right : checked_mul(*right, -1));
      return add_constant(inner->a, total);
    }
    if (const auto left = as_constant(inner->a); left && !adds)
      return binary(BinaryOp::kSub, integer(checked_add(*left, c)), inner->b);
  }
  if (c > 0) return binary(BinaryOp::kAdd, x, integer(c));
  return binary(BinaryOp::kSub, x, integer(checked_mul(c, -1)));
}

Expr mul_constant(Expr x, std::int64_t c) {
  if (c == 0) return integer(0);
  if (c == 1) return x;
  if (const auto inner = x.as_binary(); inner && inner->op == BinaryOp::kMul) {
    if (const auto right = as_constant(inner->b)) return mul_constant(inner->a, checked_mul(c, *right));
  }
  return binary(BinaryOp::kMul, x, integer(c));
}

}  // namespace

Expr unfolded(BinaryOp op, Expr a, Expr b) {
  return binary(op, a, b);
}

Expr operator+(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(checked_add(*ca, *cb));
  if (cb && a.is_index()) return add_constant(a, *cb);
  if (ca && b.is_index()) return add_constant(b, *ca);
  return binary(BinaryOp::kAdd, a, b);
}

Expr operator-(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (cb && (ca || a.is_index())) {
    const std::int64_t negative = checked_mul(*cb, -1);
    return ca ? integer(checked_add(*ca, negative)) : add_constant(a, negative);
  }
  return binary(BinaryOp::kSub, a, b);
}

Expr operator*(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(checked_mul(*ca, *cb));
  if (cb && a.is_index()) return mul_constant(a, *cb);
  if (ca && b.is_index()) return mul_constant(b, *ca);
  return binary(BinaryOp::kMul, a, b);
}

Expr operator/(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (cb && a.is_index()) {
    CHECK(*cb > 0, "division by {}: the divisor must be positive", *cb);
    CHECK(!ca || *ca >= 0, "division of {}: the dividend must not be negative", *ca);
    if (ca) return integer(*ca / *cb);
    if (*cb == 1) return a;
  }
  return binary(BinaryOp::kDiv, a, b);
}

Expr operator%(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (cb && a.is_index()) {
    CHECK(*cb > 0, "remainder by {}: the divisor must be positive", *cb);
    CHECK(!ca || *ca >= 0, "remainder of {}: the dividend must not be negative", *ca);
    if (ca) return integer(*ca % *cb);
    if (*cb == 1) return integer(0);
  }
  return binary(BinaryOp::kMod, a, b);
}

Expr operator+(Expr a, std::int64_t b) {
  return a + integer(b);
}
Expr operator-(Expr a, std::int64_t b) {
  return a - integer(b);
}
Expr operator*(Expr a, std::int64_t b) {
  return a * integer(b);
}
Expr operator/(Expr a, std::int64_t b) {
  return a / integer(b);
}
Expr operator%(Expr a, std::int64_t b) {
  return a % integer(b);
}

Expr min(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(std::min(*ca, *cb));
  return binary(BinaryOp::kMin, a, b);
}

Expr max(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(std::max(*ca, *cb));
  return binary(BinaryOp::kMax, a, b);
}

Expr lt(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(*ca < *cb ? 1 : 0);
  return binary(BinaryOp::kLt, a, b);
}

Expr le(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(*ca <= *cb ? 1 : 0);
  return binary(BinaryOp::kLe, a, b);
}

Expr eq(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(*ca == *cb ? 1 : 0);
  return binary(BinaryOp::kEq, a, b);
}

Expr logical_and(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(*ca != 0 && *cb != 0 ? 1 : 0);
  // Only a scalar may vanish, and 1 && x is x only when x is already 0 or 1.
  if (ca && b.is_index()) {
    if (*ca == 0) return integer(0);
    if (is_comparison(b)) return b;
  }
  if (cb && a.is_index()) {
    if (*cb == 0) return integer(0);
    if (is_comparison(a)) return a;
  }
  return binary(BinaryOp::kAnd, a, b);
}

Expr bit_xor(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(*ca ^ *cb);
  if (cb == 0 && a.is_index()) return a;
  if (ca == 0 && b.is_index()) return b;
  return binary(BinaryOp::kXor, a, b);
}

Expr unary(UnaryOp op, Expr value) {
  return ExprFactory::unary(op, value);
}

std::string_view name_of(UnaryOp op) {
  switch (op) {
    case UnaryOp::kTanh:
      return "tanh";
    case UnaryOp::kSigmoid:
      return "sigmoid";
    case UnaryOp::kSilu:
      return "silu";
    case UnaryOp::kGeluTanh:
      return "gelu_tanh";
    case UnaryOp::kGeluErf:
      return "gelu_erf";
  }
  return "?";
}

double flops_of(UnaryOp op) {
  switch (op) {
    case UnaryOp::kTanh:
      return 23;
    case UnaryOp::kSigmoid:
      return 25;
    case UnaryOp::kSilu:
      return 25;
    case UnaryOp::kGeluTanh:
      return 30;
    case UnaryOp::kGeluErf:
      return 29;
  }
  return 0;
}

Expr load(BufferId buffer, Expr index, int lanes) {
  return ExprFactory::load(buffer, lanes, index);
}

Expr load_active(BufferId buffer, Expr index, int lanes, Expr active) {
  if (const auto count = as_constant(active); count && *count >= lanes) return load(buffer, index, lanes);
  return ExprFactory::load(buffer, lanes, index, active);
}

Expr splat(Expr value, int lanes) {
  return ExprFactory::splat(value, lanes);
}
Expr fma(Expr a, Expr b, Expr c) {
  return ExprFactory::fma(a, b, c);
}
Expr reduce_add(Expr value) {
  return ExprFactory::reduce_add(value);
}

Expr cast(DType type, Expr value) {
  return ExprFactory::cast(type, value);
}

Expr select(Expr condition, Expr a, Expr b) {
  if (const auto constant = as_constant(condition)) return *constant != 0 ? a : b;
  return ExprFactory::select(condition, a, b);
}

Expr zero(DType type, int lanes) {
  Expr scalar = is_integer(type) ? Expr(Int{0}) : Expr(Float{0, type});
  return lanes == 1 ? scalar : splat(scalar, lanes);
}

}  // namespace lehr::ir
