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

/// One expression: a value that never changes. A constant or a variable is stored in it. Copies of anything
/// else share an operation, which counts them and is deleted with the last one. Copies may be made and
/// dropped on any thread.
class Expr {
 public:
  /// Most levels of operations; more throw Error(kInternal). Functions that walk or drop expressions recurse.
  static constexpr int kMaxDepth = 1000;

  Expr(Int n) noexcept : kind_(Kind::kInt), value_{.integer = n.value} {}  // NOLINT: implicit
  Expr(Float n) noexcept : kind_(Kind::kFloat), type_(n.type), value_{.number = n.value} {}  // NOLINT
  Expr(Var n) noexcept : kind_(Kind::kVar), value_{.variable = n.id} {}                      // NOLINT
  /// Takes over an operation that was allocated by new.
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
  // Valid as long as the expression; nullptr: it is something else.
  const Binary* as_binary() const;
  const Load* as_load() const;
  const Fma* as_fma() const;
  /// Returns whether it is certainly one integer: built of constants, variables and arithmetic on them. Loads
  /// are left out because an expression does not know its buffers' types.
  bool is_index() const;
  /// Returns whether it is such an index without any load, divided by constant powers of two only.
  bool is_plain_index() const;
  /// Returns the levels of operations: 0 for a constant or a variable.
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
  /// Gives up its share of the operation.
  void drop() noexcept;
  /// Returns nullptr for a constant or a variable.
  const Operation* operation() const { return kind_ == Kind::kOperation ? value_.operation : nullptr; }

  Kind kind_;
  DType type_ = DType::kF32;  // type of a Float
  Value value_;
};

/// Operands are integers unless they are loads or floats. Div and Mod take non-negative operands and a
/// positive divisor (so that C's truncation equals floor). Min is a < b ? a : b and Max a > b ? a : b: both
/// give b if either is NaN. Comparisons and And give an integer 0 or 1. On vectors (on the CPU) they give a
/// mask for Select and And, each lane all ones or zeros. And is not short-circuit: both sides must be safe to
/// evaluate. Vector operands must have equal lanes.
enum class BinaryOp : std::uint8_t { kAdd, kSub, kMul, kDiv, kMod, kMin, kMax, kXor, kLt, kLe, kEq, kAnd };
struct Binary {
  BinaryOp op = BinaryOp::kAdd;
  Expr a, b;
  friend bool operator==(const Binary&, const Binary&) = default;
};

/// A function of one f32 value, lane by lane; on CUDA also of one f64.
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
/// Sigmoid: 1 / (1 + exp(-x)). SiLU: x sigmoid(x). GELU: x/2 (1 + erf(x / sqrt(2))), and its tanh form x/2 (1
/// + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel, "Gaussian Error Linear Units"). Rounded: the
/// value itself, but no compiler fuses it with later operations (a product with a sum behind it); only on the
/// CPU. The others are what their names say, with the values of IEEE 754 at infinities and outside of their
/// domains. rsqrt is 1 / sqrt(x); exp below 2^-126 is 0 on the CPU. Counts flops_of(op) x lanes flops.
struct Unary {
  UnaryOp op = UnaryOp::kTanh;
  Expr value;
  friend bool operator==(const Unary&, const Unary&) = default;
};

/// `lanes` consecutive elements of `buffer` from flat element index `index` (row-major order is the
/// template's business). `active`, if given, is the number of leading lanes that may be touched (clamped to
/// [0, lanes]); the others read as zero and their memory is not accessed. Alignment: the emitter assumes
/// element alignment on the CPU and full-vector alignment (lanes x size) on CUDA.
struct Load {
  BufferId buffer{};
  Expr index;
  int lanes = 1;
  std::optional<Expr> active;
  friend bool operator==(const Load&, const Load&) = default;
};
/// A scalar copied into all lanes; on the CPU also a few lanes, repeated until there are `lanes`.
struct Splat {
  Expr value;
  int lanes = 1;
  friend bool operator==(const Splat&, const Splat&) = default;
};
/// a * b + c, fused if the target has it. Counts 2 x lanes flops. On the CPU a and b may have several times
/// as many lanes as c: each lane of c then adds the products of as many neighbours of a (which may be a Splat
/// that repeats them) and b. target/cpu/prelude_narrow.h has the types.
struct Fma {
  Expr a, b, c;
  friend bool operator==(const Fma&, const Fma&) = default;
};
enum class ReduceOp : std::uint8_t { kAdd, kMax, kMin };
/// Sum, largest or least one of the lanes of a vector, in an order that the emitter chooses (pairwise). The
/// largest and the least skip lanes that are NaN; if all lanes are NaN they are -infinity and infinity.
/// Counts lanes-1 flops. On the CPU only for f32.
struct Reduce {
  ReduceOp op = ReduceOp::kAdd;
  Expr value;
  friend bool operator==(const Reduce&, const Reduce&) = default;
};
/// `value` as `type`: the nearest one, ties to even. From floats to integers it rounds towards zero, and
/// values that do not fit are undefined. One lane; on the CPU any number. f16, bf16, e4m3 and e5m2 need a
/// Cast before arithmetic. These casts exist only on CUDA, to and from f32 (the 8-bit ones: from). The CPU
/// has only those of bf16.
struct Cast {
  DType type = DType::kF32;
  Expr value;
  friend bool operator==(const Cast&, const Cast&) = default;
};
/// condition ? a : b. Only the chosen side is evaluated (so it may guard a load). If the condition is a mask,
/// each lane is chosen by its own bit, and both sides are evaluated: it does not guard a load.
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
  // The most frequent kinds are compared one by one, which processors predict better than a jump through a
  // table.
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

// Builders. Scalar integer arithmetic folds constants and the identities x+0, x*1, x*0, x/1, x%1, (x+c)+d,
// (x*c)*d, so that the tree that is printed and learnt from has no dead terms. A constant ends up as the
// right operand; a negative summand becomes a subtraction. Anything that may be floating point or a vector
// (Load, Float, Splat, Unary, Fma, Reduce, Cast) is never folded or reordered. Folding CHECKs against
// overflow and against a constant divisor that is not positive.
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
/// Returns a zero of that type: a Float, or an Int for the integer types; in a Splat when lanes > 1.
Expr zero(DType type, int lanes = 1);

/// Returns "tanh", "sigmoid", "silu", "gelu_tanh", "gelu_erf", "rounded", "exp", "log", "sqrt", "rsqrt",
/// "abs".
std::string_view name_of(UnaryOp op);
/// Returns "add", "max", "min".
std::string_view name_of(ReduceOp op);
/// Returns the cost of one lane: the operations of the C++ text (target/cpu/prelude_math.cpp), a division as
/// one.
double flops_of(UnaryOp op);

/// Returns the value if `expr` is an integer constant.
inline std::optional<std::int64_t> as_constant(const Expr& expr) {
  const auto constant = expr.as_int();
  return constant ? std::optional(constant->value) : std::nullopt;
}

}  // namespace lehr::ir
