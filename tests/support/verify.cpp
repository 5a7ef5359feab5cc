// Checks a kernel and returns what is wrong with it, or nullopt: the rules of statements (scopes, loops,
// buffers, barriers). The rules of expressions are in verify_expr.cpp.
#include "tests/support/verify.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "base/overloaded.h"
#include "base/power_of_two.h"
#include "base/text.h"
#include "ir/intrinsics.h"
#include "ir/print.h"
#include "tests/support/verify_declarations.h"
#include "tests/support/verify_expr.h"
#include "tests/support/verify_targets.h"

namespace lehr::ir {
namespace {

constexpr std::array kOrdinals = {"first", "second", "third"};
bool is_block_or_thread(LoopKind kind) {
  return kind >= LoopKind::kBlockX;
}
// True if `lanes` is a constant number of lanes that divides a warp.
bool is_lane_group(const Expr& lanes) {
  const std::int64_t count = as_constant(lanes).value_or(0);
  return count <= 32 && is_power_of_two(count);
}
// True if groups of this many consecutive threads that agree on a value consist of whole warps.
bool of_whole_warps(std::int64_t group) {
  return group == kAllAlike || group % 32 == 0;
}
class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel), scope_(kernel), written_(kernel.buffers.size()) {}

  std::optional<std::string> run() {
    if (declarations() && prepack() && rows() && block(kernel_.body)) at_end();
    return std::move(error_);
  }

 private:
  // Sets the message, with the path of enclosing statements in front, and returns false.
  template <typename... Args>
  bool fail(fmt::format_string<Args...> format, Args&&... args) {
    std::string place;
    for (const std::string& frame : path_) place += (place.empty() ? "in " : " > ") + frame;
    if (place.empty()) place = "in kernel " + kernel_.name;
    error_ = place + ": " + fmt::format(format, std::forward<Args>(args)...);
    return false;
  }
  bool has(Feature feature) const { return kernel_.target.has(feature); }
  bool allows(bool Allowed::* what) const { return ir::allows(kernel_.target, what); }
  // Turns a complaint of the expression checker into the verifier's message.
  bool passes(const std::optional<std::string>& complaint) { return !complaint || fail("{}", *complaint); }

  bool rows() {
    if (!kernel_.rows) return true;
    const Rows& rows = *kernel_.rows;
    if (has(Feature::kBlocks)) return fail("its launch tells no number of rows");
    if (rows.usual < 1 || rows.usual > rows.most)
      return fail("{} rows are usual, of {} at most", rows.usual, rows.most);
    return bind(rows.var, {});
  }

  bool declarations() {
    if (auto complaint = why_bad_declarations(kernel_)) return fail("{}", *complaint);
    for (const Param& param : kernel_.params) scope_.set_alive(param.buffer, true);
    scope_.set_early(kernel_.programmatic);
    return true;
  }

  bool prepack() {
    if (kernel_.prepack.empty()) return true;
    if (!allows(&Allowed::prepack))
      return fail("it prepacks, which only kernels for {} do", names_with(&Allowed::prepack));
    in_prepack_ = true;
    if (!block(kernel_.prepack)) return false;
    in_prepack_ = false;
    launch_extents_ = {};
    return true;
  }

