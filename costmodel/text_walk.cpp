// One walk over the AST for facts that are not in the analysis.
#include "costmodel/text_walk.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "base/power_of_two.h"
#include "costmodel/columns.h"
#include "costmodel/lane_values.h"
#include "costmodel/warp_access.h"
#include "ir/intrinsics.h"

namespace lehr {
namespace {

using ir::LoopKind;

/// Minimum fraction of executions that a branch is given: the sample may miss a branch that is rarely taken.
constexpr double kLeastShare = 1.0 / 64;
/// Bytes per cycle of one SM, without conflicts: 32 banks of 4 bytes (CUDA C++ Programming Guide, compute
/// capability 5.x and newer).
constexpr double kSharedBytesPerCycle = 128;

/// Properties of an expression.
struct ExprFacts {
  int lanes = 1;
  bool is_float = false;
  /// The enclosing loops on which the expression depends, one bit per depth; loops deeper than 63 share the
  /// last bit.
  std::uint64_t depends = 0;
  int bytes = 4;  ///< bytes of a lane, as it was loaded or cast
};

struct OpenLoop {
  LoopKind kind;
  double bound;
};

std::uint64_t bit_of(std::size_t depth) {
  return std::uint64_t{1} << std::min<std::size_t>(depth, 63);
}

class Walker {
 public:
  Walker(const ir::Kernel& kernel, const ir::Analysis& analysis, std::pmr::memory_resource* memory)
      : kernel_(kernel),
        analysis_(analysis),
        values_(kernel, analysis.launch, memory),
        facts_(memory),
        depends_(kernel.vars.size(), memory),
        open_(memory) {
    open_.reserve(ir::kMaxLoopDepth);
    facts_.hints.assign(kernel.buffers.size(), 0);
    facts_.block_starts.assign(kernel.buffers.size(), 0);
    facts_.accesses.reserve(analysis.accesses.size());
  }

  void block(const ir::Block& block) {
    const double alive = alive_;
    for (const ir::Stmt& stmt : block) {
      facts_.statements += copies_;
      ir::visit(stmt, [this](const auto& node) { statement(node); });
    }
    alive_ = alive;
  }

  TextFacts take() {
    CHECK(next_access_ == analysis_.accesses.size(), "the analysis is of another kernel");
    WarpFacts& w = facts_.warp;
    w.load_ratio = share_of(w.load_ratio, loaded_);
    w.store_ratio = share_of(w.store_ratio, stored_);
    w.read_conflict = share_of(w.read_conflict, read_);
    w.write_conflict = share_of(w.write_conflict, written_);
    if (all_flops_ > 0) facts_.flops_share = std::clamp(flops_ / all_flops_, kLeastShare, 1.0);
    return std::move(facts_);
  }

 private:
  double executed() const { return executions_ * share_; }

