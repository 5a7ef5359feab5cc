// Two kernels for the CPU that run one after the other on the same tensors, as one source.
#pragma once

#include "codegen/source.h"

namespace lehr {

/// `first`, then `second` when all of its parts are done. Parameters are those of `first`, of which those of
/// `second` are the leading ones; scratch memory is shared. CHECKs that both are for the CPU, that their
/// entries differ, that `second` prepacks nothing, and that neither is a sequence.
Source in_sequence(const Source& first, const Source& second);

}  // namespace lehr
