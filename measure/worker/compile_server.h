// Inside a compile worker: the compiler loaded once, then one source after the other.
#pragma once

#include "measure/worker/messages.h"

namespace lehr {

/// Becomes what `first`, of a message with `tag`, says and answers CompileRequests on `out_fd` until the
/// parent hangs up. Ends after it ran out of memory, too: what is left of such a process is not to be
/// trusted, and the parent starts another.
void serve_compiler(int in_fd, int out_fd, const CompilerRequest& first, std::uint64_t tag);

}  // namespace lehr
