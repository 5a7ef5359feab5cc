// Chains, roles and residency of one kernel, for all groups of features.
#include "costmodel/kernel_view.h"

#include <algorithm>

namespace lehr {
namespace {

Chain hottest_chain(const std::vector<ir::LoopInfo>& loops, std::pmr::memory_resource* memory) {
  std::pmr::vector<int> best_child(loops.size(), -1, memory);
  int best_root = -1;
  const auto hotter = [&](int a, int b) {
    if (b < 0) return true;
    const ir::LoopInfo& x = loops[static_cast<std::size_t>(a)];
    const ir::LoopInfo& y = loops[static_cast<std::size_t>(b)];
    return x.flops != y.flops ? x.flops > y.flops : x.iterations > y.iterations;
  };
  for (int i = 0; i < static_cast<int>(loops.size()); ++i) {
    const int parent = loops[static_cast<std::size_t>(i)].parent;
    int& best = parent < 0 ? best_root : best_child[static_cast<std::size_t>(parent)];
    if (hotter(i, best)) best = i;
  }
  Chain chain;
  for (int loop = best_root; loop >= 0; loop = best_child[static_cast<std::size_t>(loop)])
    chain.push_back(loop);
  return chain;
}

std::pmr::vector<BufferRole> roles_of(const ir::Kernel& kernel, std::pmr::memory_resource* memory) {
  std::pmr::vector<BufferRole> roles(kernel.buffers.size(), BufferRole::kOther, memory);
  int inputs = 0;
  bool output = false;
  for (const ir::Param& param : kernel.params) {
    BufferRole& role = roles[static_cast<std::size_t>(param.buffer)];
    if (param.direction == ir::Direction::kOut) {
      if (!output) role = BufferRole::kOutput;
      output = true;
    } else {
      if (inputs < 2) role = inputs == 0 ? BufferRole::kInput0 : BufferRole::kInput1;
      ++inputs;
    }
  }
  int staged = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const ir::Scope scope = kernel.buffers[i].scope;
    if (scope == ir::Scope::kRegister) roles[i] = BufferRole::kRegister;
    if (scope != ir::Scope::kShared && scope != ir::Scope::kScratch) continue;
    if (staged < 2) roles[i] = staged == 0 ? BufferRole::kStaged0 : BufferRole::kStaged1;
    ++staged;
  }
  return roles;
}

}  // namespace

KernelView::KernelView(const ir::Analysis& a, const ir::Kernel& k, const Limits& l, const TextFacts& t,
                       std::pmr::memory_resource* memory)
    : analysis(a),
      kernel(k),
      limits(l),
      text(t),
      machine(machine_of(k.target)),
      residency(machine.residency(a, k, l, t.register_bytes)),
      main_chain(hottest_chain(a.loops, memory)),
      role_of_buffer(roles_of(k, memory)) {
  // If all blocks run at the same time, the block with the most work ends last. With several waves, other
  // blocks fill the gaps.
  if (residency.waves <= 1) residency.wave_efficiency *= t.balance;
  hottest.fill(-1);
  std::array<double, kRoles> most{};
  std::array<double, 2> operand_elements{};
  for (int i = 0; i < static_cast<int>(a.accesses.size()); ++i) {
    const ir::Access& access = a.accesses[static_cast<std::size_t>(i)];
    const auto role = static_cast<std::size_t>(role_of_buffer[static_cast<std::size_t>(access.buffer)]);
    const double elements = executions(access) * access.lanes;
    if (role < kRoles && (hottest[role] < 0 || moved_bytes(access) > most[role])) {
      most[role] = moved_bytes(access);
      hottest[role] = i;
    }
    if (access.writes || buffer_of(access).scope == ir::Scope::kRegister) continue;
    const auto reads_same = [&](int slot) {
      const int other = operands[static_cast<std::size_t>(slot)];
      return other >= 0 && a.accesses[static_cast<std::size_t>(other)].buffer == access.buffer;
    };
    // A read of a buffer that is an operand already can only replace that operand.
    std::size_t s = operand_elements[0] <= operand_elements[1] ? 0 : 1;
    if (reads_same(1)) s = 1;
    if (reads_same(0)) s = 0;
    if (operands[s] < 0 || elements > operand_elements[s]) {
      operands[s] = i;
      operand_elements[s] = elements;
    }
  }
  // Operands are in the order in which their buffers are declared, so that the first operand is the same in
  // every config.
  const auto buffer_at = [&](int slot) {
    const int i = operands[static_cast<std::size_t>(slot)];
    return i < 0 ? static_cast<int>(kernel.buffers.size())
                 : static_cast<int>(a.accesses[static_cast<std::size_t>(i)].buffer);
  };
  if (buffer_at(1) < buffer_at(0)) std::swap(operands[0], operands[1]);
}

bool KernelView::is_workspace(ir::BufferId buffer) const {
  return std::ranges::any_of(kernel.params, [&](const ir::Param& param) {
    return param.buffer == buffer && param.direction == ir::Direction::kWorkspace;
  });
}

Chain KernelView::chain_of(int loop) const {
  Chain chain;
  if (loop < 0) return chain;
  chain.resize(static_cast<std::size_t>(analysis.loops[static_cast<std::size_t>(loop)].depth) + 1);
  for (std::size_t i = chain.size(); i-- > 0;) {
    chain[i] = loop;
    loop = analysis.loops[static_cast<std::size_t>(loop)].parent;
  }
  return chain;
}

}  // namespace lehr
