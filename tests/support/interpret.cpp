// See interpret.h.
#include "tests/support/interpret.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/overloaded.h"

namespace lehr::testing {
namespace {

using namespace ir;

std::int64_t apply(BinaryOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a - b;
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kDiv:
      return a / b;
    case BinaryOp::kMod:
      return a % b;
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kXor:
      return a ^ b;
    case BinaryOp::kLt:
      return a < b ? 1 : 0;
    case BinaryOp::kLe:
      return a <= b ? 1 : 0;
    case BinaryOp::kEq:
      return a == b ? 1 : 0;
    case BinaryOp::kAnd:
      return a != 0 && b != 0 ? 1 : 0;
  }
  return 0;
}

class Interpreter {
 public:
  explicit Interpreter(const Kernel& kernel) : kernel_(kernel), values_(kernel.vars.size()) {}

  Counts run() {
    if (kernel_.rows) values_[static_cast<std::size_t>(kernel_.rows->var)] = kernel_.rows->usual;
    block(kernel_.body);
    for (std::size_t i = 0; i < counts_.accesses.size(); ++i)
      for (const std::set<std::int64_t>& seen : seen_[i])
        counts_.accesses[i].distinct.push_back(static_cast<std::int64_t>(seen.size()));
    for (const auto& [buffer, elements] : global_)
      counts_.distinct_global_bytes +=
          static_cast<std::int64_t>(elements.size()) * size_of(kernel_.buffer(buffer).type);
    return std::move(counts_);
  }

 private:
  struct ActiveLoop {
    LoopKind kind;
    std::int64_t iteration;
  };

  void block(const Block& statements) {
    for (const Stmt& stmt : statements) {
      statement_ = &stmt;
      accesses_of_statement_ = 0;
      std::visit([&](const auto& node) { run(node); }, stmt.node);
    }
  }

  void run(const For& loop) {
    if (!as_constant(loop.extent)) integer(loop.extent);
    loops_.push_back({loop.kind, 0});
    for (std::int64_t i = 0; i < loop.bound; ++i) {
      loops_.back().iteration = i;
      values_[static_cast<std::size_t>(loop.var)] = i;
      block(loop.body);
    }
    loops_.pop_back();
  }
  void run(const Store& store) {
    access(store.buffer, store.index, store.lanes, true, store.active.has_value());
    if (store.active) integer(*store.active);
    value(store.value);
  }
  void run(const If& branch) {
    value(branch.condition);
    ++guards_;
    block(branch.then);
    block(branch.otherwise);
    --guards_;
  }
  void run(const Let& let) { values_[static_cast<std::size_t>(let.var)] = integer(let.value); }
  void run(const Alloc&) {}
  void run(const Barrier& barrier) {
    const bool first_thread = std::all_of(loops_.begin(), loops_.end(), [](const ActiveLoop& loop) {
      return loop.kind < LoopKind::kParallel || loop.iteration == 0;
    });
    if (barrier.scope != BarrierScope::kWarp && first_thread) ++counts_.block_barriers;
  }
  void run(const Intrinsic& intrinsic) {
    for (const Touch& touch : intrinsic.touches)
      access(touch.buffer, touch.index, static_cast<int>(touch.elements), touch.writes, false);
    for (const Expr& arg : intrinsic.args) integer(arg);
    counts_.flops += static_cast<std::int64_t>(intrinsic.flops);
  }

  // Returns the value of an index or count. Counts its loads and divisions.
  std::int64_t integer(const Expr& expr) {
    return expr.visit(overloaded{
        [&](const Int& n) { return n.value; },
        [&](const Var& n) { return values_[static_cast<std::size_t>(n.id)]; },
        [&](const Binary& n) {
          const std::int64_t a = integer(n.a);
          const std::int64_t b = integer(n.b);
          divisions(n);
          return apply(n.op, a, b);
        },
        [&](const Load& n) {
          load(n);
          return std::int64_t{0};
        },
        [&](const Select& n) {
          const std::int64_t condition = integer(n.condition);
          const std::int64_t a = integer(n.a);
          const std::int64_t b = integer(n.b);
          return condition != 0 ? a : b;
        },
        [](const auto&) { return std::int64_t{0}; },
    });
  }

  void divisions(const Binary& n) {
    if (n.op != BinaryOp::kDiv && n.op != BinaryOp::kMod) return;
    const auto divisor = as_constant(n.b);
    bool power_of_two = false;
    for (int bit = 0; bit < 62; ++bit) power_of_two = power_of_two || divisor == std::int64_t{1} << bit;
    if (!power_of_two) ++counts_.integer_divisions;
  }

