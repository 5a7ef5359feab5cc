// Builders of expressions, with which templates write index arithmetic. They fold integers so that no dead
// term reaches the printer, the emitter or the analysis.
#include "ir/expr.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/power_of_two.h"

namespace lehr::ir {

void Expr::drop() noexcept {
  std::atomic<int>& owners = value_.operation->owners;
  // Most operations have only one owner, which need not decrement the count: a load is cheaper than an atomic
  // subtraction.
  if (owners.load(std::memory_order_acquire) == 1 || owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete value_.operation;
}

bool operator==(const Expr& x, const Expr& y) {
  if (x.kind_ != y.kind_) return false;
  switch (x.kind_) {
    case Expr::Kind::kInt:
      return x.value_.integer == y.value_.integer;
    case Expr::Kind::kFloat:
      return x.value_.number == y.value_.number && x.type_ == y.type_;
    case Expr::Kind::kVar:
      return x.value_.variable == y.value_.variable;
    case Expr::Kind::kOperation:
      break;
  }
  return x.operation() == y.operation() || x.operation()->node == y.operation()->node;
}

namespace {

int depth_of(const Binary& n) {
  return std::max(n.a.depth(), n.b.depth());
}
int depth_of(const Load& n) {
  return std::max(n.index.depth(), n.active ? n.active->depth() : 0);
}
int depth_of(const Fma& n) {
  return std::max({n.a.depth(), n.b.depth(), n.c.depth()});
}
int depth_of(const Select& n) {
  return std::max({n.condition.depth(), n.a.depth(), n.b.depth()});
}
template <typename Node>  // Unary, Splat, Reduce, Cast
int depth_of(const Node& n) {
  return n.value.depth();
}

template <typename Node>
Expr made(Node&& node, bool is_index = false, bool is_plain_index = false) {
  const int depth = 1 + depth_of(node);
  CHECK(depth <= Expr::kMaxDepth, "an expression of more than {} levels", Expr::kMaxDepth);
  return Expr(new Operation(std::forward<Node>(node), depth, is_index, is_plain_index));
}

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

Expr binary(BinaryOp op, Expr&& a, Expr&& b) {
  const bool is_index = a.is_index() && b.is_index();
  const bool divides = op == BinaryOp::kDiv || op == BinaryOp::kMod;
  const bool is_plain =
      a.is_plain_index() && b.is_plain_index() && (!divides || is_power_of_two(as_constant(b).value_or(0)));
  return made(Binary{op, std::move(a), std::move(b)}, is_index, is_plain);
}

// Returns x + c for a scalar integer x. If x is x' + c', x' - c' or c' - x', the constants are combined.
Expr add_constant(Expr&& x, std::int64_t c) {
  if (c == 0) return x;
  if (const auto inner = x.as_binary();
      inner && (inner->op == BinaryOp::kAdd || inner->op == BinaryOp::kSub)) {
    const bool adds = inner->op == BinaryOp::kAdd;
    if (const auto right = as_constant(inner->b)) {
      const std::int64_t total = checked_add(c, adds ? *right : checked_mul(*right, -1));
      return add_constant(Expr(inner->a), total);
    }
    if (const auto left = as_constant(inner->a); left && !adds)
      return binary(BinaryOp::kSub, integer(checked_add(*left, c)), Expr(inner->b));
  }
  if (c > 0) return binary(BinaryOp::kAdd, std::move(x), integer(c));
  return binary(BinaryOp::kSub, std::move(x), integer(checked_mul(c, -1)));
}

Expr mul_constant(Expr&& x, std::int64_t c) {
  if (c == 0) return integer(0);
  if (c == 1) return x;
  if (const auto inner = x.as_binary(); inner && inner->op == BinaryOp::kMul) {
    if (const auto right = as_constant(inner->b)) return mul_constant(Expr(inner->a), checked_mul(c, *right));
  }
  return binary(BinaryOp::kMul, std::move(x), integer(c));
}

}  // namespace

Expr operator+(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(checked_add(*ca, *cb));
  if (cb && a.is_index()) return add_constant(std::move(a), *cb);
  if (ca && b.is_index()) return add_constant(std::move(b), *ca);
  return binary(BinaryOp::kAdd, std::move(a), std::move(b));
}

Expr operator-(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (cb && (ca || a.is_index())) {
    const std::int64_t negative = checked_mul(*cb, -1);
    return ca ? integer(checked_add(*ca, negative)) : add_constant(std::move(a), negative);
  }
  return binary(BinaryOp::kSub, std::move(a), std::move(b));
}

Expr operator*(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(checked_mul(*ca, *cb));
  if (cb && a.is_index()) return mul_constant(std::move(a), *cb);
  if (ca && b.is_index()) return mul_constant(std::move(b), *ca);
  return binary(BinaryOp::kMul, std::move(a), std::move(b));
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
  return binary(BinaryOp::kDiv, std::move(a), std::move(b));
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
  // Only a scalar may vanish, and 1 && x is x only if x is already 0 or 1.
  if (ca && b.is_index()) {
    if (*ca == 0) return integer(0);
    if (is_comparison(b)) return b;
  }
  if (cb && a.is_index()) {
    if (*cb == 0) return integer(0);
    if (is_comparison(a)) return a;
  }
  return binary(BinaryOp::kAnd, std::move(a), std::move(b));
}

Expr bit_xor(Expr a, Expr b) {
  const auto ca = as_constant(a);
  const auto cb = as_constant(b);
  if (ca && cb) return integer(*ca ^ *cb);
  if (cb == 0 && a.is_index()) return a;
  if (ca == 0 && b.is_index()) return b;
  return binary(BinaryOp::kXor, std::move(a), std::move(b));
}

Expr unary(UnaryOp op, Expr value) {
  return made(Unary{op, std::move(value)});
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
    case UnaryOp::kRounded:
      return "rounded";
    case UnaryOp::kExp:
      return "exp";
    case UnaryOp::kLog:
      return "log";
    case UnaryOp::kSqrt:
      return "sqrt";
    case UnaryOp::kRsqrt:
      return "rsqrt";
    case UnaryOp::kAbs:
      return "abs";
  }
  return "?";
}

std::string_view name_of(ReduceOp op) {
  return op == ReduceOp::kAdd ? "add" : op == ReduceOp::kMax ? "max" : "min";
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
    case UnaryOp::kRounded:
      return 0;
    case UnaryOp::kExp:
      return 20;
    case UnaryOp::kLog:
      return 26;
    case UnaryOp::kSqrt:
      return 1;
    case UnaryOp::kRsqrt:
      return 2;
    case UnaryOp::kAbs:
      return 1;
  }
  return 0;
}

