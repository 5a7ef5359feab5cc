// A problem as a file: how it reaches worker processes, also those that replace a crashed one.
#pragma once

#include <string>

#include "measure/core/problem.h"

namespace lehr {

/// The workload as its text, the seed of its inputs, what is expected if it is made. Host byte order, this
/// build's own layout: the file lives as long as one session. It takes the place of an older one at once.
/// Throws Error(kEnvironment) when it cannot be written (a full disk is named as such).
void write_problem(const std::string& path, const Problem& problem);
/// The inputs of one that was made are made again, by so many threads. Throws Error(kEnvironment) when it
/// cannot be read or is cut short.
Problem read_problem(const std::string& path, int threads = 1);

}  // namespace lehr