  struct Value {
    bool is_data;
    int lanes;
  };
  Value value(const Expr& expr) {
    return expr.visit(overloaded{
        [](const Int&) { return Value{false, 1}; },
        [](const Float&) { return Value{true, 1}; },
        [](const Var&) { return Value{false, 1}; },
        [&](const Binary& n) {
          const Value a = value(n.a);
          const Value b = value(n.b);
          const bool arithmetic = n.op <= BinaryOp::kDiv || n.op == BinaryOp::kMin || n.op == BinaryOp::kMax;
          const bool data = a.is_data || b.is_data;
          if (data && arithmetic) counts_.flops += a.lanes;
          if (!data) divisions(n);
          return Value{data && arithmetic, a.lanes};
        },
        [&](const Unary& n) {
          const Value a = value(n.value);
          counts_.flops += flops_of(n.op) * a.lanes;
          return a;
        },
        [&](const Load& n) {
          load(n);
          return Value{true, n.lanes};
        },
        [&](const Splat& n) { return Value{value(n.value).is_data, n.lanes}; },
        [&](const Fma& n) {
          const Value a = value(n.a);
          value(n.b);
          counts_.flops += 2 * a.lanes;
          return Value{true, value(n.c).lanes};
        },
        [&](const Reduce& n) {
          const Value a = value(n.value);
          counts_.flops += a.lanes - 1;
          return Value{a.is_data, 1};
        },
        [&](const Cast& n) { return value(n.value); },
        [&](const Select& n) {
          const int guards = value(n.condition).lanes == 1 ? 1 : 0;
          guards_ += guards;
          const Value a = value(n.a);
          const Value b = value(n.b);
          guards_ -= guards;
          return Value{a.is_data || b.is_data, a.lanes};
        },
    });
  }

  void load(const Load& n) {
    access(n.buffer, n.index, n.lanes, false, n.active.has_value());
    if (n.active) integer(*n.active);
  }

  void access(BufferId id, const Expr& index_expr, int lanes, bool writes, bool active) {
    const auto [entry, is_new] =
        number_of_.try_emplace({statement_, accesses_of_statement_++}, counts_.accesses.size());
    const std::size_t i = entry->second;
    if (is_new) {
      CountedAccess fresh;
      fresh.buffer = id;
      fresh.writes = writes;
      fresh.guarded = active || guards_ > 0;
      fresh.lanes = lanes;
      fresh.strides.resize(loops_.size());
      counts_.accesses.push_back(fresh);
      seen_.emplace_back(loops_.size());
    }
    const std::int64_t index = integer(index_expr);
    CountedAccess& counted = counts_.accesses[i];
    ++counted.executions;
    const Buffer& buffer = kernel_.buffer(id);
    auto& bytes = writes ? counts_.written_bytes : counts_.read_bytes;
    bytes[static_cast<std::size_t>(buffer.scope)] += lanes * size_of(buffer.type);

    std::int64_t sum = 0;
    for (const ActiveLoop& loop : loops_) sum += loop.iteration;
    if (sum == 0) counted.first_index = index;
    bool outer_at_zero = true;
    for (std::size_t d = 0; d < loops_.size(); ++d) {
      if (sum == 1 && loops_[d].iteration == 1) counted.strides[d] = index - counted.first_index;
      if (outer_at_zero)
        for (int lane = 0; lane < lanes; ++lane) seen_[i][d].insert(index + lane);
      outer_at_zero = outer_at_zero && loops_[d].iteration == 0;
    }
    if (buffer.scope == Scope::kGlobal)
      for (int lane = 0; lane < lanes; ++lane) global_[id].insert(index + lane);
  }

  const Kernel& kernel_;
  Counts counts_;
  std::vector<std::int64_t> values_;
  std::vector<ActiveLoop> loops_;
  // A statement makes the same accesses in the same order each time it runs. Expressions may be shared.
  const Stmt* statement_ = nullptr;
  int accesses_of_statement_ = 0;
  std::map<std::pair<const Stmt*, int>, std::size_t> number_of_;
  std::vector<std::vector<std::set<std::int64_t>>> seen_;  // indices seen so far, by access and by loop
  std::map<BufferId, std::set<std::int64_t>> global_;
  int guards_ = 0;
};

}  // namespace

Counts count(const Kernel& kernel) {
  return Interpreter(kernel).run();
}

std::int64_t evaluate(const Expr& expr, const std::vector<std::int64_t>& values) {
  return expr.visit(overloaded{
      [](const Int& n) { return n.value; },
      [&](const Var& n) { return values[static_cast<std::size_t>(n.id)]; },
      [&](const Binary& n) { return apply(n.op, evaluate(n.a, values), evaluate(n.b, values)); },
      [&](const Select& n) { return evaluate(evaluate(n.condition, values) != 0 ? n.a : n.b, values); },
      [](const auto&) { return std::int64_t{0}; },
  });
}

}  // namespace lehr::testing
