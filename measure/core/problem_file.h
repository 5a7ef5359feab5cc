// A problem as a file: how it reaches worker processes, also those that replace a crashed one.
#pragma once

#include <string>

#include "measure/core/problem.h"

namespace lehr {

/// The workload as its text, the seed of its inputs, the expected output. Host byte order, this build's own layout: the file lives as long as one session. Throws
/// Error(kEnvironment) when it cannot be written (a full disk is named as such).
void write_problem(const std::string& path, const Problem& problem);
/// Throws Error(kEnvironment) when it cannot be read or is cut short.
Problem read_problem(const std::string& path);

}  // namespace lehr