  void statement(const ir::For& loop) {
    const double executions = executions_, copies = copies_, share = share_;
    const std::uint64_t unrolled = unrolled_;
    const ExprFacts extent = loop.extent.as_int() ? ExprFacts() : expression(loop.extent);
    const double threads = threads_;
    if (is_thread(loop.kind)) threads_ *= static_cast<double>(loop.bound);
    values_.bind(loop);
    const auto bound = static_cast<double>(std::max<std::int64_t>(0, loop.bound));
    if (extent.depends != 0 && bound > 0) {
      double sum = 0;
      for (const std::int32_t e : values_.evaluate(loop.extent, LaneValues::Points::kSample).all())
        sum += std::max(e, 0);
      const double mean = std::clamp(sum / 32 / bound, kLeastShare, 1.0);
      share_ *= mean;
      if ((extent.depends & blocks_) != 0) facts_.balance = std::min(facts_.balance, mean);
    }
    depends_[static_cast<std::size_t>(loop.var)] = bit_of(open_.size());
    executions_ *= bound;
    const std::uint64_t blocks = blocks_;
    if (is_block(loop.kind)) blocks_ |= bit_of(open_.size());
    if (loop.kind == LoopKind::kUnrolled) {
      copies_ *= bound;
      unrolled_ |= bit_of(open_.size());
    }
    open_.push_back({loop.kind, bound});
    block(loop.body);
    open_.pop_back();
    executions_ = executions;
    copies_ = copies;
    share_ = share;
    threads_ = threads;
    unrolled_ = unrolled;
    blocks_ = blocks;
  }
  void statement(const ir::Store& store) {
    access(store.buffer, store.index, store.lanes, true);
    if (store.active) count(*store.active);
    count(store.value);
  }
  /// Returns the fraction of the sample for which the condition holds. Values in memory are not known: a
  /// value that is compared with a constant c is assumed to be any of 0 to c with equal probability, which
  /// holds for the ticket of blocks that split k.
  double share_taken(const ir::Expr& condition) {
    if (const auto compared = condition.as_binary(); compared && compared->op == ir::BinaryOp::kEq) {
      const auto constant = ir::as_constant(compared->b);
      if (constant && *constant > 0 && compared->a.as_load())
        return 1.0 / (static_cast<double>(*constant) + 1);
    }
    const LaneValue taken = values_.evaluate(condition, LaneValues::Points::kSample);
    if (taken.is_uniform()) return taken.scalar != 0 ? 1 : 0;
    return static_cast<double>(32 - std::ranges::count(taken.all(), 0)) / 32;
  }
  void statement(const ir::If& branch) {
    count(branch.condition);
    if (branch.threads > 0) return by_threads(branch);
    const double p = share_taken(branch.condition);
    const double share = share_;
    const int outer = branch_;
    branch_ = ++branches_;
    share_ = share * std::max(kLeastShare, p);
    block(branch.then);
    branch_ = ++branches_;
    share_ = share * std::max(kLeastShare, 1 - p);
    block(branch.otherwise);
    share_ = share;
    branch_ = outer;
  }
  /// Walks a branch that states its threads. The analysis counts such branches exactly, so only the number of
  /// threads changes, not the fraction of executions.
  void by_threads(const ir::If& branch) {
    const double threads = threads_, executions = executions_;
    const int outer = branch_;
    for (const bool taken : {true, false}) {
      const double part = static_cast<double>(branch.threads);
      threads_ = taken ? part : threads - part;
      executions_ = executions * threads_ / threads;
      branch_ = ++branches_;
      block(taken ? branch.then : branch.otherwise);
    }
    threads_ = threads;
    executions_ = executions;
    branch_ = outer;
  }
  void statement(const ir::Let& let) {
    const auto var = static_cast<std::size_t>(let.var);
    depends_[var] =
        let.value.is_plain_index() ? analysis_.let_moves_with[var] : expression(let.value).depends;
    values_.bind(let);
  }
  void statement(const ir::Alloc& alloc) {
    const ir::Buffer& buffer = kernel_.buffer(alloc.buffer);
    if (buffer.scope != ir::Scope::kRegister) return;
    alive_ += static_cast<double>(buffer.elements) * size_of(buffer.type);
    facts_.register_bytes = std::max(facts_.register_bytes, alive_);
  }
  void statement(const ir::Barrier&) {}
  void statement(const ir::Intrinsic& intrinsic) {
    const ir::IntrinsicKind kind = ir::kind_of(intrinsic.name);
    facts_.intrinsic_flops += executed() * intrinsic.flops;
    if (intrinsic.flops > 0 && !facts_.matrix_unit) facts_.matrix_unit = ir::matrix_unit(intrinsic.name);
    count_flops(intrinsic.flops);
    const bool prefetch = kind == ir::IntrinsicKind::kPrefetch;
    if (prefetch) {
      facts_.prefetches += executed();
      facts_.prefetch_distance = std::max(facts_.prefetch_distance, distance_to_read(next_access_));
    }
    const bool tma = ir::is_tma(kind);
    const bool async = tma || ir::is_cp_async(kind);
    for (const ir::Touch& touch : intrinsic.touches) {
      const auto elements = static_cast<double>(touch.elements);
      if (prefetch) {
        index_of_access(touch.index);
      } else if (tma && touch.elements > 0) {
        box(touch);
      } else if (touch.elements > 0) {
        access(touch.buffer, touch.index, static_cast<int>(std::clamp(elements, 1.0, 1e6)), touch.writes);
      } else {
        index_of_access(touch.index);
      }
      if (async && touch.writes) {
        facts_.async_bytes += executed() * elements * static_cast<double>(touch.copies) *
                              size_of(kernel_.buffer(touch.buffer).type);
      }
    }
    for (const ir::Expr& arg : intrinsic.args) count(arg);
    if (kind == ir::IntrinsicKind::kAsyncWait) {
      const auto pending = intrinsic.args.empty() ? std::nullopt : ir::as_constant(intrinsic.args[0]);
      facts_.pipeline_depth = std::max(facts_.pipeline_depth, 1.0 + static_cast<double>(pending.value_or(0)));
    }
    if (kind == ir::IntrinsicKind::kSetRegisters) {
      const auto count = static_cast<double>(ir::as_constant(intrinsic.args[0]).value_or(0));
      facts_.granted_registers = std::max(facts_.granted_registers, count);
    }
    if (kind == ir::IntrinsicKind::kTmaLoad) {
      facts_.hints[static_cast<std::size_t>(intrinsic.touches[1].buffer)] =
          static_cast<int>(ir::as_constant(intrinsic.args[0]).value_or(0));
    }
    if (kind == ir::IntrinsicKind::kBarrierExpects) {  // one barrier, of two words, for each buffer in flight
      const auto words = static_cast<double>(kernel_.buffer(intrinsic.touches[0].buffer).elements);
      facts_.pipeline_depth = std::max(facts_.pipeline_depth, words / 2);
      facts_.stage_turns += executed() / threads_;
    }
    if (kind == ir::IntrinsicKind::kProductsWait && ir::as_constant(intrinsic.args[0]) == 0)
      facts_.product_waits += executed() / threads_;
  }

