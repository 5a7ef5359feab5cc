// AST -> text. There is one emitter; a dialect is a table of spellings.
#pragma once

#include "codegen/source.h"
#include "ir/kernel.h"

namespace lehr {

/// Returns the source of a kernel in the language of its target: C++ (GNU vector extensions) for the CPU,
/// CUDA C++ for NVRTC. Deterministic: the same kernel gives the same bytes. CHECKs only those conditions on
/// the kernel without which it cannot continue.
Source emit(const ir::Kernel& kernel);

}  // namespace lehr
