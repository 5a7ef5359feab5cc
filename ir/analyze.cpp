// One walk over a kernel that fills an Analysis. index_form.cpp reads how an index moves with the loops,
// footprint.cpp counts the elements.
#include "ir/analyze.h"

#include "base/error.h"
#include "base/local_arena.h"
#include "base/overloaded.h"
#include "base/power_of_two.h"
#include "ir/footprint.h"
#include "ir/index_form.h"
#include "ir/intrinsics.h"

namespace lehr::ir {
namespace {

// Returns whether a loop repeats its body within one block. Loops over blocks and threads distribute the work
// instead.
bool repeats_in_block(LoopKind kind) {
  return kind == LoopKind::kSerial || kind == LoopKind::kUnrolled || kind == LoopKind::kRolled;
}

bool is_counted(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return true;
    case BinaryOp::kMod:
    case BinaryOp::kXor:
    case BinaryOp::kLt:
    case BinaryOp::kLe:
    case BinaryOp::kEq:
    case BinaryOp::kAnd:
      return false;
  }
  return false;
}

class Walker {
 public:
  explicit Walker(const Kernel& kernel)
      : kernel_(kernel),
        nest_{0, {}, std::pmr::vector<VarBinding>(kernel.vars.size(), arena_.memory())},
        form_(arena_.memory()),
        global_(arena_.memory()) {
    // Reserves memory: a GEMM with its tail copies has some 50 loops and accesses, and growing the vectors
    // would copy them all.
    out_.loops.reserve(64);
    out_.accesses.reserve(64);
    out_.let_moves_with.resize(kernel.vars.size());
  }

  Analysis run() {
    const Let rows = kernel_.rows ? Let{kernel_.rows->var, ir::integer(kernel_.rows->usual)} : Let{};
    if (kernel_.rows) visit(rows);
    block(kernel_.body);
    // Children come after their parents, so one backward pass sums up the nest.
    for (std::size_t i = out_.loops.size(); i-- > 0;) {
      const LoopInfo& loop = out_.loops[i];
      (loop.parent >= 0 ? out_.loops[static_cast<std::size_t>(loop.parent)].flops : out_.flops) += loop.flops;
    }
    out_.launch = launch_of(kernel_, launch_loops_);
    out_.shared_bytes = out_.launch.shared_bytes;
    for (const Buffer& buffer : kernel_.buffers) {
      const std::int64_t bytes = buffer.elements * size_of(buffer.type);
      if (buffer.scope == Scope::kRegister) out_.register_bytes += bytes;
      if (buffer.scope == Scope::kScratch) out_.scratch_bytes += (bytes + 63) / 64 * 64;
    }
    out_.unique_global_bytes = global_.bytes(kernel_);
    return std::move(out_);
  }

 private:
  struct Value {
    bool is_data;  // has a Load or Float at a value position
    int lanes;
  };

  void block(const Block& statements) {
    for (const Stmt& stmt : statements) ir::visit(stmt, [&](const auto& node) { visit(node); });
  }

  void visit(const For& loop) {
    CHECK(nest_.depth < kMaxLoopDepth, "loops nest deeper than {}", kMaxLoopDepth);
    if (!as_constant(loop.extent)) integer(loop.extent);
    launch_loops_.add(loop);
    const int outer_loop = loop_;
    const double outer_executions = executions_;
    const double outer_in_block = in_block_;
    loop_ = static_cast<int>(out_.loops.size());
    executions_ *= static_cast<double>(loop.bound);
    const double outer_threads = threads_;
    if (is_thread(loop.kind)) threads_ *= static_cast<double>(loop.bound);
    if (repeats_in_block(loop.kind)) in_block_ *= static_cast<double>(loop.bound);
    out_.loops.push_back({loop.var, loop.bound, loop.kind, nest_.depth, outer_loop, executions_, 0});
    nest_.extents[static_cast<std::size_t>(nest_.depth)] = loop.bound;
    nest_.vars[static_cast<std::size_t>(loop.var)] = {nest_.depth, nullptr, nullptr};
    ++nest_.depth;
    block(loop.body);
    --nest_.depth;
    in_block_ = outer_in_block;
    executions_ = outer_executions;
    threads_ = outer_threads;
    loop_ = outer_loop;
  }

