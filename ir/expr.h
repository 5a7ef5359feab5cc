// Expressions of the loop-nest AST: values without side effects.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "ir/type.h"

namespace lehr::ir {

/// An integer constant.
struct Int {
  std::int64_t value = 0;
};
/// A floating-point constant of scalar type `type`.
struct Float {
  double value = 0;
  DType type = DType::kF32;
};
/// A loop variable or Let variable.
struct Var {
  VarId id{};
};
struct Binary;
struct Load;
struct Fma;
struct Operation;

/// An immutable expression. Constants and variables are stored in the object itself. All other expressions
/// are an operation that copies share; the operation counts its owners, and is deleted with the last one.
/// Copies may be made and dropped on any thread.
class Expr {
 public:
  /// Maximum number of nested operations; deeper expressions throw Error(kInternal). The limit exists because
  /// functions that walk or drop expressions are recursive.
  static constexpr int kMaxDepth = 1000;

  Expr(Int n) noexcept : kind_(Kind::kInt), value_{.integer = n.value} {}  // NOLINT: implicit
  Expr(Float n) noexcept : kind_(Kind::kFloat), type_(n.type), value_{.number = n.value} {}  // NOLINT
  Expr(Var n) noexcept : kind_(Kind::kVar), value_{.variable = n.id} {}                      // NOLINT
  /// Takes ownership of an operation that was allocated by new.
  explicit Expr(const Operation* operation) noexcept
      : kind_(Kind::kOperation), value_{.operation = operation} {}
  Expr(const Expr& other) noexcept;
  Expr(Expr&& other) noexcept : kind_(other.kind_), type_(other.type_), value_(other.value_) {
    other.kind_ = Kind::kInt;
  }
  Expr& operator=(Expr other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(type_, other.type_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~Expr() {
    if (kind_ == Kind::kOperation) drop();
  }

  /// Calls `visitor` with the constant, the variable or the operation.
  template <typename Visitor>
  decltype(auto) visit(Visitor&& visitor) const;

  std::optional<Int> as_int() const {
    return kind_ == Kind::kInt ? std::optional(Int{value_.integer}) : std::nullopt;
  }
  std::optional<Var> as_var() const {
    return kind_ == Kind::kVar ? std::optional(Var{value_.variable}) : std::nullopt;
  }
  // Return nullptr if the expression is something else. The pointer is valid as long as the expression.
  const Binary* as_binary() const;
  const Load* as_load() const;
  const Fma* as_fma() const;
  /// Returns whether the expression is certainly one integer: it is built of constants, variables and
  /// arithmetic on them. Loads do not qualify because an expression does not know its buffers' types.
  bool is_index() const;
  /// Returns whether the expression is an index (is_index()) without loads, in which every divisor is a
  /// constant power of two.
  bool is_plain_index() const;
  /// Returns the number of nested operations: 0 for a constant or a variable.
  int depth() const;

  friend bool operator==(const Expr& x, const Expr& y);

 private:
  enum class Kind : std::uint8_t { kInt, kFloat, kVar, kOperation };
  union Value {
    std::int64_t integer;
    double number;
    VarId variable;
    const Operation* operation;
  };
  /// Gives up this object's ownership of the operation; the last owner deletes it.
  void drop() noexcept;
  /// Returns the operation; nullptr for a constant or a variable.
  const Operation* operation() const { return kind_ == Kind::kOperation ? value_.operation : nullptr; }

  Kind kind_;
  DType type_ = DType::kF32;  // type of a Float
  Value value_;
};

/// A binary operation. Operands are integers unless they are loads or floats. Div and Mod take non-negative
/// operands and a positive divisor (so that C's truncation equals floor). Min is a < b ? a : b, and Max is a
/// > b ? a : b: both give b if a or b is NaN. Comparisons and And give an integer 0 or 1. On vectors (CPU
/// only) they give a mask for Select and And, in which each lane is all ones or all zeros. And does not
/// short-circuit: both operands must be safe to evaluate. Vector operands must have equal lanes.
enum class BinaryOp : std::uint8_t { kAdd, kSub, kMul, kDiv, kMod, kMin, kMax, kXor, kLt, kLe, kEq, kAnd };
struct Binary {
  BinaryOp op = BinaryOp::kAdd;
  Expr a, b;
  friend bool operator==(const Binary&, const Binary&) = default;
};

/// A function of an f32 value, applied to each lane; on CUDA also of an f64 value.
enum class UnaryOp : std::uint8_t {
  kTanh,
  kSigmoid,
  kSilu,
  kGeluTanh,
  kGeluErf,
  kRounded,
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kAbs
};
/// Sigmoid is 1 / (1 + exp(-x)). SiLU is x sigmoid(x). GELU is x/2 (1 + erf(x / sqrt(2))), and its tanh form
/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel, "Gaussian Error Linear Units").
/// Rounded is the value itself, which the compiler then may not fuse into a later operation (e.g. a product
/// into the sum that follows it); CPU only. Rsqrt is 1 / sqrt(x). The other functions are what their names
/// say. At infinities and outside of their domains they have the values of IEEE 754, except that exp below
/// 2^-126 is 0 on the CPU. Counts flops_of(op) x lanes flops.
struct Unary {
  UnaryOp op = UnaryOp::kTanh;
  Expr value;
  friend bool operator==(const Unary&, const Unary&) = default;
};

/// Loads `lanes` consecutive elements of `buffer`, from the flat element index `index` on (templates compute
/// it from rows and columns). `active`, if given, is the number of leading lanes that may be touched (clamped
/// to [0, lanes]). All other lanes read as zero, and their memory is not accessed. The emitter assumes
/// alignment to one element on the CPU, and to the full vector (lanes x size) on CUDA.
struct Load {
  BufferId buffer{};
  Expr index;
  int lanes = 1;
  std::optional<Expr> active;
  friend bool operator==(const Load&, const Load&) = default;
};
/// A scalar copied into all lanes. On the CPU the value may also be a short vector, which is repeated until
/// there are `lanes` lanes.
struct Splat {
  Expr value;
  int lanes = 1;
  friend bool operator==(const Splat&, const Splat&) = default;
};
/// a * b + c, fused if the target can fuse it. Counts 2 x lanes flops. On the CPU a and b may have a multiple
/// of c's lanes, say g times as many. Then lane i of c adds up the g products of lanes g i .. g i + g - 1 of
/// a and b, and a may be a Splat that repeats g values. target/cpu/prelude_narrow.h lists the types for which
/// that exists.
struct Fma {
  Expr a, b, c;
  friend bool operator==(const Fma&, const Fma&) = default;
};
enum class ReduceOp : std::uint8_t { kAdd, kMax, kMin };
/// Sum, maximum or minimum of the lanes of a vector. The emitter chooses the order of a sum (pairwise).
/// Maximum and minimum skip lanes that are NaN; if all lanes are NaN, they are -infinity and infinity. Counts
/// lanes - 1 flops. On the CPU only for f32.
struct Reduce {
  ReduceOp op = ReduceOp::kAdd;
  Expr value;
  friend bool operator==(const Reduce&, const Reduce&) = default;
};
/// Converts `value` to `type`: to the nearest value, ties to even. Floats become integers by rounding towards
/// zero, and the result is undefined if it does not fit. CUDA converts scalars only, the CPU vectors too.
/// f16, bf16, e4m3 and e5m2 must be cast before arithmetic. CUDA has the casts from all four to f32, and
/// those from f32 to f16 and bf16. The CPU has only the casts from and to bf16.
struct Cast {
  DType type = DType::kF32;
  Expr value;
  friend bool operator==(const Cast&, const Cast&) = default;
};
/// condition ? a : b. Only the chosen operand is evaluated, so the condition may guard a load. If the
/// condition is a mask, each lane is chosen by its own part of the mask and both operands are evaluated, so
/// it does not guard a load.
struct Select {
  Expr condition, a, b;
  friend bool operator==(const Select&, const Select&) = default;
};

/// An expression with operands, and properties derived from them.
struct Operation {
  template <typename Node>
  Operation(Node&& operands, int levels, bool index, bool plain_index)
      : depth(levels), is_index(index), is_plain_index(plain_index), node(std::forward<Node>(operands)) {}

