// The verifier's rules of expressions: names in scope, lanes, integer positions, register indices.
#include "tests/support/verify_expr.h"

#include <algorithm>

#include "base/error.h"
#include "base/overloaded.h"
#include "ir/print.h"
#include "tests/support/verify_targets.h"

namespace lehr::ir {
namespace {

bool is_16_bit_float(DType type) {
  return type == DType::kF16 || type == DType::kBF16;
}
/// True of a type that is only stored: no target computes with it.
bool is_small(DType type) {
  return is_16_bit_float(type) || type == DType::kE4M3 || type == DType::kE5M2;
}
bool is_real(DType type) {
  return type == DType::kF64 || type == DType::kF32 || is_small(type);
}

bool is_comparison(BinaryOp op) {
  return op == BinaryOp::kLt || op == BinaryOp::kLe || op == BinaryOp::kEq;
}
/// True of a vector whose lanes are all ones or zeros.
bool is_mask(const Expr& expr) {
  const auto binary = expr.as_binary();
  return binary && (is_comparison(binary->op) ||
                    (binary->op == BinaryOp::kAnd && is_mask(binary->a) && is_mask(binary->b)));
}
bool is_integer_only(BinaryOp op) {
  return op == BinaryOp::kMod || op == BinaryOp::kXor || op == BinaryOp::kAnd;
}

}  // namespace

VerifyScope::VerifyScope(const Kernel& kernel)
    : kernel_(kernel), facts_(kernel.vars.size()), alive_(kernel.buffers.size()) {}

bool VerifyScope::has(VarId var) const {
  return static_cast<int>(var) >= 0 && static_cast<std::size_t>(var) < facts_.size();
}
bool VerifyScope::has(BufferId buffer) const {
  return static_cast<int>(buffer) >= 0 && static_cast<std::size_t>(buffer) < alive_.size();
}

std::optional<std::string> VerifyScope::check_value(const Expr& expr, int& lanes) const {
  std::optional<std::string> complaint;
  lanes = type_of(expr, complaint).lanes;
  return complaint;
}

std::optional<std::string> VerifyScope::check_index(const Expr& expr, std::string_view what) const {
  std::optional<std::string> complaint;
  const Type type = type_of(expr, complaint);
  if (!complaint && (type.real || type.lanes != 1))
    complaint = fmt::format("{} {} must be one integer", what, to_text(expr, kernel_));
  return complaint;
}

std::optional<std::string> VerifyScope::check_access(BufferId id, const Expr& index, int lanes,
                                                     const std::optional<Expr>& active) const {
  if (!has(id)) return fmt::format("buffer #{} does not exist", static_cast<int>(id));
  const Buffer& buffer = kernel_.buffer(id);
  if (!is_alive(id))
    return buffer.name +
           (buffer.scope == Scope::kGlobal ? " is not a parameter" : " has no Alloc before this point");
  if (early_ && buffer.scope == Scope::kGlobal)
    return fmt::format("{} is touched before griddepcontrol_wait", buffer.name);
  if (lanes < 1) return fmt::format("{} lanes of {} are accessed, at least 1 is right", lanes, buffer.name);
  if (auto complaint = check_index(index, fmt::format("the index of {},", buffer.name))) return complaint;
  if (active)
    if (auto complaint = check_index(*active, fmt::format("the active count of {},", buffer.name)))
      return complaint;

  if (const auto constant = as_constant(index)) {
    const std::int64_t end = *constant + (active ? 0 : lanes);
    if (*constant < 0 || end > buffer.elements)
      return fmt::format("{}[{} : {}] is outside of its {} elements", buffer.name, *constant, lanes,
                         buffer.elements);
  }
  if (buffer.scope == Scope::kRegister) {
    if (!is_static(index))
      return fmt::format("register buffer {} is indexed by {}, which is no constant after unrolling",
                         buffer.name, to_text(index, kernel_));
    if (buffer.lanes > 1 && (lanes != buffer.lanes || !is_multiple(index, lanes)))
      return fmt::format("register buffer {} holds vectors of {} and is accessed as [{} : {}]", buffer.name,
                         buffer.lanes, to_text(index, kernel_), lanes);
  }
  return std::nullopt;
}

VerifyScope::Type VerifyScope::type_of(const Expr& expr, std::optional<std::string>& complaint) const {
  if (complaint) return {};
  return expr.visit(overloaded{
      [&](const Int&) { return Type{1, false}; },
      [&](const Float&) { return Type{1, true}; },
      [&](const Var& n) {
        if (!has(n.id))
          complaint = fmt::format("variable #{} does not exist", static_cast<int>(n.id));
        else if (!is_bound(n.id))
          complaint = fmt::format("variable {} is not bound here", kernel_.name_of(n.id));
        return Type{1, false};
      },
      [&](const Binary& n) { return type_of_binary(expr, n, complaint); },
      [&](const Unary& n) {
        const Type value = type_of(n.value, complaint);
        if (!complaint) complaint = needs_cast(expr, value);
        if (!complaint && !value.real) complaint = fmt::format("{} needs f32", to_text(expr, kernel_));
        return value;
      },
      [&](const Load& n) { return type_of_load(n, complaint); },
      [&](const Splat& n) {
        const Type value = type_of(n.value, complaint);
        const bool repeats =
            allows(kernel_.target, &Allowed::groups) && n.lanes > value.lanes && n.lanes % value.lanes == 0;
        if (!complaint && ((value.lanes != 1 && !repeats) || n.lanes < 1))
          complaint = fmt::format("a splat of {} lanes into {}", value.lanes, n.lanes);
        return Type{n.lanes, value.real, value.small};
      },
      [&](const Fma& n) {
        const Type a = type_of(n.a, complaint);
        const Type b = type_of(n.b, complaint);
        const Type c = type_of(n.c, complaint);
        const bool groups =
            allows(kernel_.target, &Allowed::groups) && a.lanes > c.lanes && a.lanes % c.lanes == 0;
        if (!complaint && (a.lanes != b.lanes || (a.lanes != c.lanes && !groups)))
          complaint = fmt::format("an fma of {}, {} and {} lanes", a.lanes, b.lanes, c.lanes);
        for (const Type& each : {a, b, c})
          if (!complaint && !groups) complaint = needs_cast(expr, each);
        return Type{c.lanes, a.real || b.real || c.real};
      },
      [&](const Reduce& n) {
        const Type value = type_of(n.value, complaint);
        if (!complaint) complaint = needs_cast(expr, value);
        return Type{1, value.real};
      },
      [&](const Cast& n) { return type_of_cast(expr, n, complaint); },
      [&](const Select& n) {
        const Type condition = type_of(n.condition, complaint);
        const Type a = type_of(n.a, complaint);
        const Type b = type_of(n.b, complaint);
        const bool blends = condition.lanes > 1 && condition.lanes == a.lanes && is_mask(n.condition) &&
                            allows(kernel_.target, &Allowed::groups);
        if (blends && !complaint) complaint = needs_cast(expr, a);
        if (!complaint && condition.lanes != 1 && !blends)
          complaint = fmt::format("a select on a condition of {} lanes", condition.lanes);
        if (!complaint && a.lanes != b.lanes)
          complaint = fmt::format("a select between {} and {} lanes", a.lanes, b.lanes);
        return Type{a.lanes, a.real || b.real, a.small ? a.small : b.small};
      },
  });
}

VerifyScope::Type VerifyScope::type_of_load(const Load& n, std::optional<std::string>& complaint) const {
  complaint = check_access(n.buffer, n.index, n.lanes, n.active);
  if (complaint) return {};
  if (const Param* param = kernel_.param_of(n.buffer); param != nullptr && param->map) {
    complaint = kernel_.buffer(n.buffer).name + " has a tensor map and no address";
    return {};
  }
  const DType type = kernel_.buffer(n.buffer).type;
  return {n.lanes, is_real(type), is_small(type) ? std::optional(type) : std::nullopt};
}

std::optional<std::string> VerifyScope::needs_cast(const Expr& expr, const Type& operand) const {
  if (!operand.small) return std::nullopt;
  return fmt::format("{} computes with {}, which needs a cast", to_text(expr, kernel_),
                     lehr::name_of(*operand.small));
}

VerifyScope::Type VerifyScope::type_of_cast(const Expr& expr, const Cast& n,
                                            std::optional<std::string>& complaint) const {
  const Type from = type_of(n.value, complaint);
  if (complaint) return {};
  const bool exists = from.small         ? n.type == DType::kF32
                      : is_small(n.type) ? from.real && is_16_bit_float(n.type)
                                         : true;
  const bool bf16_only = (!from.small || from.small == DType::kBF16) &&
                         (!is_small(n.type) || n.type == DType::kBF16) &&
                         allows(kernel_.target, &Allowed::groups);
  if (from.lanes != 1 && !allows(kernel_.target, &Allowed::groups))
    complaint = fmt::format("{} casts {} lanes, it can cast 1", to_text(expr, kernel_), from.lanes);
  else if (!exists)
    complaint = fmt::format("{} is a cast that does not exist", to_text(expr, kernel_));
  else if (!allows(kernel_.target, &Allowed::small_floats) && !bf16_only && (from.small || is_small(n.type)))
    complaint = fmt::format("{} is a cast that exists only on target {}", to_text(expr, kernel_),
                            names_with(&Allowed::small_floats));
  return {from.lanes, is_real(n.type), is_small(n.type) ? std::optional(n.type) : std::nullopt};
}

VerifyScope::Type VerifyScope::type_of_binary(const Expr& expr, const Binary& n,
                                              std::optional<std::string>& complaint) const {
  const Type a = type_of(n.a, complaint);
  const Type b = type_of(n.b, complaint);
  if (complaint) return {};
  const auto divisor = as_constant(n.b);
  if (a.lanes != b.lanes)
    complaint = fmt::format("{} combines {} and {} lanes", to_text(expr, kernel_), a.lanes, b.lanes);
  else if (is_integer_only(n.op) && (a.real || b.real))
    complaint = fmt::format("{} needs integers", to_text(expr, kernel_));
  else if ((n.op == BinaryOp::kDiv || n.op == BinaryOp::kMod) && divisor && *divisor <= 0 && !a.real)
    complaint = fmt::format("{} has a divisor that is not positive", to_text(expr, kernel_));
  for (const Type& each : {a, b})
    if (!complaint) complaint = needs_cast(expr, each);
  return {a.lanes, !is_comparison(n.op) && (a.real || b.real)};
}

bool VerifyScope::is_static(const Expr& expr) const {
  return expr.visit(overloaded{
      [](const Int&) { return true; },
      [](const Float&) { return false; },
      [&](const Var& n) { return facts_[static_cast<std::size_t>(n.id)]->is_static; },
      [&](const Binary& n) { return is_static(n.a) && is_static(n.b); },
      [](const Unary&) { return false; },
      [](const Load&) { return false; },
      [&](const Splat& n) { return is_static(n.value); },
      [](const Fma&) { return false; },
      [](const Reduce&) { return false; },
      [](const Cast&) { return false; },
      [&](const Select& n) { return is_static(n.condition) && is_static(n.a) && is_static(n.b); },
  });
}

std::int64_t VerifyScope::threads_per_value(const Expr& expr) const {
  if (const auto var = expr.as_var()) return facts_[static_cast<std::size_t>(var->id)]->threads_per_value;
  const auto quotient = expr.as_binary();
  if (!quotient || quotient->op != BinaryOp::kDiv) return 0;
  return threads_per_value(quotient->a) * as_constant(quotient->b).value_or(0);
}

std::int64_t VerifyScope::group_of(const Expr& expr) const {
  const auto least = [&](std::initializer_list<const Expr*> parts) {
    std::int64_t group = kAllAlike;
    for (const Expr* part : parts) group = std::min(group, group_of(*part));
    return group;
  };
  return expr.visit(overloaded{
      [](const Int&) { return kAllAlike; },
      [](const Float&) { return kAllAlike; },
      [&](const Var& n) { return facts_[static_cast<std::size_t>(n.id)]->group; },
      [&](const Binary& n) {
        const std::int64_t threads = threads_per_value(expr);
        return threads > 0 ? threads : least({&n.a, &n.b});
      },
      [&](const Unary& n) { return group_of(n.value); },
      // Memory may hold different values for different threads. Shared memory is an exception: if two threads
      // read different values from one element without a barrier between the reads, that is a race.
      [&](const Load& n) {
        return kernel_.buffer(n.buffer).scope == Scope::kShared ? group_of(n.index) : std::int64_t{1};
      },
      [&](const Splat& n) { return group_of(n.value); },
      [&](const Fma& n) { return least({&n.a, &n.b, &n.c}); },
      [&](const Reduce& n) { return group_of(n.value); },
      [&](const Cast& n) { return group_of(n.value); },
      [&](const Select& n) { return least({&n.condition, &n.a, &n.b}); },
  });
}

// Returns whether `expr` is certainly a multiple of `factor`.
bool VerifyScope::is_multiple(const Expr& expr, std::int64_t factor) const {
  if (factor == 1) return true;
  if (const auto constant = as_constant(expr)) return *constant % factor == 0;
  if (const auto var = expr.as_var()) {
    const Expr* value = facts_[static_cast<std::size_t>(var->id)]->value;
    return value != nullptr && is_multiple(*value, factor);
  }
  const auto binary = expr.as_binary();
  if (!binary) return false;
  const bool a = is_multiple(binary->a, factor);
  if (binary->op == BinaryOp::kAdd || binary->op == BinaryOp::kSub)
    return a && is_multiple(binary->b, factor);
  if (binary->op != BinaryOp::kMul) return false;
  if (a || is_multiple(binary->b, factor)) return true;
  // (x * 4) * 4 is a multiple of 16 although neither factor is.
  const auto scale = as_constant(binary->b);
  return scale && *scale > 0 && factor % *scale == 0 && is_multiple(binary->a, factor / *scale);
}

}  // namespace lehr::ir
