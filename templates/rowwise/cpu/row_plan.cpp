#include "templates/rowwise/cpu/row_plan.h"

#include <algorithm>

namespace lehr::cpu {
namespace {

/// Number of operations below which a value is computed again instead of being stored and loaded.
constexpr double kDear = 4;

class Planner {
 public:
  Planner(const Rowwise& rowwise, RowKeep keep) : keep_(keep) {
    plan_.expression = expression_of(rowwise);
    const std::size_t count = plan_.expression.nodes.size();
    plan_.reduction.assign(count, -1);
    plan_.ready.assign(count, 0);
    plan_.made.assign(count, -1);
    plan_.kept.assign(count, false);
    plan_.needed.assign(count, false);
    for (std::size_t i = 0; i < rowwise.out.size(); ++i)
      if (rowwise.out[i].varies) stored_.push_back(plan_.expression.outputs[i]);
    for (const RowNode& node : plan_.expression.nodes) dear_.push_back(is_dear(node));
  }

  RowPlan plan() {
    for (const int output : plan_.expression.outputs) reach(output);
    for (std::size_t i = 0; i < reached_.size(); ++i)
      if (reached_[i]) set_ready(static_cast<int>(i));
    find_passes();
    for (int pass = 0; pass < plan_.passes; ++pass)
      for (const int root : plan_.roots[static_cast<std::size_t>(pass)]) use(root, pass);
    return std::move(plan_);
  }

 private:
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }

  void reach(int number) {
    if (reached_.empty()) reached_.assign(plan_.expression.nodes.size(), false);
    if (reached_[at(number)]) return;
    reached_[at(number)] = true;
    if (!plan_.node(number).varies) plan_.needed[at(number)] = true;
    for (const int operand : plan_.node(number).used()) reach(operand);
  }

  int reduction(const RowReduction& wanted) {
    const auto found = std::ranges::find(plan_.reductions, wanted);
    if (found != plan_.reductions.end()) return static_cast<int>(found - plan_.reductions.begin());
    plan_.reductions.push_back(wanted);
    return static_cast<int>(plan_.reductions.size()) - 1;
  }

  void set_ready(int number) {
    const RowNode& node = plan_.node(number);
    int ready = 0;
    for (const int operand : node.used()) ready = std::max(ready, plan_.ready[at(operand)]);
    if (is_reduction(node.op) && plan_.node(node.operands[0]).varies) {
      RowReduction made{node.op, node.operands[0], -1, ready};
      if (node.op == RowOp::kMeanOf || node.op == RowOp::kVarOf) made.op = RowOp::kSumOf;
      int of = reduction(made);
      if (node.op == RowOp::kVarOf) of = reduction({RowOp::kSumOf, node.operands[0], of, ++ready});
      plan_.reduction[at(number)] = of;
      ++ready;
    }
    plan_.ready[at(number)] = ready;
  }

  void find_passes() {
    for (const RowReduction& each : plan_.reductions) plan_.passes = std::max(plan_.passes, each.pass + 1);
    for (const int output : stored_) plan_.passes = std::max(plan_.passes, plan_.ready[at(output)] + 1);
    plan_.roots.resize(at(plan_.passes));
    plan_.uses.assign(at(plan_.passes), std::vector<int>(plan_.expression.nodes.size(), 0));
    for (const RowReduction& each : plan_.reductions) plan_.roots[at(each.pass)].push_back(each.of);
    // An output that is the same along the row is stored to the whole row once it is known.
    for (const int output : stored_) plan_.roots[at(plan_.ready[at(output)])].push_back(output);
  }

  /// Returns whether keeping a value is faster than computing it again.
  bool is_worth_keeping(int number) const {
    const RowNode& node = plan_.node(number);
    if (node.op == RowOp::kInput) return keep_ == RowKeep::kRegisters;
    return keep_ != RowKeep::kAgain && dear_[at(number)];
  }
  /// Returns whether computing the node costs more than loading it. The results for its operands are in
  /// `dear_` already.
  bool is_dear(const RowNode& node) const {
    if (!node.varies) return false;
    if (flops_of(node) >= kDear || node.op == RowOp::kDiv || node.op == RowOp::kSqrt) return true;
    return std::ranges::any_of(node.used(), [&](int operand) { return dear_[at(operand)]; });
  }

  void use(int number, int pass) {
    if (!plan_.node(number).varies) return;
    if (plan_.uses[at(pass)][at(number)]++ > 0) return;
    int& made = plan_.made[at(number)];
    if (made >= 0 && made < pass && is_worth_keeping(number)) {
      plan_.kept[at(number)] = true;
      return;
    }
    if (made < 0) made = pass;
    for (const int operand : plan_.node(number).used()) use(operand, pass);
  }

  RowKeep keep_;
  RowPlan plan_;
  std::vector<int> stored_;
  std::vector<bool> reached_;
  std::vector<bool> dear_;  ///< for each node: whether computing it costs more than loading it
};

}  // namespace

std::int64_t RowPlan::kept_count() const {
  return std::ranges::count(kept, true);
}

RowPlan::Needs RowPlan::needs_of(int pass, const Rowwise& rowwise) const {
  const std::size_t nodes = expression.nodes.size();
  Needs needs = {std::vector<bool>(nodes), std::vector<bool>(reductions.size())};
  std::vector<bool> reached(nodes);
  if (pass < passes)
    for (const int root : roots[static_cast<std::size_t>(pass)])
      reached[static_cast<std::size_t>(root)] = true;
  for (const RowReduction& each : reductions)
    if (each.pass == pass && each.centre >= 0) needs.reductions[static_cast<std::size_t>(each.centre)] = true;
  for (std::size_t i = 0; i < rowwise.out.size(); ++i) {
    const auto output = static_cast<std::size_t>(expression.outputs[i]);
    if (!rowwise.out[i].varies && ready[output] == pass) reached[output] = true;
  }
  for (std::size_t i = nodes; i-- > 0;) {  // operands come before the nodes that use them
    if (!reached[i]) continue;
    needs.row_values[i] = !expression.nodes[i].varies;
    if (reduction[i] >= 0) {
      needs.reductions[static_cast<std::size_t>(reduction[i])] = true;
      continue;
    }
    for (const int operand : expression.nodes[i].used()) reached[static_cast<std::size_t>(operand)] = true;
  }
  return needs;
}

RowPlan plan_rows(const Rowwise& rowwise, RowKeep keep) {
  return Planner(rowwise, keep).plan();
}

}  // namespace lehr::cpu
