// A problem as a file: how it reaches worker processes, also those that replace a crashed one.
#pragma once

#include <string>

#include "measure/core/problem.h"

namespace lehr {

/// Its text and seed, and what is expected if it is made. Host byte order, this
/// build's own layout: the file lives as long as one session. It takes the place of an older one at once.
/// Throws Error(kEnvironment) when it cannot be written (a full disk is named as such).
void write_problem(const std::string& path, const Problem& problem);
/// One of `kinds` makes the values of one that was made again, on so many threads. Throws Error(kEnvironment)
/// when it cannot be read or is cut short.
Problem read_problem(const std::string& path, std::span<const ProblemKind> kinds, int threads = 1);

}  // namespace lehr