Expr load(BufferId buffer, Expr index, int lanes) {
  return made(Load{buffer, std::move(index), lanes, std::nullopt});
}

Expr load_active(BufferId buffer, Expr index, int lanes, Expr active) {
  if (const auto count = as_constant(active); count && *count >= lanes)
    return load(buffer, std::move(index), lanes);
  return made(Load{buffer, std::move(index), lanes, std::move(active)});
}

Expr splat(Expr value, int lanes) {
  return made(Splat{std::move(value), lanes});
}
Expr fma(Expr a, Expr b, Expr c) {
  return made(Fma{std::move(a), std::move(b), std::move(c)});
}
Expr reduce_add(Expr value) {
  return made(Reduce{ReduceOp::kAdd, std::move(value)});
}
Expr reduce_max(Expr value) {
  return made(Reduce{ReduceOp::kMax, std::move(value)});
}
Expr reduce_min(Expr value) {
  return made(Reduce{ReduceOp::kMin, std::move(value)});
}

Expr cast(DType type, Expr value) {
  return made(Cast{type, std::move(value)});
}

Expr select(Expr condition, Expr a, Expr b) {
  if (const auto constant = as_constant(condition)) return *constant != 0 ? a : b;
  const bool is_index = a.is_index() && b.is_index();
  const bool is_plain = condition.is_plain_index() && a.is_plain_index() && b.is_plain_index();
  return made(Select{std::move(condition), std::move(a), std::move(b)}, is_index, is_plain);
}

Expr zero(DType type, int lanes) {
  Expr scalar = is_integer(type) ? Expr(Int{0}) : Expr(Float{0, type});
  return lanes == 1 ? scalar : splat(std::move(scalar), lanes);
}

}  // namespace lehr::ir
