// 32-lane evaluation of index arithmetic, and what a warp's addresses mean for shared memory and sectors.
#include "costmodel/lane_values.h"

#include <algorithm>
#include <bit>

#include "base/overloaded.h"

namespace lehr {
namespace {

/// Signed wrap-around without undefined behaviour.
std::int32_t wrap(std::uint32_t x) {
  return static_cast<std::int32_t>(x);
}
std::uint32_t raw(std::int32_t x) {
  return static_cast<std::uint32_t>(x);
}

/// A uniform value's lanes, in `storage`.
const Lanes& spread(bool uniform, std::int32_t scalar, const Lanes& lanes, Lanes& storage) {
  if (!uniform) return lanes;
  storage.fill(scalar);
  return storage;
}

/// Division of lanes by a power of two, as most are: shifts instead of 32 divisions.
bool divide_by_power_of_two(ir::BinaryOp op, const Lanes& __restrict lanes, std::int32_t divisor,
                            Lanes& __restrict out) {
  if (op != ir::BinaryOp::kDiv && op != ir::BinaryOp::kMod) return false;
  if (divisor <= 0 || !std::has_single_bit(raw(divisor))) return false;
  const int shift = std::countr_zero(raw(divisor));
  if (op == ir::BinaryOp::kDiv) {
    for (std::size_t t = 0; t < 32; ++t) out[t] = lanes[t] >> shift;
  } else {
    for (std::size_t t = 0; t < 32; ++t) out[t] = lanes[t] & (divisor - 1);
  }
  return true;
}

bool is_thread(ir::LoopKind kind) {
  return kind == ir::LoopKind::kThreadX || kind == ir::LoopKind::kThreadY || kind == ir::LoopKind::kThreadZ;
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

/// The most distinct words that fall into one bank.
int most_in_one_bank(std::uint32_t* words, std::size_t count) {
  std::sort(words, words + count);
  count = static_cast<std::size_t>(std::unique(words, words + count) - words);
  int in_bank[32] = {};
  int most = 0;
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, ++in_bank[words[i] % 32]);
  return most;
}

}  // namespace

LaneValues::LaneValues(const ir::Kernel& kernel, const ir::Launch& launch, Points points)
    : launch_(launch), points_(points), bindings_(kernel.vars.size()) {}

void LaneValues::bind(const ir::For& loop) {
  Binding& binding = bindings_[static_cast<std::size_t>(loop.var)];
  binding.loop = &loop;
  binding.let = nullptr;
  binding.known = nullptr;
}

void LaneValues::bind(const ir::Let& let) {
  Binding& binding = bindings_[static_cast<std::size_t>(let.var)];
  binding.loop = nullptr;
  binding.let = &let;
  binding.known = nullptr;
}

const LaneValues::Value& LaneValues::value_of(ir::VarId id) {
  const auto var = static_cast<std::size_t>(id);
  Binding& binding = bindings_[var];
  if (binding.known == nullptr) {
    if (binding.let != nullptr) {
      binding.known = &value_of(binding.let->value, binding.own);
    } else {
      fill_loop(binding, var);
      binding.known = &binding.own;
    }
  }
  return *binding.known;
}

void LaneValues::fill_loop(Binding& binding, std::size_t var) {
  Value& value = binding.own;
  value.uniform = true;
  value.scalar = 0;
  if (binding.loop == nullptr) return;
  if (points_ == Points::kSample) {
    Value extent;
    const Value& extents = value_of(binding.loop->extent, extent);
    // A different odd multiplier per variable permutes the lanes, so that variables do not move in step.
    const std::size_t multiplier = 8 * var + 5;
    value.uniform = false;
    for (std::size_t t = 0; t < 32; ++t) {
      const auto place = static_cast<std::int64_t>(t * multiplier % 32);
      const std::int32_t most = extents.uniform ? extents.scalar : extents.lanes[t];
      value.lanes[t] = static_cast<std::int32_t>(place * std::max(most, 0) / 32);
    }
    return;
  }
  if (!is_thread(binding.loop->kind)) return;
  value.uniform = false;
  const auto x = static_cast<std::int32_t>(std::clamp<std::int64_t>(launch_.block[0], 1, 32));
  const auto y = static_cast<std::int32_t>(std::clamp<std::int64_t>(launch_.block[1], 1, 32));
  std::int32_t here[3] = {0, 0, 0};
  const auto kind =
      static_cast<std::size_t>(binding.loop->kind) - static_cast<std::size_t>(ir::LoopKind::kThreadX);
  for (std::int32_t& lane : value.lanes) {
    lane = here[kind];
    if (++here[0] < x) continue;
    here[0] = 0;
    if (++here[1] < y) continue;
    here[1] = 0;
    ++here[2];
  }
}

void LaneValues::apply(ir::BinaryOp op, const Value& a, const Value& b, Value& out) {
  out.uniform = a.uniform && b.uniform;
  if (out.uniform) {
    with_operation(op, [&](auto f) { out.scalar = f(a.scalar, b.scalar); });
    return;
  }
  if (b.uniform && divide_by_power_of_two(op, a.lanes, b.scalar, out.lanes)) return;
  Lanes left, right;
  const Lanes& x = spread(a.uniform, a.scalar, a.lanes, left);
  const Lanes& y = spread(b.uniform, b.scalar, b.lanes, right);
  with_operation(op, [&](auto f) { for_lanes(x, y, out.lanes, f); });
}

const LaneValues::Value& LaneValues::value_of(const ir::Expr& expr, Value& storage) {
  const auto uniform = [&](std::int64_t value) -> const Value& {
    storage.uniform = true;
    storage.scalar = static_cast<std::int32_t>(value);
    return storage;
  };
  return expr.visit(overloaded{
      [&](const ir::Int& node) -> const Value& { return uniform(node.value); },
      [&](const ir::Var& node) -> const Value& { return value_of(node.id); },
      [&](const ir::Binary& node) -> const Value& {
        Value left, right;
        const Value& a = value_of(node.a, left);
        apply(node.op, a, value_of(node.b, right), storage);
        return storage;
      },
      [&](const ir::Select& node) -> const Value& {
        Value condition, left, right;
        const Value& c = value_of(node.condition, condition);
        if (c.uniform) return value_of(c.scalar != 0 ? node.a : node.b, storage);
        const Value& a = value_of(node.a, left);
        const Value& b = value_of(node.b, right);
        Lanes of_a, of_b;
        const Lanes& x = spread(a.uniform, a.scalar, a.lanes, of_a);
        const Lanes& y = spread(b.uniform, b.scalar, b.lanes, of_b);
        storage.uniform = false;
        for (std::size_t t = 0; t < 32; ++t) storage.lanes[t] = c.lanes[t] != 0 ? x[t] : y[t];
        return storage;
      },
      [&](const auto&) -> const Value& { return uniform(0); },
  });
}

void LaneValues::evaluate(const ir::Expr& expr, Lanes& out) {
  Value storage;
  const Value& value = value_of(expr, storage);
  if (value.uniform) {
    out.fill(value.scalar);
  } else {
    out = value.lanes;
  }
}

double bank_conflict_degree(const Lanes& word, int words) {
  const std::size_t wide = words <= 1 ? 1 : words == 2 ? 2 : 4;
  const std::size_t threads = 32 / wide;  // threads per phase
  int cycles = 0;
  for (std::size_t phase = 0; phase < wide; ++phase) {
    std::uint32_t in_bank[32];  // the word that the bank gives; further ones are in `others`
    std::uint32_t taken = 0;    // a bit per bank
    std::uint32_t others[32];
    std::size_t conflicts = 0;
    for (std::size_t t = 0; t < threads; ++t) {
      const std::uint32_t first = raw(word[phase * threads + t]);
      for (std::uint32_t w = 0; w < wide; ++w) {
        const std::uint32_t here = first + w;
        const std::uint32_t bank = here % 32;
        if ((taken >> bank & 1) == 0) {
          taken |= 1u << bank;
          in_bank[bank] = here;
        } else if (in_bank[bank] != here) {
          others[conflicts++] = here;
        }
      }
    }
    cycles += conflicts == 0 ? 1 : 1 + most_in_one_bank(others, conflicts);
  }
  return static_cast<double>(cycles) / static_cast<double>(wide);
}

double sectors_of_warp(const Lanes& index, double access_bytes, int element_bytes) {
  const std::int64_t least = *std::min_element(index.begin(), index.end());
  std::int64_t sector[32];
  for (std::size_t t = 0; t < 32; ++t) sector[t] = (index[t] - least) * element_bytes / kSectorBytes;
  if (!std::is_sorted(sector, sector + 32)) std::sort(sector, sector + 32);
  const auto distinct = static_cast<double>(std::unique(sector, sector + 32) - sector);
  return distinct * std::max(1.0, access_bytes / kSectorBytes);
}

}  // namespace lehr
