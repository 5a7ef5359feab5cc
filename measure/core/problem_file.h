// Stores a problem in a file, which worker processes read, also those that replace a crashed one.
#pragma once

#include <string>

#include "measure/core/problem.h"

namespace lehr {

/// Writes a problem's text and seed, and the expected values if it is made. The format is this build's own,
/// in host byte order: the file lives as long as one session. An older file is replaced at once. Throws
/// Error(kEnvironment) if it cannot be written (a full disk is named as such).
void write_problem(const std::string& path, const Problem& problem);
/// Reads a problem. If it was made, one of `kinds` makes its values again, on this many threads. Throws
/// Error(kEnvironment) if the file cannot be read or is cut short.
Problem read_problem(const std::string& path, std::span<const ProblemKind> kinds, int threads = 1);

}  // namespace lehr
