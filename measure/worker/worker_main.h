// The entry point of the worker process. The hidden subcommand calls it.
#pragma once

#include <span>

#include "measure/core/problem.h"

namespace lehr {

/// Serves requests on problems of `kinds` until the parent hangs up. Returns the exit status. `in_fd` and
/// `out_fd` may be one socket. Call it first in main(): it makes the process die with its parent and write no
/// core files, and moves the descriptors to numbers that candidates are unlikely to hit.
int worker_main(std::span<const ProblemKind> kinds, int in_fd, int out_fd);

}  // namespace lehr
