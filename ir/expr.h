// Expressions of the loop-nest AST: values in a variant, owned by value, no side effects.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "base/box.h"
#include "ir/type.h"

namespace lehr::ir {

struct Expr;

/// An integer constant.
struct Int {
  std::int64_t value = 0;
  friend bool operator==(const Int&, const Int&) = default;
};
/// A floating-point constant of scalar type `type`.
struct Float {
  double value = 0;
  DType type = DType::kF32;
  friend bool operator==(const Float&, const Float&) = default;
};
/// A loop variable or Let variable.
struct Var {
  VarId id{};
  friend bool operator==(const Var&, const Var&) = default;
};

/// Integer operands unless the operands are loads or floats. Div and Mod take non-negative operands and a
/// positive divisor (so that C's truncation equals floor). Comparisons and And give an integer 0 or 1. And is
/// not short-circuit: both sides must be safe to evaluate. Vector operands must have equal lanes.
enum class BinaryOp { kAdd, kSub, kMul, kDiv, kMod, kMin, kMax, kXor, kLt, kLe, kEq, kAnd };
struct Binary {
  BinaryOp op = BinaryOp::kAdd;
  Box<Expr> a;
  Box<Expr> b;
  friend bool operator==(const Binary&, const Binary&) = default;
};

/// `lanes` consecutive elements of `buffer` from flat element index `index` (row-major order is the
/// template's business). `active`, where present, is the number of leading lanes that may be touched (clamped
/// to [0, lanes]); the others read as zero and their memory is not accessed. Alignment: the emitter assumes
/// element alignment on the CPU and full-vector alignment (lanes x size) on CUDA.
struct Load {
  BufferId buffer{};
  Box<Expr> index;
  int lanes = 1;
  std::optional<Box<Expr>> active;
  friend bool operator==(const Load&, const Load&) = default;
};
/// A scalar copied into all lanes.
struct Splat {
  Box<Expr> value;
  int lanes = 1;
  friend bool operator==(const Splat&, const Splat&) = default;
};
/// a * b + c, fused where the target has it. Counts 2 x lanes flops.
struct Fma {
  Box<Expr> a, b, c;
  friend bool operator==(const Fma&, const Fma&) = default;
};
/// Sum over the lanes of a vector, in an order that the emitter chooses (pairwise). Counts lanes-1 flops.
struct ReduceAdd {
  Box<Expr> value;
  friend bool operator==(const ReduceAdd&, const ReduceAdd&) = default;
};
/// condition ? a : b; only the chosen side is evaluated (so a load may be guarded by it).
struct Select {
  Box<Expr> condition, a, b;
  friend bool operator==(const Select&, const Select&) = default;
};

struct Expr {
  std::variant<Int, Float, Var, Binary, Load, Splat, Fma, ReduceAdd, Select> node;
  template <typename Node>
  Expr(Node n) : node(std::move(n)) {}  // NOLINT: implicit on purpose
  friend bool operator==(const Expr&, const Expr&) = default;
};

// Builders. Scalar integer arithmetic folds constants and the identities x+0, x*1, x*0, x/1, x%1, (x+c)+d,
// (x*c)*d, so that the tree that is printed and learnt from has no dead terms. A constant ends up as the
// right operand; a negative summand becomes a subtraction. Nothing that may be floating point or a vector
// (Load, Float, Splat, Fma, ReduceAdd) is ever folded or reordered. Folding CHECKs against overflow and
// against a constant divisor that is not positive.
Expr integer(std::int64_t value);
Expr var(VarId id);
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
Expr load(BufferId buffer, Expr index, int lanes = 1);
Expr load_active(BufferId buffer, Expr index, int lanes, Expr active);
Expr splat(Expr value, int lanes);
Expr fma(Expr a, Expr b, Expr c);
Expr reduce_add(Expr value);
Expr select(Expr condition, Expr a, Expr b);
/// Zero of that type: a Float, or an Int for the integer types; in a Splat when lanes > 1.
Expr zero(DType type, int lanes = 1);

/// The value if `expr` is an integer constant.
std::optional<std::int64_t> as_constant(const Expr& expr);

}  // namespace lehr::ir