  /// Counts the operations of an expression for the features. Plain indices are not counted.
  void count(const ir::Expr& expr) {
    if (!expr.is_plain_index()) expression(expr);
  }
  ExprFacts expression(const ir::Expr& expr) {
    return expr.visit([this](const auto& node) { return facts_of(node); });
  }
  ExprFacts facts_of(const ir::Int&) { return {}; }
  ExprFacts facts_of(const ir::Float&) { return {1, true, 0}; }
  ExprFacts facts_of(const ir::Var& v) { return {1, false, depends_[static_cast<std::size_t>(v.id)]}; }
  ExprFacts facts_of(const ir::Binary& b) {
    const ExprFacts x = expression(b.a), y = expression(b.b);
    const ExprFacts result{std::max(x.lanes, y.lanes), x.is_float || y.is_float, x.depends | y.depends};
    if (result.is_float) {
      arithmetic(result.lanes, 1);
    } else if ((b.op == ir::BinaryOp::kDiv || b.op == ir::BinaryOp::kMod) &&
               (result.depends & ~unrolled_) != 0) {
      const auto divisor = ir::as_constant(b.b);
      if (!divisor || !is_power_of_two(*divisor)) facts_.divisions += executed();
    }
    return result;
  }
  ExprFacts facts_of(const ir::Load& load) {
    access(load.buffer, load.index, load.lanes, false);
    if (load.active) count(*load.active);
    return {load.lanes, true, ~std::uint64_t{0}, size_of(kernel_.buffer(load.buffer).type)};
  }
  ExprFacts facts_of(const ir::Unary& unary) {
    const ExprFacts x = expression(unary.value);
    arithmetic(x.lanes, static_cast<int>(flops_of(unary.op)));
    return x;
  }
  ExprFacts facts_of(const ir::Splat& splat) {
    ExprFacts x = expression(splat.value);
    x.lanes = splat.lanes;
    return x;
  }
  ExprFacts facts_of(const ir::Fma& fma) {
    const ExprFacts x = expression(fma.a), y = expression(fma.b), z = expression(fma.c);
    if (x.lanes <= z.lanes) {
      arithmetic(std::max(y.lanes, z.lanes), 2);
    } else {  // several neighbours: one instruction per vector of the multiplied values
      arithmetic(x.lanes * x.bytes / 4, 2.0 * 4 / x.bytes);
      facts_.products_per_lane = std::max(facts_.products_per_lane, 4.0 / x.bytes);
    }
    return {z.lanes, true, x.depends | y.depends | z.depends};
  }
  ExprFacts facts_of(const ir::Reduce& reduce) {
    // A reduction is a tree: each step has half as many lanes as the step before.
    const ExprFacts x = expression(reduce.value);
    for (int step = x.lanes; step > 1; step /= 2) arithmetic(step / 2, 1);
    return {1, true, x.depends};
  }
  ExprFacts facts_of(const ir::Cast& cast) {
    ExprFacts x = expression(cast.value);
    x.bytes = size_of(cast.type);
    return x;
  }
  ExprFacts facts_of(const ir::Select& select) {
    const ExprFacts c = expression(select.condition), x = expression(select.a), y = expression(select.b);
    return {std::max(x.lanes, y.lanes), x.is_float || y.is_float, c.depends | x.depends | y.depends};
  }

