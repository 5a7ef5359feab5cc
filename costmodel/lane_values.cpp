// 32-lane evaluation of index arithmetic.
#include "costmodel/lane_values.h"

#include <algorithm>
#include <new>

#include "base/overloaded.h"

namespace lehr {
namespace {

/// Returns the dimension of a loop kind: 0 for x, 1 for y, 2 for z. `first` is the kind for x.
std::int32_t dimension_of(ir::LoopKind kind, ir::LoopKind first) {
  return static_cast<std::int32_t>(kind) - static_cast<std::int32_t>(first);
}

/// Wraps around without undefined behaviour.
std::int32_t wrap(std::uint32_t x) {
  return static_cast<std::int32_t>(x);
}

LaneValue multiplied(const LaneValue& value, std::int32_t by) {
  const LaneValue product{wrap(raw(value.scalar) * raw(by)), wrap(raw(value.factor) * raw(by)), value.lanes};
  return product.factor == 0 ? LaneValue{product.scalar} : product;
}

/// Rounds down, so that the result is the same for all warps. In a branch that excludes the first threads,
/// the other threads subtract the number of excluded threads from their own number. For the first warp, which
/// is not among them, that gives negative numbers.
std::int32_t floor_of(std::int32_t x, std::int32_t y) {
  return x / y - (x % y < 0 ? 1 : 0);
}

/// Calls `f` with the operation on two numbers.
template <typename F>
void with_operation(ir::BinaryOp op, F f) {
  using Number = std::int32_t;
  switch (op) {
    case ir::BinaryOp::kAdd:
      return f([](Number x, Number y) { return wrap(raw(x) + raw(y)); });
    case ir::BinaryOp::kSub:
      return f([](Number x, Number y) { return wrap(raw(x) - raw(y)); });
    case ir::BinaryOp::kMul:
      return f([](Number x, Number y) { return wrap(raw(x) * raw(y)); });
    case ir::BinaryOp::kDiv:
      return f([](Number x, Number y) { return y <= 0 ? 0 : floor_of(x, y); });
    case ir::BinaryOp::kMod:
      return f([](Number x, Number y) { return y <= 0 ? 0 : wrap(raw(x) - raw(y) * raw(floor_of(x, y))); });
    case ir::BinaryOp::kMin:
      return f([](Number x, Number y) { return std::min(x, y); });
    case ir::BinaryOp::kMax:
      return f([](Number x, Number y) { return std::max(x, y); });
    case ir::BinaryOp::kXor:
      return f([](Number x, Number y) { return x ^ y; });
    case ir::BinaryOp::kLt:
      return f([](Number x, Number y) { return Number{x < y}; });
    case ir::BinaryOp::kLe:
      return f([](Number x, Number y) { return Number{x <= y}; });
    case ir::BinaryOp::kEq:
      return f([](Number x, Number y) { return Number{x == y}; });
    case ir::BinaryOp::kAnd:
      return f([](Number x, Number y) { return Number{x != 0 && y != 0}; });
  }
}

}  // namespace

Lanes LaneValue::all() const {
  Lanes result;
  if (is_uniform()) {
    result.fill(scalar);
    return result;
  }
  for (std::size_t t = 0; t < 32; ++t) result[t] = wrap(raw(scalar) + raw(factor) * raw((*lanes)[t]));
  return result;
}

LaneValues::LaneValues(const ir::Kernel& kernel, const ir::Launch& launch, std::pmr::memory_resource* memory)
    // Copies one empty binding: GCC makes each element of vector(n) by a call of memset.
    : launch_(launch), memory_(memory), bindings_(kernel.vars.size(), Binding{}, memory) {}

LaneValue LaneValues::kept(const Lanes& lanes) {
  std::uint32_t differ = 0;
  for (const std::int32_t lane : lanes) differ |= raw(lane) ^ raw(lanes[0]);
  if (differ == 0) return {lanes[0]};
  return {0, 1, new (memory_->allocate(sizeof(Lanes), alignof(Lanes))) Lanes(lanes)};
}

void LaneValues::bind(const ir::For& loop) {
  Binding& binding = bindings_[static_cast<std::size_t>(loop.var)];
  binding.loop = &loop;
  binding.let = nullptr;
  binding.known = {};
}

void LaneValues::bind(const ir::Let& let) {
  Binding& binding = bindings_[static_cast<std::size_t>(let.var)];
  binding.loop = nullptr;
  binding.let = &let;
  binding.known = {};
}

LaneValue LaneValues::value_of(ir::VarId id) {
  const auto var = static_cast<std::size_t>(id);
  Binding& binding = bindings_[var];
  const auto points = static_cast<std::size_t>(points_);
  LaneValue& value = binding.values[points];
  if (!binding.known[points]) {
    value = binding.let != nullptr    ? evaluate(binding.let->value)
            : binding.loop != nullptr ? value_of_loop(*binding.loop, var)
                                      : LaneValue{};
    binding.known[points] = true;
  }
  return value;
}

LaneValue LaneValues::value_of_loop(const ir::For& loop, std::size_t var) {
  if (points_ == Points::kWarp)
    return is_thread(loop.kind)
               ? value_of_place(dimension_of(loop.kind, ir::LoopKind::kThreadX), launch_.block)
               : LaneValue{};
  if (points_ == Points::kBlocks)
    return is_block(loop.kind) ? value_of_place(dimension_of(loop.kind, ir::LoopKind::kBlockX), launch_.grid)
                               : LaneValue{};
  // Each variable has another odd multiplier, which permutes the lanes, so that variables do not change in
  // step.
  const std::size_t multiplier = (8 * var + 5) % 32;
  Lanes lanes = evaluate(loop.extent).all();
  for (std::size_t t = 0; t < 32; ++t) {
    const auto place = static_cast<std::int64_t>(t * multiplier % 32);
    lanes[t] = static_cast<std::int32_t>(place * std::max(lanes[t], 0) / 32);
  }
  return kept(lanes);
}

LaneValue LaneValues::value_of_place(std::int32_t dimension, const std::array<std::int64_t, 3>& extents) {
  const auto up_to_32 = [&](std::size_t i) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(extents[i], 1, 32));
  };
  const std::int32_t x = up_to_32(0), y = up_to_32(1), z = up_to_32(2);
  Lanes lanes;
  std::int32_t here[3] = {0, 0, 0};
  for (std::int32_t& lane : lanes) {
    lane = here[dimension];
    if (++here[0] < x) continue;
    here[0] = 0;
    if (++here[1] < y) continue;
    here[1] = 0;
    if (++here[2] == z) here[2] = 0;
  }
  return kept(lanes);
}

