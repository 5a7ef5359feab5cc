// The variables and buffers that a block of a kernel uses. The emitter need not print others.
#pragma once

#include <vector>

#include "ir/kernel.h"

namespace lehr::ir {

struct Uses {
  std::vector<bool> vars;  ///< by VarId: whether something reads it
  /// By BufferId: whether something reads, writes or touches it, or lies in its memory.
  std::vector<bool> buffers;
};
/// Returns the uses of `block`, the kernel's body or prepack. A Let whose variable is never read uses nothing
/// itself.
Uses uses_of(const Kernel& kernel, const Block& block);

}  // namespace lehr::ir
