// Expressions of the loop-nest AST: values without side effects.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ir/type.h"

namespace lehr::ir {

class Expr;

// The kinds of expression, as Expr::visit and Expr::as show them: small views whose references live as long
// as the expression that was looked at.

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

/// Integer operands unless the operands are loads or floats. Div and Mod take non-negative operands and a
/// positive divisor (so that C's truncation equals floor). Comparisons and And give an integer 0 or 1. And is
/// not short-circuit: both sides must be safe to evaluate. Vector operands must have equal lanes.
enum class BinaryOp : std::uint8_t { kAdd, kSub, kMul, kDiv, kMod, kMin, kMax, kXor, kLt, kLe, kEq, kAnd };
struct Binary {
  BinaryOp op = BinaryOp::kAdd;
  const Expr& a;
  const Expr& b;
};

/// A function of one f32 value, lane by lane.
enum class UnaryOp : std::uint8_t { kTanh, kSigmoid, kSilu, kGeluTanh, kGeluErf };
/// Sigmoid: 1 / (1 + exp(-x)). SiLU: x sigmoid(x). GELU: x/2 (1 + erf(x / sqrt(2))), and its tanh form
/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel, "Gaussian Error Linear Units").
/// Counts flops_of(op) x lanes flops.
struct Unary {
  UnaryOp op = UnaryOp::kTanh;
  const Expr& value;
};

/// `lanes` consecutive elements of `buffer` from flat element index `index` (row-major order is the
/// template's business). `active`, where not null, is the number of leading lanes that may be touched
/// (clamped to [0, lanes]); the others read as zero and their memory is not accessed. Alignment: the emitter
/// assumes element alignment on the CPU and full-vector alignment (lanes x size) on CUDA.
struct Load {
  BufferId buffer{};
  const Expr& index;
  int lanes = 1;
  const Expr* active = nullptr;
};
/// A scalar copied into all lanes.
struct Splat {
  const Expr& value;
  int lanes = 1;
};
/// a * b + c, fused where the target has it. Counts 2 x lanes flops.
struct Fma {
  const Expr& a;
  const Expr& b;
  const Expr& c;
};
/// Sum over the lanes of a vector, in an order that the emitter chooses (pairwise). Counts lanes-1 flops.
struct ReduceAdd {
  const Expr& value;
};
/// `value`, one lane, as `type`: the nearest one, ties to even; from floats to integers towards zero. The
/// types that need a Cast before arithmetic are f16, bf16, e4m3 and e5m2; those casts exist only on CUDA, to
/// and from f32 (the 8-bit ones: from).
struct Cast {
  DType type = DType::kF32;
  const Expr& value;
};
/// condition ? a : b; only the chosen side is evaluated (so a load may be guarded by it).
struct Select {
  const Expr& condition;
  const Expr& a;
  const Expr& b;
};

/// One expression: a value that never changes. A copy shares the operands and costs nothing. All kinds share
/// one layout of 16 bytes, because a search builds and drops hundreds of millions of these: a constant or a
/// variable takes no memory, anything else once for all its operands. The operands lie in the memory of the
/// kernel whose builder was alive when they were made (KernelBuilder), so that expressions need no owner and
/// are good as long as that builder or that kernel; those made without a builder, until their thread ends.
class Expr {
  enum class Kind : std::uint8_t {
    kInt,
    kFloat,
    kVar,
    kBinary,
    kUnary,
    kLoad,
    kSplat,
    kFma,
    kReduceAdd,
    kCast,
    kSelect
  };
  class Head;

 public:
  Expr(Int n) : Expr(Head(Kind::kInt).index(true).plain(true), n.value) {}  // NOLINT: implicit on purpose
  Expr(Float n) : Expr(Head(Kind::kFloat).type(n.type), payload_of(n.value)) {}         // NOLINT
  Expr(Var n)                                                                           // NOLINT
      : Expr(Head(Kind::kVar).index(true).plain(true), static_cast<std::int64_t>(n.id)) {}

