// Runs inside a compile worker: loads the compiler once, then compiles one source after the other.
#pragma once

#include "measure/worker/messages.h"

namespace lehr {

/// Loads the compiler that `first`, of a message with `tag`, names, and answers CompileRequests on `out_fd`
/// until the parent hangs up. Also ends after it ran out of memory: the rest of such a process is not to be
/// trusted, and the parent starts another.
void serve_compiler(int in_fd, int out_fd, const CompilerRequest& first, std::uint64_t tag);

}  // namespace lehr
