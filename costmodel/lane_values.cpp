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

/// `a` and `b` are different arrays; said so, the loop becomes a few vector instructions.
template <typename Op>
void for_lanes(Lanes& __restrict a, const Lanes& __restrict b, Op op) {
  for (std::size_t t = 0; t < 32; ++t) a[t] = op(a[t], b[t]);
}

/// Division by a constant power of two, as most are: shifts instead of 32 divisions.
bool divide_by_power_of_two(ir::BinaryOp op, const ir::Expr& divisor, Lanes& out) {
  const auto constant = ir::as_constant(divisor);
  if (!constant || *constant <= 0 || *constant > (1 << 30)) return false;
  const auto value = static_cast<std::uint32_t>(*constant);
  if (!std::has_single_bit(value)) return false;
  const int shift = std::countr_zero(value);
  const auto mask = static_cast<std::int32_t>(value - 1);
  for (std::int32_t& lane : out) lane = op == ir::BinaryOp::kDiv ? lane >> shift : lane & mask;
  return true;
}

bool is_thread(ir::LoopKind kind) {
  return kind == ir::LoopKind::kThreadX || kind == ir::LoopKind::kThreadY || kind == ir::LoopKind::kThreadZ;
}

void apply(ir::BinaryOp op, Lanes& a, const Lanes& b) {
  using Value = std::int32_t;
  switch (op) {
    case ir::BinaryOp::kAdd:
      return for_lanes(a, b, [](Value x, Value y) { return wrap(raw(x) + raw(y)); });
    case ir::BinaryOp::kSub:
      return for_lanes(a, b, [](Value x, Value y) { return wrap(raw(x) - raw(y)); });
    case ir::BinaryOp::kMul:
      return for_lanes(a, b, [](Value x, Value y) { return wrap(raw(x) * raw(y)); });
    case ir::BinaryOp::kDiv:
      return for_lanes(a, b, [](Value x, Value y) { return y <= 0 ? 0 : x / y; });
    case ir::BinaryOp::kMod:
      return for_lanes(a, b, [](Value x, Value y) { return y <= 0 ? 0 : x % y; });
    case ir::BinaryOp::kMin:
      return for_lanes(a, b, [](Value x, Value y) { return std::min(x, y); });
    case ir::BinaryOp::kMax:
      return for_lanes(a, b, [](Value x, Value y) { return std::max(x, y); });
    case ir::BinaryOp::kXor:
      return for_lanes(a, b, [](Value x, Value y) { return x ^ y; });
    case ir::BinaryOp::kLt:
      return for_lanes(a, b, [](Value x, Value y) { return Value{x < y}; });
    case ir::BinaryOp::kLe:
      return for_lanes(a, b, [](Value x, Value y) { return Value{x <= y}; });
    case ir::BinaryOp::kEq:
      return for_lanes(a, b, [](Value x, Value y) { return Value{x == y}; });
    case ir::BinaryOp::kAnd:
      return for_lanes(a, b, [](Value x, Value y) { return Value{x != 0 && y != 0}; });
  }
}

}  // namespace

LaneValues::LaneValues(const ir::Kernel& kernel, const ir::Launch& launch, Points points)
    : launch_(launch), points_(points), bindings_(kernel.vars.size()) {}

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

const Lanes& LaneValues::values_of(ir::VarId id) {
  const auto var = static_cast<std::size_t>(id);
  Binding& binding = bindings_[var];
  if (!binding.known) {
    binding.known = true;
    if (binding.let != nullptr) {
      evaluate(binding.let->value, binding.values);
    } else {
      fill_loop(binding, var);
    }
  }
  return binding.values;
}

void LaneValues::fill_loop(Binding& binding, std::size_t var) {
  binding.values.fill(0);
  if (binding.loop == nullptr) return;
  if (points_ == Points::kSample) {
    Lanes extent;
    evaluate(binding.loop->extent, extent);
    // A different odd multiplier per variable permutes the lanes, so that variables do not move in step.
    const std::size_t multiplier = 8 * var + 5;
    for (std::size_t t = 0; t < 32; ++t) {
      const auto place = static_cast<std::int64_t>(t * multiplier % 32);
      binding.values[t] = static_cast<std::int32_t>(place * std::max(extent[t], 0) / 32);
    }
    return;
  }
  if (!is_thread(binding.loop->kind)) return;
  const std::int64_t x = std::max<std::int64_t>(1, launch_.block[0]);
  const std::int64_t y = std::max<std::int64_t>(1, launch_.block[1]);
  for (std::int64_t t = 0; t < 32; ++t) {
    std::int32_t& value = binding.values[static_cast<std::size_t>(t)];
    if (binding.loop->kind == ir::LoopKind::kThreadX) value = static_cast<std::int32_t>(t % x);
    if (binding.loop->kind == ir::LoopKind::kThreadY) value = static_cast<std::int32_t>(t / x % y);
    if (binding.loop->kind == ir::LoopKind::kThreadZ) value = static_cast<std::int32_t>(t / x / y);
  }
}

void LaneValues::evaluate(const ir::Expr& expr, Lanes& out) {
  expr.visit(overloaded{[&](const ir::Int& node) { out.fill(static_cast<std::int32_t>(node.value)); },
                        [&](const ir::Var& node) { out = values_of(node.id); },
                        [&](const ir::Binary& node) {
                          evaluate(node.a, out);
                          const bool divides = node.op == ir::BinaryOp::kDiv || node.op == ir::BinaryOp::kMod;
                          if (divides && divide_by_power_of_two(node.op, node.b, out)) return;
                          Lanes right;
                          evaluate(node.b, right);
                          apply(node.op, out, right);
                        },
                        [&](const ir::Select& node) {
                          Lanes a, b;
                          evaluate(node.condition, out);
                          evaluate(node.a, a);
                          evaluate(node.b, b);
                          for (std::size_t t = 0; t < 32; ++t) out[t] = out[t] != 0 ? a[t] : b[t];
                        },
                        [&](const auto&) { out.fill(0); }});
}

double bank_conflict_degree(const Lanes& word, int words) {
  const int wide = words <= 1 ? 1 : words == 2 ? 2 : 4;
  const int threads = 32 / wide;  // threads per phase
  int cycles = 0;
  for (int phase = 0; phase < wide; ++phase) {
    std::uint32_t in_bank[32][32];  // distinct words of each bank
    int count[32] = {};
    int most = 1;
    for (int t = 0; t < threads; ++t) {
      for (int w = 0; w < wide; ++w) {
        const std::uint32_t here =
            raw(word[static_cast<std::size_t>(phase * threads + t)]) + static_cast<std::uint32_t>(w);
        const std::uint32_t bank = here % 32;
        std::uint32_t* known = in_bank[bank];
        if (std::find(known, known + count[bank], here) != known + count[bank]) continue;
        known[count[bank]++] = here;
        most = std::max(most, count[bank]);
      }
    }
    cycles += most;
  }
  return static_cast<double>(cycles) / wide;
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
