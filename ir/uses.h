// The variables and buffers that a block of a kernel uses. The emitter omits all others.
#pragma once

#include <vector>

#include "ir/kernel.h"

namespace lehr::ir {

struct Uses {
  std::vector<bool> vars;  ///< by VarId: whether the variable is read
  /// By BufferId: whether the buffer is read, written or touched, or another used buffer lies in its memory.
  std::vector<bool> buffers;
};
/// Returns the uses of `block`, the kernel's body or prepack. A Let whose variable is never read is ignored,
/// with all that it reads.
Uses uses_of(const Kernel& kernel, const Block& block);

}  // namespace lehr::ir