LaneValue LaneValues::step(ir::BinaryOp op, const LaneValue& a, const LaneValue& b) {
  Lanes x = a.all();
  const Lanes y = b.all();
  with_operation(op, [&](auto f) {
    for (std::size_t t = 0; t < 32; ++t) x[t] = f(x[t], y[t]);
  });
  return kept(x);  // a division by at least the number of a warp's threads leaves one number
}

LaneValue LaneValues::add(LaneValue a, LaneValue b) {
  const std::int32_t scalar = wrap(raw(a.scalar) + raw(b.scalar));
  if (b.is_uniform()) return {scalar, a.factor, a.lanes};
  if (a.is_uniform()) return {scalar, b.factor, b.lanes};
  a.scalar = b.scalar = 0;
  LaneValue sum = step(ir::BinaryOp::kAdd, a, b);
  sum.scalar = wrap(raw(sum.scalar) + raw(scalar));
  return sum;
}

LaneValue LaneValues::apply(ir::BinaryOp op, const LaneValue& a, const LaneValue& b) {
  // The most frequent operations need no jump table, as in Expr::visit().
  if (op == ir::BinaryOp::kAdd) return add(a, b);
  if (op == ir::BinaryOp::kMul && b.is_uniform()) return multiplied(a, b.scalar);
  if (op == ir::BinaryOp::kMul && a.is_uniform()) return multiplied(b, a.scalar);
  if (op == ir::BinaryOp::kSub) return add(a, multiplied(b, -1));
  if (!a.is_uniform() || !b.is_uniform()) return step(op, a, b);
  LaneValue result;
  with_operation(op, [&](auto f) { result.scalar = f(a.scalar, b.scalar); });
  return result;
}

LaneValue LaneValues::evaluate(const ir::Expr& expr) {
  return expr.visit(overloaded{
      [](const ir::Int& node) { return LaneValue{static_cast<std::int32_t>(node.value)}; },
      [&](const ir::Var& node) { return value_of(node.id); },
      [&](const ir::Binary& node) {
        const LaneValue a = evaluate(node.a);
        if (const auto number = node.b.as_int())
          return apply(node.op, a, LaneValue{static_cast<std::int32_t>(number->value)});
        return apply(node.op, a, evaluate(node.b));
      },
      [&](const ir::Select& node) {
        const LaneValue condition = evaluate(node.condition);
        if (condition.is_uniform()) return evaluate(condition.scalar != 0 ? node.a : node.b);
        // Computes b, plus a - b if the condition is not 0.
        const LaneValue b = evaluate(node.b), is_zero = apply(ir::BinaryOp::kEq, condition, LaneValue{0});
        const LaneValue more = apply(ir::BinaryOp::kSub, evaluate(node.a), b);
        const LaneValue taken = apply(ir::BinaryOp::kSub, LaneValue{1}, is_zero);
        return add(b, apply(ir::BinaryOp::kMul, more, taken));
      },
      [](const auto&) { return LaneValue{}; },
  });
}

}  // namespace lehr