  void arithmetic(int lanes, double flops_per_lane) {
    facts_.arithmetic += executed();
    facts_.arithmetic_lanes += executed() * lanes;
    count_flops(flops_per_lane * lanes);
  }
  void count_flops(double flops) {
    flops_ += executed() * flops;
    all_flops_ += executions_ * flops;
  }

  /// Returns the number of elements between the last read of the accessed buffer in the text and the address
  /// of access `at`.
  double distance_to_read(std::size_t at) const {
    const ir::Access& fetched = analysis_.accesses[at];
    while (at-- > 0) {
      const ir::Access& read = analysis_.accesses[at];
      if (read.buffer == fetched.buffer && !read.writes)
        return std::abs(static_cast<double>(fetched.offset - read.offset));
    }
    return 0;
  }

  // Returns the loops on which an index depends, as ExprFacts::depends. The analysis has already read all
  // indices, in the same order.
  std::uint64_t index_of_access(const ir::Expr& index) {
    CHECK(next_access_ < analysis_.accesses.size(), "the analysis is of another kernel");
    const ir::Access& access = analysis_.accesses[next_access_++];
    facts_.accesses.push_back({share_, branch_});
    if (access.gathers) return expression(index).depends;
    if (access.divisions != 0 && (access.moves_with & ~unrolled_) != 0)
      facts_.divisions += executed() * access.divisions;
    return access.moves_with;
  }

  void access(ir::BufferId id, const ir::Expr& index, int lanes, bool writes) {
    const std::uint64_t depends = index_of_access(index);
    const ir::Buffer& buffer = kernel_.buffer(id);
    if (buffer.scope == ir::Scope::kRegister) return;  // its index is a constant once unrolled
    // After unrolling, an access whose address does not depend on the innermost unrolled loops is executed
    // once.
    double issued = executed();
    for (std::size_t i = open_.size(); i-- > 0 && open_[i].kind == LoopKind::kUnrolled;) {
      if ((depends & bit_of(i)) == 0) issued /= std::max(1.0, open_[i].bound);
    }
    facts_.memory_instructions += issued;
    if (!kernel_.target.has(Feature::kBlocks)) return;  // there are no warps
    warp_access(buffer, index, lanes, writes, issued);
    if (!writes) begin_to_read(id, index);
  }

  void begin_to_read(ir::BufferId id, const ir::Expr& index) {
    int& starts = facts_.block_starts[static_cast<std::size_t>(id)];
    if (starts == 0 && kernel_.buffer(id).scope == ir::Scope::kGlobal)
      starts = distinct_values(values_.evaluate(index, LaneValues::Points::kBlocks));
  }

