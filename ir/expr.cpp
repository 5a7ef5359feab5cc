// Expression builders: what templates write index arithmetic with. Folds integers so that no dead term
// reaches the printer, the emitter or the analysis.
#include "ir/expr.h"

#include <algorithm>

#include "base/error.h"
#include "ir/spare_operands.h"

namespace lehr::ir {

// Makes the kinds that have operands.
class ExprFactory {
 public:
  template <typename... Moved>
  static Expr with(Expr::Kind kind, Moved&&... moved) {
    constexpr std::size_t kCount = sizeof...(moved);
    void* memory = spare_operands.take(kCount);
    if (memory == nullptr) memory = ::operator new(sizeof(Expr::Operands) + kCount * sizeof(Expr));
    auto* operands = new (memory) Expr::Operands;
    Expr* at = operands->begin();
    (new (at++) Expr(std::move(moved)), ...);
    Expr result(kind);
    result.node_.count = kCount;
    result.node_.operands = operands;
    return result;
  }
  static Expr binary(BinaryOp op, Expr&& a, Expr&& b) {
    const bool is_index = a.node_.is_index && b.node_.is_index;
    Expr result = with(Expr::Kind::kBinary, std::move(a), std::move(b));
    result.node_.op = op;
    result.node_.is_index = is_index;
    return result;
  }
  static Expr unary(UnaryOp op, Expr&& value) {
    Expr result = with(Expr::Kind::kUnary, std::move(value));
    result.node_.op = static_cast<BinaryOp>(op);
    return result;
  }
  static Expr load(BufferId buffer, int lanes, Expr&& loaded) {
    loaded.node_.operands->buffer = buffer;
    loaded.node_.lanes = lanes;
    return std::move(loaded);
  }
  static Expr load(BufferId buffer, Expr&& index, int lanes) {
    return load(buffer, lanes, with(Expr::Kind::kLoad, std::move(index)));
  }
  static Expr load(BufferId buffer, Expr&& index, int lanes, Expr&& active) {
    return load(buffer, lanes, with(Expr::Kind::kLoad, std::move(index), std::move(active)));
  }
  static Expr splat(Expr&& value, int lanes) {
    Expr result = with(Expr::Kind::kSplat, std::move(value));
    result.node_.lanes = lanes;
    return result;
  }
  static Expr fma(Expr&& a, Expr&& b, Expr&& c) {
    return with(Expr::Kind::kFma, std::move(a), std::move(b), std::move(c));
  }
  static Expr reduce_add(Expr&& value) { return with(Expr::Kind::kReduceAdd, std::move(value)); }
  static Expr cast(DType type, Expr&& value) {
    Expr result = with(Expr::Kind::kCast, std::move(value));
    result.node_.type = type;
    return result;
  }
  static Expr select(Expr&& condition, Expr&& a, Expr&& b) {
    const bool is_index = a.node_.is_index && b.node_.is_index;
    Expr result = with(Expr::Kind::kSelect, std::move(condition), std::move(a), std::move(b));
    result.node_.is_index = is_index;
    return result;
  }
  // An operand of an expression that is not needed any more.
  static Expr take(const Expr& expr, std::size_t operand) { return expr.operand(operand); }
};

void Expr::release() {
  if (--node_.operands->owners != 0) return;
  for (std::size_t i = 0; i < node_.count; ++i) node_.operands->begin()[i].~Expr();
  node_.operands->~Operands();
  if (!spare_operands.keep(node_.operands, node_.count))
    ::operator delete(node_.operands, sizeof(Operands) + node_.count * sizeof(Expr));
}

bool operator==(const Expr& x, const Expr& y) {
  if (x.node_.kind != y.node_.kind || x.node_.count != y.node_.count || x.node_.lanes != y.node_.lanes)
    return false;
  switch (x.node_.kind) {
    case Expr::Kind::kInt:
    case Expr::Kind::kVar:
      return x.node_.value == y.node_.value;
    case Expr::Kind::kFloat:
      return x.node_.number == y.node_.number && x.node_.type == y.node_.type;
    case Expr::Kind::kBinary:
    case Expr::Kind::kUnary:
      if (x.node_.op != y.node_.op) return false;
      break;
    case Expr::Kind::kLoad:
      if (x.node_.operands->buffer != y.node_.operands->buffer) return false;
      break;
    case Expr::Kind::kCast:
      if (x.node_.type != y.node_.type) return false;
      break;
    case Expr::Kind::kSplat:
    case Expr::Kind::kFma:
    case Expr::Kind::kReduceAdd:
    case Expr::Kind::kSelect:
      break;
  }
  return x.node_.operands == y.node_.operands ||
         std::equal(x.node_.operands->begin(), x.node_.operands->begin() + x.node_.count,
                    y.node_.operands->begin());
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

Expr binary(BinaryOp op, Expr&& a, Expr&& b) {
  return ExprFactory::binary(op, std::move(a), std::move(b));
}

// x + c for a scalar integer x, looking through one x' + c' or x' - c' or c' - x'.
Expr add_constant(Expr&& x, std::int64_t c) {
  if (c == 0) return std::move(x);
  if (const auto inner = x.as_binary();
      inner && (inner->op == BinaryOp::kAdd || inner->op == BinaryOp::kSub)) {
    const bool adds = inner->op == BinaryOp::kAdd;
    if (const auto right = as_constant(inner->b)) {
      const std::int64_t total = checked_add(c, adds ? *right : checked_mul(*right, -1));
      return add_constant(ExprFactory::take(x, 0), total);
    }
    if (const auto left = as_constant(inner->a); left && !adds)
      return binary(BinaryOp::kSub, integer(checked_add(*left, c)), ExprFactory::take(x, 1));
  }
  if (c > 0) return binary(BinaryOp::kAdd, std::move(x), integer(c));
  return binary(BinaryOp::kSub, std::move(x), integer(checked_mul(c, -1)));
}

Expr mul_constant(Expr&& x, std::int64_t c) {
  if (c == 0) return integer(0);
  if (c == 1) return std::move(x);
  if (const auto inner = x.as_binary(); inner && inner->op == BinaryOp::kMul) {
    if (const auto right = as_constant(inner->b))
      return mul_constant(ExprFactory::take(x, 0), checked_mul(c, *right));
  }
  return binary(BinaryOp::kMul, std::move(x), integer(c));
}

}  // namespace

Expr unfolded(BinaryOp op, Expr a, Expr b) {
  return binary(op, std::move(a), std::move(b));
}

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
  // Only a scalar may vanish, and 1 && x is x only when x is already 0 or 1.
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
  return ExprFactory::unary(op, std::move(value));
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
  return ExprFactory::load(buffer, std::move(index), lanes);
}

