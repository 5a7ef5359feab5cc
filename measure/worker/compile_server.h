// Runs inside a compile worker: loads the compiler once, then compiles one source after the other.
#pragma once

#include "measure/worker/messages.h"

namespace lehr {

/// Loads the compiler that `first` names, and answers CompileRequests on `out_fd` until the parent hangs up.
/// `tag` is the tag of the message that held `first`. Also returns after the compiler ran out of memory: such
/// a process cannot be trusted, and the parent starts another.
void serve_compiler(int in_fd, int out_fd, const CompilerRequest& first, std::uint64_t tag);

}  // namespace lehr
