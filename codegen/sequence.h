// Two kernels for the CPU that run one after the other on the same tensors, as one source.
#pragma once

#include "codegen/source.h"

namespace lehr {

/// `first`, then `second` when all of its parts are done: two steps of as many parts as the larger has.
/// Parameters are those of `first`, of which those of `second` are the leading ones; scratch memory is
/// shared. CHECKs that both are for the CPU and of one step, that their entries differ, and that `second`
/// prepacks nothing.
Source in_sequence(const Source& first, const Source& second);

}  // namespace lehr