  /// Counts the access of a TMA box. One thread moves it, in whole lines and without bank conflicts (the box
  /// is swizzled).
  void box(const ir::Touch& touch) {
    const ir::Buffer& buffer = kernel_.buffer(touch.buffer);
    const double bytes =
        static_cast<double>(touch.elements * touch.copies) * size_of(buffer.type) * executed();
    facts_.memory_instructions += executed();
    index_of_access(touch.index);
    if (!touch.writes) begin_to_read(touch.buffer, touch.index);
    WarpFacts& w = facts_.warp;
    const bool global = buffer.scope == ir::Scope::kGlobal;
    if (global && touch.writes) facts_.accelerator_written += bytes;
    double& mean = global ? (touch.writes ? w.store_ratio : w.load_ratio)
                          : (touch.writes ? w.write_conflict : w.read_conflict);
    mean += bytes;
    (global ? (touch.writes ? stored_ : loaded_) : (touch.writes ? written_ : read_)) += bytes;
    (global ? w.sector_bytes : w.shared_cycles) += global ? bytes : bytes / kSharedBytesPerCycle;
  }

  void warp_access(const ir::Buffer& buffer, const ir::Expr& index, int lanes, bool writes, double issued) {
    const int element = size_of(buffer.type);
    const double bytes = static_cast<double>(lanes) * element;
    const double weight = issued * bytes;
    WarpFacts& w = facts_.warp;
    const LaneValue where = values_.evaluate(index, LaneValues::Points::kWarp);
    if (buffer.scope == ir::Scope::kGlobal) {
      const double sectors = sectors_of_warp(where, bytes, element);
      const double ratio = sectors / std::max(1.0, std::ceil(32 * bytes / kSectorBytes));
      (writes ? w.store_ratio : w.load_ratio) += weight * ratio;
      (writes ? stored_ : loaded_) += weight;
      w.worst_ratio = std::max(w.worst_ratio, ratio);
      w.sector_bytes += sectors * kSectorBytes * issued / 32;
    } else if (buffer.scope == ir::Scope::kShared) {
      const double degree = bank_conflict_degree(where, bytes, element);
      (writes ? w.write_conflict : w.read_conflict) += weight * degree;
      (writes ? written_ : read_) += weight;
      w.worst_conflict = std::max(w.worst_conflict, degree);
      w.shared_cycles += issued / 32 * std::max(1.0, bytes / 4) * degree;
    }
  }

  const ir::Kernel& kernel_;
  const ir::Analysis& analysis_;
  std::size_t next_access_ = 0;
  LaneValues values_;
  TextFacts facts_;
  std::pmr::vector<std::uint64_t> depends_;  // per variable, as ExprFacts::depends
  std::pmr::vector<OpenLoop> open_;          // enclosing loops
  std::uint64_t unrolled_ = 0;               // which of open_ are unrolled
  std::uint64_t blocks_ = 0;                 // which of open_ are loops of the grid
  double executions_ = 1;                    // product of the enclosing bounds
  double share_ = 1;                         // fraction of executions_ that takes place
  double copies_ = 1;                        // number of copies of the statement in the unrolled text
  double threads_ = 1;                       // number of threads of a block that execute the statement
  int branch_ = 0, branches_ = 0;            // innermost side of an If, and number of sides so far
  double alive_ = 0;                         // bytes of register buffers that are alive
  double flops_ = 0, all_flops_ = 0;
  double loaded_ = 0, stored_ = 0, read_ = 0, written_ = 0;  // weights of the means of WarpFacts, in bytes
};

}  // namespace

TextFacts walk_text(const ir::Kernel& kernel, const ir::Analysis& analysis,
                    std::pmr::memory_resource* memory) {
  Walker walker(kernel, analysis, memory);
  walker.block(kernel.body);
  return walker.take();
}

}  // namespace lehr