Expr load_active(BufferId buffer, Expr index, int lanes, Expr active) {
  if (const auto count = as_constant(active); count && *count >= lanes)
    return load(buffer, std::move(index), lanes);
  return ExprFactory::load(buffer, std::move(index), lanes, std::move(active));
}

Expr splat(Expr value, int lanes) {
  return ExprFactory::splat(std::move(value), lanes);
}
Expr fma(Expr a, Expr b, Expr c) {
  return ExprFactory::fma(std::move(a), std::move(b), std::move(c));
}
Expr reduce_add(Expr value) {
  return ExprFactory::reduce_add(std::move(value));
}

Expr cast(DType type, Expr value) {
  return ExprFactory::cast(type, std::move(value));
}

Expr select(Expr condition, Expr a, Expr b) {
  if (const auto constant = as_constant(condition)) return *constant != 0 ? std::move(a) : std::move(b);
  return ExprFactory::select(std::move(condition), std::move(a), std::move(b));
}

Expr zero(DType type, int lanes) {
  const bool is_integer =
      type == DType::kS32 || type == DType::kS8 || type == DType::kU8 || type == DType::kU32;
  Expr scalar = is_integer ? Expr(Int{0}) : Expr(Float{0, type});
  return lanes == 1 ? std::move(scalar) : splat(std::move(scalar), lanes);
}

}  // namespace lehr::ir
