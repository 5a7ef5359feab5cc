// Structural checks on a kernel, run after lowering in tests and debug builds.
#pragma once

#include <optional>
#include <string>

#include "ir/kernel.h"

namespace lehr::ir {

/// nullopt if the kernel is well formed, else one sentence that names the place ("in loop ko > store to acc:
/// ..."). Checks: every variable is bound where it is used and bound once on a path; ids are in range; every
/// non-global buffer is alive (Alloc) where it is used; kRegister/kShared/kScratch buffers have elements > 0;
/// constant extents where the kind needs them; loop kinds fit the target (kParallel outermost and CPU only,
/// block/thread CUDA only, each bound at most once on a path and equal in extent everywhere); kIn parameters
/// are not written and every kOut one is; lanes agree; intrinsic names are known; barriers only on CUDA and
/// not under an If or a loop whose extent depends on a thread variable; register buffers are indexed by
/// constants once the unrolled loops are expanded.
std::optional<std::string> why_malformed(const Kernel& kernel);

}  // namespace lehr::ir
