// Facts about one kernel that several groups of features need, computed once per row: chains of loops, roles
// of buffers, residency. Internal to costmodel/.
#pragma once

#include <array>
#include <memory_resource>
#include <vector>

#include "base/limits.h"
#include "costmodel/machine.h"
#include "costmodel/text_walk.h"
#include "ir/analyze.h"

namespace lehr {

enum class BufferRole { kInput0, kInput1, kOutput, kStaged0, kStaged1, kRegister, kOther };
inline constexpr int kRoles = 6;  ///< number of roles, without kOther

inline bool is_concurrent(ir::LoopKind kind) {
  return kind == ir::LoopKind::kParallel || is_block(kind);
}
inline bool is_sequential(ir::LoopKind kind) {
  return kind == ir::LoopKind::kSerial || kind == ir::LoopKind::kUnrolled || kind == ir::LoopKind::kRolled;
}

/// Numbers of nested loops, outermost first.
using Chain = ir::PerLoop<int>;

/// Refers to its arguments, which must outlive it. Its vectors are allocated from `memory`.
struct KernelView {
  KernelView(const ir::Analysis& analysis, const ir::Kernel& kernel, const Limits& limits,
             const TextFacts& text, std::pmr::memory_resource* memory);

  const ir::Analysis& analysis;
  const ir::Kernel& kernel;
  const Limits& limits;
  const TextFacts& text;
  const Machine& machine;
  Residency residency;
  /// The chain of loops, outermost first, in which the most flops are executed (among equals, the most
  /// iterations).
  Chain main_chain;
  std::pmr::vector<BufferRole> role_of_buffer;
  /// For each role, the access that moves the most bytes; -1 if the kernel has no access in that role.
  std::array<int, kRoles> hottest;
  /// The two reads, of different buffers outside of registers, that move the most elements; -1 for a missing
  /// one.
  std::array<int, 2> operands = {-1, -1};

  const ir::Buffer& buffer_of(const ir::Access& access) const { return kernel.buffer(access.buffer); }
  bool is_workspace(ir::BufferId buffer) const;
  double element_bytes(const ir::Access& access) const { return size_of(buffer_of(access).type); }
  /// Returns the number of executed flops. A branch counts as often as it is taken.
  double flops() const { return analysis.flops * text.flops_share; }
  /// Returns the execution counts of one of the analysis's accesses.
  const ExecutedAccess& executed(const ir::Access& access) const {
    return text.accesses[static_cast<std::size_t>(&access - analysis.accesses.data())];
  }
  /// Returns the number of executions. A branch counts as often as it is taken.
  double executions(const ir::Access& access) const { return access.executions * executed(access).share; }
  /// Returns the bytes moved by all executions.
  double moved_bytes(const ir::Access& access) const {
    return executions(access) * access.lanes * element_bytes(access);
  }
  /// Returns the chain of loops down to `loop`, included; empty for -1.
  Chain chain_of(int loop) const;
};

/// Returns the stride of `access` along the `i`-th enclosing loop from the outside; 0 if the analysis has
/// none for it.
inline std::int64_t stride_at(const ir::Access& access, std::size_t i) {
  return i < access.strides.size() ? access.strides[i] : 0;
}

}  // namespace lehr
