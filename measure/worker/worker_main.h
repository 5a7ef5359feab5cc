// The worker process's side: what the hidden subcommand calls.
#pragma once

namespace lehr {

/// Serves requests until the parent hangs up; returns the exit status. `in_fd` and `out_fd` may be one
/// socket. Call it first in main(): it wants to die with its parent, writes no core files and moves the
/// descriptors out of the way.
int worker_main(int in_fd, int out_fd);

}  // namespace lehr
