// Combines two CPU kernels that run one after the other on the same tensors into one source.
#pragma once

#include "codegen/source.h"

namespace lehr {

/// Returns a source with two steps: `first`, and then, when all its work items have ended, `second`. Both
/// steps have the same number of work items, the larger of both kernels' numbers. The parameters are those of
/// `first`, which must begin with the parameters of `second`. Both use the same scratch memory. CHECKs that
/// both are for the CPU and have one step, that their entries differ, and that `second` prepacks nothing.
Source in_sequence(const Source& first, const Source& second);

}  // namespace lehr