  void visit(const Store& store) {
    const bool guarded = store.active.has_value();
    record(store.buffer, store.index, store.lanes, true, guarded, false);
    if (guarded) integer(*store.active);
    value(store.value);
  }

  void visit(const If& branch) {
    value(branch.condition);
    out_.guards += executions_;
    if (branch.threads > 0) {
      const double threads = threads_;
      by_threads(branch.then, static_cast<double>(branch.threads));
      by_threads(branch.otherwise, threads - static_cast<double>(branch.threads));
      return;
    }
    ++guards_;
    block(branch.then);
    block(branch.otherwise);
    --guards_;
  }

  /// Walks `statements`, which `threads` of the current threads execute.
  void by_threads(const Block& statements, double threads) {
    const double executions = executions_, before = threads_;
    executions_ *= threads / before;
    threads_ = threads;
    block(statements);
    executions_ = executions;
    threads_ = before;
  }

  void visit(const Let& let) {
    // Never destroyed, because all its memory lies in the arena.
    std::pmr::polymorphic_allocator<> arena(arena_.memory());
    IndexForm& form = *arena.new_object<IndexForm>(arena_.memory());
    read_index(let.value, nest_, form);
    nest_.vars[static_cast<std::size_t>(let.var)] = {-1, &let.value, &form};
    out_.let_moves_with[static_cast<std::size_t>(let.var)] = form.loops;
    count_integer_work(form);
  }

  void visit(const Alloc&) {}

  void visit(const Barrier& barrier) {
    if (barrier.scope != BarrierScope::kWarp) out_.barriers += in_block_;
  }

  void visit(const Intrinsic& intrinsic) {
    const IntrinsicKind kind = kind_of(intrinsic.name);
    const bool copies = is_cp_async(kind);
    const bool asynchronous = copies || is_tma(kind);
    // The argument of an asynchronous copy is the number of bytes that it reads; it fills the rest with
    // zeros.
    const bool partial = copies && !intrinsic.args.empty() && !as_constant(intrinsic.args[0]);
    for (const Touch& touch : intrinsic.touches) {
      const int guard = touch.partial || (partial && !touch.writes) ? 1 : 0;
      guards_ += guard;
      record(touch.buffer, touch.index, static_cast<int>(touch.elements), touch.writes, false, asynchronous,
             touch.rows, touch.row_stride, touch.copies);
      guards_ -= guard;
    }
    for (const Expr& arg : intrinsic.args) integer(arg);
    flops(intrinsic.flops);
    if (kind == IntrinsicKind::kAsyncWait && !intrinsic.args.empty())
      if (const auto left = as_constant(intrinsic.args[0]))
        out_.pipeline_depth = std::max(out_.pipeline_depth, static_cast<int>(*left) + 1);
    if (kind == IntrinsicKind::kBarrierExpects)  // one barrier, of two words, for each buffer in flight
      out_.pipeline_depth = std::max(
          out_.pipeline_depth, static_cast<int>(kernel_.buffer(intrinsic.touches[0].buffer).elements / 2));
  }

  Value value(const Expr& expr) {
    return expr.visit(overloaded{
        [](const Int&) { return Value{false, 1}; },
        [](const Float&) { return Value{true, 1}; },
        [](const Var&) { return Value{false, 1}; },
        [&](const Binary& n) { return binary(n); },
        [&](const Unary& n) {
          const int lanes = value(n.value).lanes;
          flops(flops_of(n.op) * lanes);
          return Value{true, lanes};
        },
        [&](const Load& n) {
          load(n);
          return Value{true, n.lanes};
        },
        [&](const Splat& n) { return Value{value(n.value).is_data, n.lanes}; },
        [&](const Fma& n) {
          const int lanes = value(n.a).lanes;
          value(n.b);
          flops(2.0 * lanes);
          return Value{true, value(n.c).lanes};
        },
        [&](const Reduce& n) {
          const Value all = value(n.value);
          flops(all.lanes - 1);
          return Value{all.is_data, 1};
        },
        [&](const Cast& n) { return value(n.value); },
        [&](const Select& n) {
          const int guards = value(n.condition).lanes == 1 ? 1 : 0;
          out_.guards += executions_ * guards;
          guards_ += guards;
          const Value a = value(n.a);
          const Value b = value(n.b);
          guards_ -= guards;
          return Value{a.is_data || b.is_data, a.lanes};
        },
    });
  }

