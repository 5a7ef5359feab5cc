// What a block of a kernel uses: what it does not, the emitter need not print.
#pragma once

#include <vector>

#include "ir/kernel.h"

namespace lehr::ir {

struct Uses {
  std::vector<bool> vars;     ///< by VarId: something reads it
  std::vector<bool> buffers;  ///< by BufferId: something reads, writes or touches it, or lies in its place
};
/// Of the kernel's body or prepack, `block`. A Let whose variable nothing reads uses nothing itself.
Uses uses_of(const Kernel& kernel, const Block& block);

}  // namespace lehr::ir
