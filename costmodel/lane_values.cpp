// 32-lane evaluation of index arithmetic, and what a warp's addresses mean for shared memory and sectors.
#include "costmodel/lane_values.h"

#include <algorithm>
#include <bit>
#include <new>
#include <span>

#include "base/overloaded.h"
#include "base/power_of_two.h"

namespace lehr {
namespace {

/// Signed wrap-around without undefined behaviour.
std::int32_t wrap(std::uint32_t x) {
  return static_cast<std::int32_t>(x);
}
std::uint32_t raw(std::int32_t x) {
  return static_cast<std::uint32_t>(x);
}

/// Told that nothing overlaps, the compiler makes a few vector instructions of it.
template <typename Operation>
void for_lanes(const Lanes& __restrict x, const Lanes& __restrict y, Lanes& __restrict out, Operation f) {
  for (std::size_t t = 0; t < 32; ++t) out[t] = f(x[t], y[t]);
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
      return f([](Number x, Number y) { return y <= 0 ? 0 : x / y; });
    case ir::BinaryOp::kMod:
      return f([](Number x, Number y) { return y <= 0 ? 0 : x % y; });
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

/// Whether the threads' words, `wide` consecutive ones from each first one on, lie in different banks, or are
/// all the same ones.
bool without_conflict(std::span<const std::int32_t> firsts, std::uint32_t wide) {
  std::uint32_t differ = 0, banks = 0, doubtful = 0;
  for (const std::int32_t first : firsts) {
    differ |= raw(first) ^ raw(firsts[0]);
    doubtful |= (raw(first) & (wide - 1)) | (banks >> (raw(first) % 32) & 1);
    banks |= 1u << (raw(first) % 32);
  }
  return differ == 0 || doubtful == 0;
}

/// Of threads that are served together: the most distinct words that fall into one bank.
int cycles_of_phase(std::span<const std::int32_t> firsts, std::uint32_t wide) {
  struct Word {
    std::uint32_t word;
    std::uint32_t before;  // the one before it in its bank: 1 + its place in `words`; 0: none
  };
  std::array<Word, 32> words;
  std::array<std::uint8_t, 32> newest{}, in_bank{};
  std::uint8_t count = 0, most = 1;
  for (const std::int32_t first : firsts) {
    for (std::uint32_t w = 0; w < wide; ++w) {
      const std::uint32_t here = raw(first) + w;
      std::uint32_t known = newest[here % 32];
      while (known != 0 && words[known - 1].word != here) known = words[known - 1].before;
      if (known != 0) continue;
      words[count] = {here, newest[here % 32]};
      newest[here % 32] = ++count;
      most = std::max(most, ++in_bank[here % 32]);
    }
  }
  return most;
}

}  // namespace

Lanes LaneValue::all() const {
  Lanes result;
  if (is_uniform()) {
    result.fill(scalar);
  } else {
    for (std::size_t t = 0; t < 32; ++t) result[t] = wrap(raw((*lanes)[t]) + raw(scalar));
  }
  return result;
}

LaneValues::LaneValues(const ir::Kernel& kernel, const ir::Launch& launch, Points points,
                       std::pmr::memory_resource* memory)
    : launch_(launch), points_(points), memory_(memory), bindings_(kernel.vars.size(), memory) {}

Lanes& LaneValues::fresh() {
  return *new (memory_->allocate(sizeof(Lanes), alignof(Lanes))) Lanes;
}

LaneValue LaneValues::reduced(const Lanes& lanes) {
  std::uint32_t differ = 0;
  for (const std::int32_t lane : lanes) differ |= raw(lane) ^ raw(lanes[0]);
  return differ == 0 ? LaneValue{lanes[0], nullptr} : LaneValue{0, &lanes};
}

void LaneValues::bind(const ir::For& loop) {
  Binding& binding = bindings_[static_cast<std::size_t>(loop.var)];
  binding.loop = &loop;
  binding.let = nullptr;
  binding.known = false;
}

void LaneValues::bind(const ir::Let& let) {
  Binding& binding = bindings_[static_cast<std::size_t>(let.var)];
  binding.loop = nullptr;
  binding.let = &let;
  binding.known = false;
}

LaneValue LaneValues::value_of(ir::VarId id) {
  const auto var = static_cast<std::size_t>(id);
  Binding& binding = bindings_[var];
  if (!binding.known) {
    binding.value = binding.let != nullptr    ? evaluate(binding.let->value)
                    : binding.loop != nullptr ? value_of_loop(*binding.loop, var)
                                              : LaneValue{};
    binding.known = true;
  }
  return binding.value;
}

LaneValue LaneValues::value_of_loop(const ir::For& loop, std::size_t var) {
  if (points_ == Points::kWarp) return is_thread(loop.kind) ? value_of_thread(loop.kind) : LaneValue{};
  const Lanes extents = evaluate(loop.extent).all();
  // A different odd multiplier per variable permutes the lanes, so that variables do not move in step.
  const std::size_t multiplier = 8 * var + 5;
  Lanes& lanes = fresh();
  for (std::size_t t = 0; t < 32; ++t) {
    const auto place = static_cast<std::int64_t>(t * multiplier % 32);
    lanes[t] = static_cast<std::int32_t>(place * std::max(extents[t], 0) / 32);
  }
  return {0, &lanes};
}

LaneValue LaneValues::value_of_thread(ir::LoopKind kind) {
  const auto x = static_cast<std::int32_t>(std::clamp<std::int64_t>(launch_.block[0], 1, 32));
  const auto y = static_cast<std::int32_t>(std::clamp<std::int64_t>(launch_.block[1], 1, 32));
  const auto dimension = static_cast<std::size_t>(kind) - static_cast<std::size_t>(ir::LoopKind::kThreadX);
  std::int32_t here[3] = {0, 0, 0};
  Lanes& lanes = fresh();
  for (std::int32_t& lane : lanes) {
    lane = here[dimension];
    if (++here[0] < x) continue;
    here[0] = 0;
    if (++here[1] < y) continue;
    here[1] = 0;
    ++here[2];
  }
  return reduced(lanes);
}

LaneValue LaneValues::add(LaneValue a, LaneValue b) {
  const std::int32_t scalar = wrap(raw(a.scalar) + raw(b.scalar));
  if (a.is_uniform() || b.is_uniform()) return {scalar, a.is_uniform() ? b.lanes : a.lanes};
  Lanes& out = fresh();
  for_lanes(*a.lanes, *b.lanes, out, [](std::int32_t x, std::int32_t y) { return wrap(raw(x) + raw(y)); });
  return {scalar, &out};
}

LaneValue LaneValues::multiply(LaneValue value, std::int32_t factor) {
  if (factor == 0) return {};
  if (factor == 1) return value;
  if (value.is_uniform()) return {wrap(raw(value.scalar) * raw(factor)), nullptr};
  Lanes& out = fresh();
  if (is_power_of_two(factor)) {
    const int shift = std::countr_zero(raw(factor));
    for (std::size_t t = 0; t < 32; ++t) out[t] = wrap(raw((*value.lanes)[t]) << shift);
  } else {
    for (std::size_t t = 0; t < 32; ++t) out[t] = wrap(raw((*value.lanes)[t]) * raw(factor));
  }
  return {wrap(raw(value.scalar) * raw(factor)), &out};
}

LaneValue LaneValues::divide_by_power_of_two(ir::BinaryOp op, LaneValue value, std::int32_t divisor) {
  const int shift = std::countr_zero(raw(divisor));
  Lanes& out = fresh();
  if (op == ir::BinaryOp::kDiv) {
    for (std::size_t t = 0; t < 32; ++t) out[t] = wrap(raw((*value.lanes)[t]) + raw(value.scalar)) >> shift;
  } else {
    for (std::size_t t = 0; t < 32; ++t)
      out[t] = wrap(raw((*value.lanes)[t]) + raw(value.scalar)) & (divisor - 1);
  }
  return reduced(out);  // a division by a warp's threads and more leaves one number
}

LaneValue LaneValues::apply(ir::BinaryOp op, LaneValue a, LaneValue b) {
  // No jump table for the most frequent operations, as in Expr::visit().
  if (op == ir::BinaryOp::kAdd) return add(a, b);
  if (op == ir::BinaryOp::kMul && b.is_uniform()) return multiply(a, b.scalar);
  if (op == ir::BinaryOp::kMul && a.is_uniform()) return multiply(b, a.scalar);
  if (a.is_uniform() && b.is_uniform()) {
    LaneValue result;
    with_operation(op, [&](auto f) { result.scalar = f(a.scalar, b.scalar); });
    return result;
  }
  if (op == ir::BinaryOp::kSub && b.is_uniform()) return {wrap(raw(a.scalar) - raw(b.scalar)), a.lanes};
  const bool divides = op == ir::BinaryOp::kDiv || op == ir::BinaryOp::kMod;
  if (divides && b.is_uniform() && is_power_of_two(b.scalar)) return divide_by_power_of_two(op, a, b.scalar);
  const Lanes x = a.all(), y = b.all();
  Lanes& out = fresh();
  with_operation(op, [&](auto f) { for_lanes(x, y, out, f); });
  return {0, &out};
}

LaneValue LaneValues::evaluate(const ir::Expr& expr) {
  return expr.visit(overloaded{
      [](const ir::Int& node) {
        return LaneValue{static_cast<std::int32_t>(node.value), nullptr};
      },
      [&](const ir::Var& node) { return value_of(node.id); },
      [&](const ir::Binary& node) {
        const LaneValue a = evaluate(node.a);
        return apply(node.op, a, evaluate(node.b));
      },
      [&](const ir::Select& node) {
        const LaneValue condition = evaluate(node.condition);
        if (condition.is_uniform()) return evaluate(condition.scalar != 0 ? node.a : node.b);
        const Lanes c = condition.all(), x = evaluate(node.a).all(), y = evaluate(node.b).all();
        Lanes& out = fresh();
        for (std::size_t t = 0; t < 32; ++t) out[t] = c[t] != 0 ? x[t] : y[t];
        return LaneValue{0, &out};
      },
      [](const auto&) { return LaneValue{}; },
  });
}

double bank_conflict_degree(const Lanes& word, int words) {
  const std::size_t wide = words <= 1 ? 1 : words == 2 ? 2 : 4;
  const std::size_t threads = 32 / wide;  // threads per phase
  int cycles = 0;
  for (std::size_t phase = 0; phase < wide; ++phase) {
    const std::span<const std::int32_t> firsts = std::span(word).subspan(phase * threads, threads);
    cycles += without_conflict(firsts, static_cast<std::uint32_t>(wide))
                  ? 1
                  : cycles_of_phase(firsts, static_cast<std::uint32_t>(wide));
  }
  return static_cast<double>(cycles) / static_cast<double>(wide);
}

double sectors_of_warp(const Lanes& index, double access_bytes, int element_bytes) {
  // Elements of a sector are a power of two.
  const int shift = std::countr_zero(static_cast<unsigned>(kSectorBytes / element_bytes));
  unsigned falls = 0;
  for (std::size_t t = 1; t < 32; ++t) falls += index[t] < index[t - 1];
  const std::int32_t least = falls == 0 ? index[0] : *std::min_element(index.begin(), index.end());
  std::array<std::uint32_t, 32> sector;
  for (std::size_t t = 0; t < 32; ++t) sector[t] = (raw(index[t]) - raw(least)) >> shift;
  if (falls != 0) std::sort(sector.begin(), sector.end());
  unsigned distinct = 1;
  for (std::size_t t = 1; t < 32; ++t) distinct += sector[t] != sector[t - 1];
  return distinct * std::max(1.0, access_bytes / kSectorBytes);
}

}  // namespace lehr