  Value binary(const Binary& n) {
    const Value a = value(n.a);
    const Value b = value(n.b);
    const bool is_data = a.is_data || b.is_data;
    if (!is_data) {
      out_.integer_operations += executions_;
      const auto divisor = as_constant(n.b);
      const bool divides = n.op == BinaryOp::kDiv || n.op == BinaryOp::kMod;
      if (divides && !(divisor && is_power_of_two(*divisor))) out_.integer_divisions += executions_;
    } else if (is_counted(n.op)) {
      flops(a.lanes);
    }
    return {is_data && is_counted(n.op), a.lanes};
  }

  void load(const Load& n) {
    record(n.buffer, n.index, n.lanes, false, n.active.has_value(), false);
    if (n.active) integer(*n.active);
  }

  // Counts the operations of an integer expression that is not an index.
  void integer(const Expr& expr) {
    if (expr.as_int() || expr.as_var()) return;
    count_operations(expr, nest_, form_);
    count_integer_work(form_);
  }

  void count_integer_work(IndexForm& form) {
    out_.integer_operations += executions_ * form.operations;
    out_.integer_divisions += executions_ * form.divisions;
    if (form.loads.empty()) return;
    // Moved out, because what follows reuses form_.
    const std::pmr::vector<const Load*> inner = std::move(form.loads);
    form.loads.clear();
    for (const Load* each : inner) load(*each);
  }

  void record(BufferId id, const Expr& index, int lanes, bool writes, bool active, bool asynchronous,
              std::int64_t rows = 1, std::int64_t row_stride = 0, std::int64_t copies = 1) {
    const Buffer& buffer = kernel_.buffer(id);
    read_index(index, nest_, form_);
    const auto depth = static_cast<std::size_t>(nest_.depth);
    if (active) out_.guards += executions_;

    Access& access = out_.accesses.emplace_back();
    access.buffer = id;
    access.writes = writes;
    access.lanes = lanes;
    access.loop = loop_;
    access.executions = executions_;
    access.guarded = active || guards_ > 0;
    access.asynchronous = asynchronous;
    access.gathers = !form_.loads.empty();
    access.divisions = form_.divisions;
    access.moves_with = form_.loops;
    access.offset = form_.offset;
    access.strides.resize(depth);
    for (std::size_t d = 0; d < depth; ++d) access.strides[d] = form_.motions[d].stride;
    if (is_cached(buffer.scope)) {
      access.footprint.resize(depth);
      const Run run{lanes / static_cast<int>(rows), rows, row_stride};
      const IndexRange range = footprints(form_, nest_, run, buffer.elements, access.footprint);
      if (buffer.scope == Scope::kGlobal)
        global_.add(id, range, depth == 0 ? static_cast<double>(lanes) : access.footprint[0]);
    }
    const double bytes = executions_ * lanes * size_of(buffer.type) * static_cast<double>(copies);
    Traffic& traffic = traffic_of(buffer.scope);
    (writes ? traffic.written_bytes : traffic.read_bytes) += bytes;
    count_integer_work(form_);
  }

  Traffic& traffic_of(Scope scope) {
    switch (scope) {
      case Scope::kGlobal:
        return out_.global;
      case Scope::kScratch:
        return out_.scratch;
      case Scope::kShared:
        return out_.shared;
      case Scope::kRegister:
        return out_.registers;
    }
    return out_.global;
  }

  void flops(double each) {
    (loop_ >= 0 ? out_.loops[static_cast<std::size_t>(loop_)].flops : out_.flops) += each * executions_;
  }

  const Kernel& kernel_;
  LocalArena<32 << 10> arena_;  // enough for most kernels
  Analysis out_;
  LoopNest nest_;
  IndexForm form_;
  TouchedBytes global_;
  LaunchLoops launch_loops_;
  int loop_ = -1;          // innermost enclosing loop
  double executions_ = 1;  // product of the bounds of the enclosing loops
  double in_block_ = 1;    // product of the bounds of the enclosing loops that repeat within one block
  double threads_ = 1;     // number of threads of a block that execute the current statement
  int guards_ = 0;         // number of enclosing Ifs and Selects
};

}  // namespace

Analysis analyze(const Kernel& kernel) {
  return Walker(kernel).run();
}

}  // namespace lehr::ir
