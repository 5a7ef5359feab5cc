// One walk over the AST for what the analysis does not hold.
#include "costmodel/text_walk.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/overloaded.h"

namespace lehr {
namespace {

using ir::LoopKind;

/// What an expression is made of.
struct ExprFacts {
  int lanes = 1;
  bool is_float = false;
  bool has_xor = false;
};

class Walker {
 public:
  Walker(const ir::Kernel& kernel, const ir::Launch& launch) : kernel_(kernel), launch_(launch) {
    facts_.swizzled_conflicts.assign(kernel.buffers.size(), 0);
    bindings_.resize(kernel.vars.size());
  }

  void block(const ir::Block& block) {
    for (const ir::Stmt& stmt : block) {
      facts_.statements += copies_;
      std::visit([this](const auto& node) { statement(node); }, stmt.node);
    }
  }
  TextFacts take() { return std::move(facts_); }

 private:
  struct Binding {
    const ir::Expr* let = nullptr;
    LoopKind kind = LoopKind::kSerial;
    bool has_xor = false;
  };
  using Warp = std::int64_t[32];

  Binding& binding(ir::VarId id) { return bindings_[static_cast<std::size_t>(id)]; }

  void statement(const ir::For& loop) {
    const double executions = executions_, copies = copies_;
    expression(loop.extent);
    binding(loop.var) = {nullptr, loop.kind, false};
    executions_ *= static_cast<double>(loop.bound);
    if (loop.kind == LoopKind::kUnrolled) copies_ *= static_cast<double>(loop.bound);
    block(loop.body);
    executions_ = executions;
    copies_ = copies;
  }
  void statement(const ir::Store& store) {
    expression(store.value);
    address(store.buffer, store.index, store.lanes);
    if (store.active) expression(*store.active);
  }
  void statement(const ir::If& branch) {
    expression(branch.condition);
    block(branch.then);
    block(branch.otherwise);
  }
  void statement(const ir::Let& let) {
    const bool has_xor = expression(let.value).has_xor;
    binding(let.var) = {&let.value, LoopKind::kSerial, has_xor};
  }
  void statement(const ir::Alloc&) {}
  void statement(const ir::Barrier&) {}
  void statement(const ir::Intrinsic& intrinsic) {
    const std::string_view name = intrinsic.name;
    facts_.intrinsic_flops += executions_ * intrinsic.flops;
    if (name == "prefetch") facts_.prefetches += executions_;
    const bool async = name.starts_with("cp_async");
    for (const ir::Touch& touch : intrinsic.touches) {
      address(touch.buffer, touch.index, static_cast<int>(std::clamp<std::int64_t>(touch.elements, 1, 64)));
      if (async && touch.writes) {
        const double element = size_of(kernel_.buffer(touch.buffer).type);
        facts_.async_bytes += executions_ * static_cast<double>(touch.elements) * element;
      }
    }
    for (const ir::Expr& arg : intrinsic.args) expression(arg);
    if (name.starts_with("cp_async_wait")) {
      facts_.async_waits += 1;
      const auto pending = intrinsic.args.empty() ? std::nullopt : ir::as_constant(intrinsic.args[0]);
      facts_.pipeline_depth = std::max(facts_.pipeline_depth, 1.0 + static_cast<double>(pending.value_or(0)));
    }
  }

  ExprFacts expression(const ir::Expr& expr) {
    return std::visit([this](const auto& node) { return facts_of(node); }, expr.node);
  }
  ExprFacts facts_of(const ir::Int&) { return {}; }
  ExprFacts facts_of(const ir::Float&) { return {1, true, false}; }
  ExprFacts facts_of(const ir::Var& v) { return {1, false, binding(v.id).has_xor}; }
  ExprFacts facts_of(const ir::Binary& b) {
    const ExprFacts x = expression(*b.a), y = expression(*b.b);
    ExprFacts result{std::max(x.lanes, y.lanes), x.is_float || y.is_float, x.has_xor || y.has_xor};
    if (result.is_float) {
      arithmetic(result.lanes);
    } else if (b.op == ir::BinaryOp::kDiv || b.op == ir::BinaryOp::kMod) {
      facts_.divisions += executions_;
    }
    if (b.op == ir::BinaryOp::kXor) result.has_xor = true;
    return result;
  }
  ExprFacts facts_of(const ir::Load& load) {
    address(load.buffer, *load.index, load.lanes);
    if (load.active) expression(**load.active);
    return {load.lanes, true, false};
  }
  ExprFacts facts_of(const ir::Splat& splat) {
    ExprFacts x = expression(*splat.value);
    x.lanes = splat.lanes;
    return x;
  }
  ExprFacts facts_of(const ir::Fma& fma) {
    const ExprFacts x = expression(*fma.a), y = expression(*fma.b), z = expression(*fma.c);
    const int lanes = std::max({x.lanes, y.lanes, z.lanes});
    arithmetic(lanes);
    return {lanes, true, false};
  }
  ExprFacts facts_of(const ir::ReduceAdd& reduce) {
    // A tree of log2(lanes) steps; each wastes half of the lanes of the one before.
    const int lanes = expression(*reduce.value).lanes;
    for (int step = lanes; step > 1; step /= 2) arithmetic(step / 2);
    return {1, true, false};
  }
  ExprFacts facts_of(const ir::Select& select) {
    expression(*select.condition);
    const ExprFacts x = expression(*select.a), y = expression(*select.b);
    return {std::max(x.lanes, y.lanes), x.is_float || y.is_float, x.has_xor || y.has_xor};
  }

