// The worker process: the code that the hidden subcommand calls.
#pragma once

#include <span>

#include "measure/core/problem.h"

namespace lehr {

/// Serves requests on problems of these kinds until the parent hangs up; returns the exit status. `in_fd` and
/// `out_fd` may be one socket. Call it first in main(): it makes the process die with its parent and write no
/// core files, and moves the descriptors out of the way.
int worker_main(std::span<const ProblemKind> kinds, int in_fd, int out_fd);

}  // namespace lehr
