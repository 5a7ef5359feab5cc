// AST -> text. One emitter; a dialect is a table of spellings.
#pragma once

#include "codegen/source.h"
#include "ir/kernel.h"

namespace lehr {

/// Returns text for the kernel's target: C++ (GNU vector extensions) for the CPU, CUDA C++ for NVRTC.
/// Deterministic: the same kernel gives the same bytes. CHECKs that the kernel is well formed only where it
/// cannot go on.
Source emit(const ir::Kernel& kernel);

}  // namespace lehr