  /// Calls `visitor` with the view of this kind.
  template <typename Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    // The most frequent kinds by comparisons, which processors foresee better than a jump through a table.
    const Kind kind = head_.kind();
    if (kind == Kind::kBinary) return visitor(Binary{head_.op(), operand(0), operand(1)});
    if (kind == Kind::kVar) return visitor(Var{static_cast<VarId>(payload_)});
    if (kind == Kind::kInt) return visitor(Int{payload_});
    switch (kind) {
      case Kind::kFloat:
        return visitor(Float{number(), head_.type()});
      case Kind::kUnary:
        return visitor(Unary{static_cast<UnaryOp>(head_.op()), operand(0)});
      case Kind::kLoad:
        return visitor(view_of_load());
      case Kind::kSplat:
        return visitor(Splat{operand(0), head_.lanes()});
      case Kind::kFma:
        return visitor(Fma{operand(0), operand(1), operand(2)});
      case Kind::kReduceAdd:
        return visitor(ReduceAdd{operand(0)});
      case Kind::kCast:
        return visitor(Cast{head_.type(), operand(0)});
      case Kind::kBinary:
      case Kind::kVar:
      case Kind::kInt:
      case Kind::kSelect:
        break;
    }
    return visitor(Select{operand(0), operand(1), operand(2)});
  }

  std::optional<Int> as_int() const;
  std::optional<Var> as_var() const;
  std::optional<Binary> as_binary() const;
  std::optional<Load> as_load() const;
  std::optional<Fma> as_fma() const;
  /// Certainly one integer: built of constants, variables and arithmetic on them. Loads are left out because
  /// an expression does not know its buffers' types.
  bool is_index() const { return head_.is_index(); }
  /// The same without any load, and divided by constant powers of two only.
  bool is_plain_index() const { return head_.is_plain(); }

  friend bool operator==(const Expr& x, const Expr& y);

 private:
  friend class ExprFactory;
  /// What an expression is but for its value or operands, in one word, so that it is written and copied
  /// whole: a processor waits when it reads as one what it has just written in parts.
  class Head {
   public:
    explicit constexpr Head(Kind kind) : bits_(static_cast<std::uint64_t>(kind) | std::uint64_t{1} << 32) {}
    constexpr Kind kind() const { return static_cast<Kind>(bits_ & 0xff); }
    constexpr BinaryOp op() const { return static_cast<BinaryOp>(bits_ >> 8 & 0xff); }  // or a UnaryOp
    constexpr DType type() const { return static_cast<DType>(bits_ >> 16 & 0xff); }
    constexpr unsigned count() const { return bits_ >> 24 & 3; }  // of operands
    constexpr bool is_index() const { return (bits_ >> 26 & 1) != 0; }
    constexpr bool is_plain() const { return (bits_ >> 27 & 1) != 0; }
    constexpr int lanes() const { return static_cast<int>(bits_ >> 32); }
    constexpr BufferId buffer() const { return static_cast<BufferId>(bits_ >> 8 & 0xffff); }  // of a Load

    constexpr Head op(BinaryOp op) const { return with(8, 0xff, static_cast<std::uint64_t>(op)); }
    constexpr Head type(DType type) const { return with(16, 0xff, static_cast<std::uint64_t>(type)); }
    constexpr Head count(std::size_t count) const { return with(24, 3, count); }
    constexpr Head index(bool is_index) const { return with(26, 1, is_index ? 1 : 0); }
    constexpr Head plain(bool is_plain) const { return with(27, 1, is_plain ? 1 : 0); }
    constexpr Head lanes(int lanes) const { return with(32, 0xffffffff, static_cast<std::uint32_t>(lanes)); }
    constexpr Head buffer(BufferId id) const { return with(8, 0xffff, static_cast<std::uint64_t>(id)); }

   private:
    constexpr Head with(int place, std::uint64_t mask, std::uint64_t value) const {
      Head result = *this;
      result.bits_ = (bits_ & ~(mask << place)) | value << place;
      return result;
    }
    std::uint64_t bits_;
  };

  Expr(Head head, std::int64_t payload) : head_(head), payload_(payload) {}
  static std::int64_t payload_of(double number) { return std::bit_cast<std::int64_t>(number); }
  static std::int64_t payload_of(const Expr* operands) {
    return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(operands));
  }
  double number() const { return std::bit_cast<double>(payload_); }
  const Expr* operands() const { return reinterpret_cast<const Expr*>(static_cast<std::intptr_t>(payload_)); }
  const Expr& operand(std::size_t i) const { return operands()[i]; }
  Load view_of_load() const;

  Head head_;
  std::int64_t payload_;  // the constant, the variable, the bits of a number, or the operands' address
};

static_assert(sizeof(Expr) == 16 && std::is_trivially_copyable_v<Expr>);

inline Load Expr::view_of_load() const {
  return {head_.buffer(), operand(0), head_.lanes(), head_.count() == 2 ? &operand(1) : nullptr};
}

inline std::optional<Int> Expr::as_int() const {
  return head_.kind() == Kind::kInt ? std::optional<Int>(Int{payload_}) : std::nullopt;
}
inline std::optional<Var> Expr::as_var() const {
  return head_.kind() == Kind::kVar ? std::optional<Var>(Var{static_cast<VarId>(payload_)}) : std::nullopt;
}
inline std::optional<Binary> Expr::as_binary() const {
  if (head_.kind() != Kind::kBinary) return std::nullopt;
  return std::optional<Binary>(std::in_place, Binary{head_.op(), operand(0), operand(1)});
}
inline std::optional<Load> Expr::as_load() const {
  if (head_.kind() != Kind::kLoad) return std::nullopt;
  return std::optional<Load>(std::in_place, view_of_load());
}
inline std::optional<Fma> Expr::as_fma() const {
  if (head_.kind() != Kind::kFma) return std::nullopt;
  return std::optional<Fma>(std::in_place, Fma{operand(0), operand(1), operand(2)});
}

// Builders. Scalar integer arithmetic folds constants and the identities x+0, x*1, x*0, x/1, x%1, (x+c)+d,
// (x*c)*d, so that the tree that is printed and learnt from has no dead terms. A constant ends up as the
// right operand; a negative summand becomes a subtraction. Nothing that may be floating point or a vector
// (Load, Float, Splat, Unary, Fma, ReduceAdd, Cast) is ever folded or reordered. Folding CHECKs against
// overflow and against a constant divisor that is not positive.
inline Expr integer(std::int64_t value) {
  return Int{value};
}
inline Expr var(VarId id) {
  return Var{id};
}
/// The operation as it stands, nothing folded.
Expr unfolded(BinaryOp op, Expr a, Expr b);
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
Expr cast(DType type, Expr value);
Expr select(Expr condition, Expr a, Expr b);
/// Zero of that type: a Float, or an Int for the integer types; in a Splat when lanes > 1.
Expr zero(DType type, int lanes = 1);

/// "tanh", "sigmoid", "silu", "gelu_tanh", "gelu_erf".
std::string_view name_of(UnaryOp op);
/// What one lane costs: the operations of the C++ text (target/cpu/prelude_math.cpp), a division as one.
double flops_of(UnaryOp op);

/// The value if `expr` is an integer constant.
inline std::optional<std::int64_t> as_constant(const Expr& expr) {
  const auto constant = expr.as_int();
  return constant ? std::optional(constant->value) : std::nullopt;
}

}  // namespace lehr::ir
