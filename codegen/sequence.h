// Two CPU kernels that run one after the other on the same tensors, as one source.
#pragma once

#include "codegen/source.h"

namespace lehr {

/// Returns `first`, then `second` when all work items of `first` are done: two steps, each with as many work
/// items as the larger one has. The parameters are those of `first`; those of `second` are the leading ones.
/// Scratch memory is shared. CHECKs that both are for the CPU and of one step, that their entries differ, and
/// that `second` prepacks nothing.
Source in_sequence(const Source& first, const Source& second);

}  // namespace lehr