  mutable std::atomic<int> owners = 1;
  const int depth;
  const bool is_index, is_plain_index;
  const std::variant<Binary, Unary, Load, Splat, Fma, Reduce, Cast, Select> node;
};

inline Expr::Expr(const Expr& other) noexcept : kind_(other.kind_), type_(other.type_), value_(other.value_) {
  if (kind_ == Kind::kOperation) value_.operation->owners.fetch_add(1, std::memory_order_relaxed);
}

template <typename Visitor>
decltype(auto) Expr::visit(Visitor&& visitor) const {
  // The most frequent kinds are compared one by one, because processors predict that better than a jump
  // through a table.
  if (const Binary* binary = as_binary()) return visitor(*binary);
  if (kind_ == Kind::kVar) return visitor(Var{value_.variable});
  if (kind_ == Kind::kInt) return visitor(Int{value_.integer});
  if (kind_ == Kind::kFloat) return visitor(Float{value_.number, type_});
  return std::visit(visitor, value_.operation->node);
}

inline const Binary* Expr::as_binary() const {
  return operation() != nullptr ? std::get_if<Binary>(&operation()->node) : nullptr;
}
inline const Load* Expr::as_load() const {
  return operation() != nullptr ? std::get_if<Load>(&operation()->node) : nullptr;
}
inline const Fma* Expr::as_fma() const {
  return operation() != nullptr ? std::get_if<Fma>(&operation()->node) : nullptr;
}
inline bool Expr::is_index() const {
  return operation() != nullptr ? operation()->is_index : kind_ != Kind::kFloat;
}
inline bool Expr::is_plain_index() const {
  return operation() != nullptr ? operation()->is_plain_index : kind_ != Kind::kFloat;
}
inline int Expr::depth() const {
  return operation() != nullptr ? operation()->depth : 0;
}

// Builders of expressions. Scalar integer arithmetic folds constants and the identities x+0, x*1, x*0, x/1,
// x%1, (x+c)+d and (x*c)*d, so that printed kernels and features contain no dead terms. A constant becomes
// the right operand, and adding a negative constant becomes a subtraction. Operands that may be floats or
// vectors (Load, Float, Splat, Unary, Fma, Reduce, Cast) are never folded or reordered. Folding CHECKs that
// nothing overflows and that constant divisors are positive.
inline Expr integer(std::int64_t value) {
  return Int{value};
}
inline Expr var(VarId id) {
  return Var{id};
}
Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator%(Expr a, Expr b);
Expr operator+(Expr a, std::int64_t b);
Expr operator-(Expr a, std::int64_t b);
Expr operator*(Expr a, std::int64_t b);
Expr operator/(Expr a, std::int64_t b);
Expr operator%(Expr a, std::int64_t b);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr lt(Expr a, Expr b);
Expr le(Expr a, Expr b);
Expr eq(Expr a, Expr b);
Expr logical_and(Expr a, Expr b);
Expr bit_xor(Expr a, Expr b);
Expr unary(UnaryOp op, Expr value);
Expr load(BufferId buffer, Expr index, int lanes = 1);
Expr load_active(BufferId buffer, Expr index, int lanes, Expr active);
Expr splat(Expr value, int lanes);
Expr fma(Expr a, Expr b, Expr c);
Expr reduce_add(Expr value);
Expr reduce_max(Expr value);
Expr reduce_min(Expr value);
Expr cast(DType type, Expr value);
Expr select(Expr condition, Expr a, Expr b);
/// Returns a zero of that type: a Float for floating-point types, an Int for integer types; wrapped in a
/// Splat if lanes > 1.
Expr zero(DType type, int lanes = 1);

/// Returns "tanh", "sigmoid", "silu", "gelu_tanh", "gelu_erf", "rounded", "exp", "log", "sqrt", "rsqrt",
/// "abs".
std::string_view name_of(UnaryOp op);
/// Returns "add", "max", "min".
std::string_view name_of(ReduceOp op);
/// Returns the flops of one lane: the number of operations in its C++ text (target/cpu/prelude_math.cpp). A
/// division counts as one.
double flops_of(UnaryOp op);

/// Returns the value of an integer constant; nullopt if `expr` is something else.
inline std::optional<std::int64_t> as_constant(const Expr& expr) {
  const auto constant = expr.as_int();
  return constant ? std::optional(constant->value) : std::nullopt;
}

}  // namespace lehr::ir