  void arithmetic(int lanes) {
    facts_.arithmetic += executions_;
    facts_.arithmetic_lanes += executions_ * lanes;
  }

  void address(ir::BufferId id, const ir::Expr& index, int lanes) {
    const bool has_xor = expression(index).has_xor;
    const ir::Buffer& buffer = kernel_.buffer(id);
    if (!has_xor || buffer.scope != ir::Scope::kShared) return;
    Warp words;
    evaluate(index, words);
    const int element = size_of(buffer.type);
    for (std::int64_t& word : words) word = word * element / 4;
    double& worst = facts_.swizzled_conflicts[static_cast<std::size_t>(id)];
    worst = std::max(worst, bank_conflict_degree(words, std::clamp(std::min(lanes, 64) * element / 4, 1, 4)));
  }

  /// The value of an integer expression in the 32 threads of the first warp, all other loops at iteration 0.
  /// What is no integer arithmetic counts as 0.
  void evaluate(const ir::Expr& expr, Warp& out) {
    std::visit(overloaded{[&](const ir::Int& node) { std::fill(out, out + 32, node.value); },
                          [&](const ir::Var& node) { evaluate_var(node.id, out); },
                          [&](const ir::Binary& node) {
                            Warp right;
                            evaluate(*node.a, out);
                            evaluate(*node.b, right);
                            for (int t = 0; t < 32; ++t) out[t] = apply(node.op, out[t], right[t]);
                          },
                          [&](const ir::Select& node) {
                            Warp a, b;
                            evaluate(*node.condition, out);
                            evaluate(*node.a, a);
                            evaluate(*node.b, b);
                            for (int t = 0; t < 32; ++t) out[t] = out[t] != 0 ? a[t] : b[t];
                          },
                          [&](const auto&) { std::fill(out, out + 32, 0); }},
               expr.node);
  }
  void evaluate_var(ir::VarId id, Warp& out) {
    const Binding& bound = binding(id);
    if (bound.let != nullptr) return evaluate(*bound.let, out);
    const std::int64_t x = std::max<std::int64_t>(1, launch_.block[0]);
    const std::int64_t y = std::max<std::int64_t>(1, launch_.block[1]);
    for (int t = 0; t < 32; ++t) {
      out[t] = bound.kind == LoopKind::kThreadX   ? t % x
               : bound.kind == LoopKind::kThreadY ? t / x % y
               : bound.kind == LoopKind::kThreadZ ? t / x / y
                                                  : 0;
    }
  }
  static std::int64_t apply(ir::BinaryOp op, std::int64_t a, std::int64_t b) {
    switch (op) {
      case ir::BinaryOp::kAdd:
        return a + b;
      case ir::BinaryOp::kSub:
        return a - b;
      case ir::BinaryOp::kMul:
        return a * b;
      case ir::BinaryOp::kDiv:
        return b == 0 ? 0 : a / b;
      case ir::BinaryOp::kMod:
        return b == 0 ? 0 : a % b;
      case ir::BinaryOp::kMin:
        return std::min(a, b);
      case ir::BinaryOp::kMax:
        return std::max(a, b);
      case ir::BinaryOp::kXor:
        return a ^ b;
      case ir::BinaryOp::kLt:
        return a < b;
      case ir::BinaryOp::kLe:
        return a <= b;
      case ir::BinaryOp::kEq:
        return a == b;
      case ir::BinaryOp::kAnd:
        return a != 0 && b != 0;
    }
    return 0;
  }

  const ir::Kernel& kernel_;
  const ir::Launch& launch_;
  TextFacts facts_;
  std::vector<Binding> bindings_;
  double executions_ = 1;
  double copies_ = 1;
};

}  // namespace

TextFacts walk_text(const ir::Kernel& kernel, const ir::Launch& launch) {
  Walker walker(kernel, launch);
  walker.block(kernel.body);
  return walker.take();
}

double bank_conflict_degree(const std::int64_t (&word_of_thread)[32], int words) {
  const int wide = words <= 1 ? 1 : words == 2 ? 2 : 4;
  const int threads = 32 / wide;  // threads per phase
  int cycles = 0;
  for (int phase = 0; phase < wide; ++phase) {
    std::int64_t in_bank[32][32];  // distinct words of each bank
    int count[32] = {};
    int most = 1;
    for (int t = 0; t < threads; ++t) {
      for (int w = 0; w < wide; ++w) {
        const std::int64_t word = word_of_thread[phase * threads + t] + w;
        const auto bank = static_cast<std::uint64_t>(word) % 32;
        std::int64_t* words_here = in_bank[bank];
        if (std::find(words_here, words_here + count[bank], word) != words_here + count[bank]) continue;
        words_here[count[bank]++] = word;
        most = std::max(most, count[bank]);
      }
    }
    cycles += most;
  }
  return static_cast<double>(cycles) / wide;
}

}  // namespace lehr