  bool at_end() {
    path_.clear();
    if (kernel_.programmatic && !lets_next_begin_)
      return fail("it may overlap the next launch and never lets it begin");
    for (const Param& param : kernel_.params)
      if (param.direction != Direction::kIn && !written_[index_of(param.buffer)])
        return fail("{} parameter {} is never written",
                    param.direction == Direction::kOut ? "output" : ir::name_of(param.direction),
                    name(param.buffer));
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const Scope where = kernel_.buffers[i].scope;
      if (where != Scope::kGlobal && allocated_.count(static_cast<BufferId>(i)) == 0)
        return fail("buffer {} ({}) has no Alloc", kernel_.buffers[i].name, name_of(where));
    }
    return true;
  }

  bool block(const Block& statements) {
    std::vector<VarId> bound;
    std::vector<BufferId> alive;
    for (const Stmt& stmt : statements) {
      const std::size_t depth = path_.size();
      if (!std::visit([&](const auto& node) { return check(node, bound, alive); }, stmt.node)) return false;
      path_.resize(depth);
    }
    for (const VarId var : bound) scope_.unbind(var);
    for (const BufferId buffer : alive) scope_.set_alive(buffer, false);
    return true;
  }

  bool bind(VarId var, VarFacts facts) {
    if (!scope_.has(var)) return fail("binds variable #{}, which does not exist", static_cast<int>(var));
    if (scope_.is_bound(var)) return fail("variable {} is already bound here", kernel_.name_of(var));
    scope_.bind(var, facts);
    return true;
  }

  bool check(const For& loop, std::vector<VarId>&, std::vector<BufferId>&) {
    path_.push_back("loop " + (scope_.has(loop.var) ? kernel_.name_of(loop.var) : "?"));
    const auto constant = as_constant(loop.extent);
    if (!passes(scope_.check_index(loop.extent, "the extent"))) return false;
    if (!constant && loop.kind != LoopKind::kSerial && loop.kind != LoopKind::kRolled)
      return fail("a loop of kind {} needs a constant extent, not {}", name_of(loop.kind),
                  to_text(loop.extent, kernel_));
    if (constant && *constant != loop.bound)
      return fail("the bound {} is not the extent {}", loop.bound, *constant);
    if (loop.bound < 1) return fail("the bound is {}, it must be at least 1", loop.bound);
    if (!launch_rules(loop)) return false;

    const std::int64_t agreeing = constant ? kAllAlike : scope_.group_of(loop.extent);
    VarFacts facts;
    facts.is_static = loop.kind == LoopKind::kUnrolled;
    facts.group = is_thread(loop.kind) ? 1 : agreeing;
    facts.threads_per_value = loop.kind == LoopKind::kThreadX ? 1 : 0;
    if (!bind(loop.var, facts)) return false;
    const auto outer_mask = launch_mask_;
    if (loop.kind >= LoopKind::kParallel) launch_mask_ |= 1u << static_cast<unsigned>(loop.kind);
    ++nesting_;
    const std::int64_t outer_group = group_;
    group_ = std::min(group_, agreeing);
    if (!block(loop.body)) return false;
    group_ = outer_group;
    --nesting_;
    launch_mask_ = outer_mask;
    scope_.unbind(loop.var);
    return true;
  }

  bool launch_rules(const For& loop) {
    if (loop.kind < LoopKind::kParallel) return true;
    if (!has(is_block_or_thread(loop.kind) ? Feature::kBlocks : Feature::kHostFunction))
      return fail("a loop of kind {} does not exist on target {}", name_of(loop.kind),
                  lehr::name_of(kernel_.target));
    if (loop.kind == LoopKind::kParallel && nesting_ > 0) return fail("a parallel loop must be outermost");
    if ((launch_mask_ >> static_cast<unsigned>(loop.kind) & 1u) != 0)
      return fail("{} is already bound by an enclosing loop", name_of(loop.kind));
    if (loop.kind == LoopKind::kBlockX && loop.bound % kernel_.cluster != 0)
      return fail("{} blocks do not divide into clusters of {}", loop.bound, kernel_.cluster);
    std::int64_t& extent = launch_extents_[static_cast<std::size_t>(loop.kind)];
    if (extent != 0 && extent != loop.bound)
      return fail("{} has extent {} here and {} elsewhere", name_of(loop.kind), loop.bound, extent);
    extent = loop.bound;
    return true;
  }

  bool check(const Store& store, std::vector<VarId>&, std::vector<BufferId>&) {
    path_.push_back("store to " + name(store.buffer));
    if (!passes(scope_.check_access(store.buffer, store.index, store.lanes, store.active))) return false;
    if (const Param* param = kernel_.param_of(store.buffer); param != nullptr && param->map)
      return fail("{} has a tensor map and no address", name(store.buffer));
    if (!writable(store.buffer)) return false;
    const bool streams = allows(&Allowed::groups) && kernel_.buffer(store.buffer).scope == Scope::kGlobal;
    if (store.streaming && !streams)
      return fail("only parameters of target {} are written past the caches", names_with(&Allowed::groups));
    int lanes = 0;
    if (!passes(scope_.check_value(store.value, lanes))) return false;
    return lanes == store.lanes || fail("stores {} lanes of a value that has {}", store.lanes, lanes);
  }

  bool check(const If& branch, std::vector<VarId>&, std::vector<BufferId>&) {
    path_.push_back("if " + to_text(branch.condition, kernel_));
    int lanes = 0;
    if (!passes(scope_.check_value(branch.condition, lanes))) return false;
    if (lanes != 1) return fail("the condition has {} lanes, it must have 1", lanes);
    if (branch.threads < 0 || (branch.threads > 0 && !has(Feature::kBlocks)))
      return fail("{} threads take it", branch.threads);
    const std::int64_t outer_group = group_;
    ++nesting_;
    group_ = std::min(group_, scope_.group_of(branch.condition));
    if (!block(branch.then)) return false;
    path_.back() = "else of " + path_.back();
    if (!block(branch.otherwise)) return false;
    group_ = outer_group;
    --nesting_;
    return true;
  }

  bool check(const Let& let, std::vector<VarId>& bound, std::vector<BufferId>&) {
    path_.push_back("let " + (scope_.has(let.var) ? kernel_.name_of(let.var) : "?"));
    if (!passes(scope_.check_index(let.value, "the value"))) return false;
    if (let.uniform && !has(Feature::kBlocks))
      return fail("there are warps only on target {}", names_with(Feature::kBlocks));
    if (let.uniform && !(of_whole_warps(scope_.group_of(let.value)) && of_whole_warps(group_)))
      return fail("the lanes of a warp may disagree on it, or on whether they reach it");
    if (!bind(let.var, {scope_.is_static(let.value), scope_.group_of(let.value),
                        scope_.threads_per_value(let.value), &let.value}))
      return false;
    bound.push_back(let.var);
    return true;
  }

  bool check(const Alloc& alloc, std::vector<VarId>&, std::vector<BufferId>& alive) {
    path_.push_back("alloc of " + name(alloc.buffer));
    if (!scope_.has(alloc.buffer)) return fail("the buffer does not exist");
    const Scope where = kernel_.buffer(alloc.buffer).scope;
    if (where == Scope::kGlobal) return fail("a global buffer is a parameter and has no Alloc");
    // The emitter and launch_of() lay out shared and scratch memory once per buffer.
    if (!in_place_rules(kernel_.buffer(alloc.buffer))) return false;
    if (scope_.is_alive(alloc.buffer) ||
        (!allocated_.insert(alloc.buffer).second && where != Scope::kRegister))
      return fail("the buffer has a second Alloc");
    scope_.set_alive(alloc.buffer, true);
    alive.push_back(alloc.buffer);
    return true;
  }

  /// Checks Buffer::in_place_of.
  bool in_place_rules(const Buffer& buffer) {
    if (!buffer.in_place_of) return true;
    if (!scope_.has(*buffer.in_place_of) || !scope_.is_alive(*buffer.in_place_of))
      return fail("the buffer in whose place it lies has no Alloc here");
    const Buffer& below = kernel_.buffer(*buffer.in_place_of);
    if (buffer.scope != Scope::kShared || below.scope != Scope::kShared || below.in_place_of)
      return fail("only shared memory lies in the place of a shared buffer, which has memory of its own");
    const std::int64_t bytes = buffer.elements * size_of(buffer.type);
    const std::int64_t place = below.elements * size_of(below.type);
    if (buffer.alignment > below.alignment || bytes > place)
      return fail("{} bytes aligned to {} do not fit into the {} of {}, aligned to {}", bytes,
                  buffer.alignment, place, below.name, below.alignment);
    return true;
  }

  bool check(const Barrier& barrier, std::vector<VarId>&, std::vector<BufferId>&) {
    path_.push_back("barrier");
    if (!has(Feature::kBlocks)) return fail("barriers exist only on target {}", names_with(Feature::kBlocks));
    const bool of_cluster =
        barrier.scope == BarrierScope::kCluster || barrier.scope == BarrierScope::kClusterRelaxed;
    if (of_cluster && kernel_.cluster == 1) return fail("there are no clusters");
    return group_ == kAllAlike || fail("threads may disagree on whether they reach it");
  }

  bool check(const Intrinsic& intrinsic, std::vector<VarId>&, std::vector<BufferId>&) {
    path_.push_back("intrinsic " + std::string(intrinsic.name));
    const IntrinsicRule* rule = intrinsic_rule(intrinsic.name);
    if (rule == nullptr) return unknown_intrinsic(intrinsic.name);
    if (rule->ptx && !allows(&Allowed::ptx))
      return fail("it exists only on target {}", names_with(&Allowed::ptx));
    if (rule->collective && group_ % rule->group != 0 && group_ != kAllAlike)
      return fail("the {} may disagree on whether they reach it",
                  rule->group == 32 ? "lanes of a warp" : "threads of a warpgroup");
    if (intrinsic.touches.size() != rule->touches.size())
      return fail("it has {} touches, it takes {}", intrinsic.touches.size(), rule->touches.size());
    if (intrinsic.args.size() < rule->min_args || intrinsic.args.size() > rule->max_args)
      return fail("it has {} arguments, it takes {} to {}", intrinsic.args.size(), rule->min_args,
                  rule->max_args);
    if (intrinsic.name.starts_with("griddepcontrol_") && !launch_control(intrinsic.name)) return false;
    if (const int columns = wgmma_columns(intrinsic.name);
        columns != 0 && intrinsic.touches[0].elements * 2 != columns)
      return fail("a thread has {} of its sums, not {}", columns / 2, intrinsic.touches[0].elements);
    for (std::size_t i = 0; i < intrinsic.touches.size(); ++i)
      if (!touch_rules(intrinsic.touches[i], i, rule->touches[i])) return false;
    for (const Expr& arg : intrinsic.args)
      if (!passes(scope_.check_index(arg, "an argument"))) return false;
    if (intrinsic.name.starts_with("warp_") && !is_lane_group(intrinsic.args[0]))
      return fail("its argument must be a constant power of two up to 32");
    if (intrinsic.name.starts_with("atomic_") && !is_workspace(intrinsic.touches[1].buffer))
      return fail("its counter must be in a workspace");
    if (intrinsic.name.starts_with("tma_reduce_") && !reduction_rules(intrinsic)) return false;
    for (std::size_t i = 0; i < rule->immediates; ++i)
      if (as_constant(intrinsic.args[i]).value_or(-1) < 0)
        return fail("its {}argument must be a constant of at least 0",
                    intrinsic.args.size() == 1 ? "" : std::string(kOrdinals[i]) + " ");
    return true;
  }

  /// Checks the rules of PTX ISA 9.0, "cp.reduce.async.bulk": sizes are multiples of 16 bytes. The
  /// destination must be zero at first.
  bool reduction_rules(const Intrinsic& intrinsic) {
    if (!is_workspace(intrinsic.touches[1].buffer)) return fail("its sums must be in a workspace");
    const std::int64_t bytes = as_constant(intrinsic.args[0]).value_or(0);
    if (bytes < 1 || bytes % 16 != 0)
      return fail("its argument must be a constant multiple of 16 bytes, at least one");
    for (const Touch& touch : intrinsic.touches)
      if (touch.rows != 1 || touch.elements * size_of(kernel_.buffer(touch.buffer).type) != bytes)
        return fail("it touches {} elements of {} in {} rows and adds {} bytes", touch.elements,
                    name(touch.buffer), touch.rows, bytes);
    return true;
  }

  /// Checks Kernel::programmatic. The instruction that lets the next launch begin early must come after the
  /// one that waits: before it, it is of no use.
  bool launch_control(std::string_view name) {
    if (!kernel_.programmatic) return fail("the kernel does not overlap other launches");
    if (name == "griddepcontrol_wait") {
      if (group_ != kAllAlike) return fail("threads may disagree on whether they reach it");
      scope_.set_early(false);
      return true;
    }
    lets_next_begin_ = true;
    return !scope_.is_early() || fail("it comes before griddepcontrol_wait");
  }

  bool touch_rules(const Touch& touch, std::size_t number, const TouchRule& rule) {
    if (touch.elements < 0 || touch.rows < 1 || touch.elements % touch.rows != 0)
      return fail("it touches {} elements of {} in {} rows", touch.elements, name(touch.buffer), touch.rows);
    const std::int64_t run =
        touch.partial ? 1 : touch.elements / touch.rows + (touch.rows - 1) * touch.row_stride;
    if (!scope_.has(touch.buffer)) return fail("a touched buffer does not exist");
    const Buffer& buffer = kernel_.buffer(touch.buffer);
    // Registers kept as vectors are touched one vector at a time, or as several whole vectors from the first
    // one on.
    const bool vectors = buffer.lanes > 1 && run % buffer.lanes == 0 && run <= buffer.elements;
    const int lanes = vectors ? buffer.lanes : static_cast<int>(std::max<std::int64_t>(run, 1));
    // A rule for both kinds of maps checks only the map, which belongs to the launch.
    const bool map_alone = rule.map && !rule.im2col;
    if (!map_alone && !passes(scope_.check_access(touch.buffer, touch.index, lanes, std::nullopt)))
      return false;
    if (vectors && run > buffer.lanes && as_constant(touch.index) != 0)
      return fail("it begins behind the start of {}", buffer.name);
    const Param* param = kernel_.param_of(touch.buffer);
    if (rule.map != (param != nullptr && param->map))
      return fail("{} {} a tensor map", buffer.name, rule.map ? "needs" : "cannot be touched through");
    if (rule.map && rule.im2col && *rule.im2col != param->map->im2col.has_value())
      return fail("the tensor map of {} is {}im2col, the instruction is {}", buffer.name,
                  *rule.im2col ? "not " : "", *rule.im2col ? "so" : "not");
    if (touch.writes && !writable(touch.buffer)) return false;
    if (touch.writes != rule.writes || (rule.scope && *rule.scope != buffer.scope))
      return fail("its {} touch must {} a{} buffer", kOrdinals[number], rule.writes ? "write" : "read",
                  rule.scope ? fmt::format(" {}", name_of(*rule.scope)) : "");
    if (rule.type && *rule.type != buffer.type)
      return fail("{} is of {}, it takes {}", buffer.name, lehr::name_of(buffer.type),
                  lehr::name_of(*rule.type));
    const std::int64_t touched = touch.elements * size_of(buffer.type);
    if (rule.bytes != 0 && touched != rule.bytes)
      return fail("it touches {} bytes of {} instead of {}", touched, buffer.name, rule.bytes);
    return true;
  }

  bool unknown_intrinsic(std::string_view given) {
    std::vector<std::string> known;
    for (const IntrinsicRule& rule : intrinsic_rules()) known.emplace_back(rule.name);
    const std::string near = closest(std::string(given), known);
    return fail("no such intrinsic{}", near.empty() ? "" : ", did you mean " + near + "?");
  }

  bool is_workspace(BufferId buffer) const {
    return std::any_of(kernel_.params.begin(), kernel_.params.end(), [&](const Param& param) {
      return param.buffer == buffer && param.direction == Direction::kWorkspace;
    });
  }

  bool writable(BufferId buffer) {
    written_[index_of(buffer)] = true;
    for (const Param& param : kernel_.params) {
      if (param.buffer != buffer) continue;
      if (param.direction == Direction::kIn)
        return fail("{} is an input parameter and cannot be written", name(buffer));
      if (in_prepack_ != (param.direction == Direction::kPrepacked))
        return fail("{} is {} and cannot be written {}", name(buffer), ir::name_of(param.direction),
                    in_prepack_ ? "while prepacking" : "but while prepacking");
    }
    return true;
  }

  static std::size_t index_of(BufferId id) { return static_cast<std::size_t>(id); }
  static int number(BufferId id) { return static_cast<int>(id); }
  std::string name(BufferId id) const { return scope_.has(id) ? kernel_.buffer(id).name : "?"; }

  const Kernel& kernel_;
  VerifyScope scope_;
  std::vector<bool> written_;
  std::set<BufferId> allocated_;
  std::vector<std::string> path_;
  std::array<std::int64_t, 9> launch_extents_{};  // by LoopKind; 0: not seen
  unsigned launch_mask_ = 0;                      // LoopKinds bound by enclosing loops
  bool in_prepack_ = false;
  bool lets_next_begin_ = false;
  int nesting_ = 0;                 // enclosing loops and ifs
  std::int64_t group_ = kAllAlike;  // this many consecutive threads agree on whether they come here
  std::optional<std::string> error_;
};

}  // namespace

std::optional<std::string> why_malformed(const Kernel& kernel) {
  return Verifier(kernel).run();
}

}  // namespace lehr::ir
