// Stores a problem in a file. Worker processes read it, also workers that replace a crashed one.
#pragma once

#include <string>

#include "measure/core/problem.h"

namespace lehr {

/// Writes a problem's text and seed, and the expected values if the problem is made. The format is private to
/// this build, in host byte order: the file lives as long as one session. An existing file is replaced
/// atomically. Throws Error(kEnvironment) if the file cannot be written (a full disk is named as the cause).
void write_problem(const std::string& path, const Problem& problem);
/// Reads a problem. If the problem was made, one of `kinds` makes its values again, on `threads` threads.
/// Throws Error(kEnvironment) if the file cannot be read or is cut short.
Problem read_problem(const std::string& path, std::span<const ProblemKind> kinds, int threads = 1);

}  // namespace lehr
