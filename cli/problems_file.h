// Files of problems, for `--problems`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace lehr {

struct ProblemsFile {
  std::vector<Workload> problems;  ///< one that comes again is kept once
  std::vector<std::string>
      unusable;           ///< a sentence for each line that is no problem, with the file and the line
  std::size_t lines = 0;  ///< that ought to be problems
};

/// The problems of a text, one per line, each in any notation of problem_line.h; what follows a '#' or "//",
/// empty lines, and the lines around the numbers in DeepBench's headers are left out. Or a table: a first
/// line of comma-separated names with `op` and `params` among them, in upper or lower case, then rows
/// (problem_line.h); fields may be quoted as in CSV (RFC 4180). Or a report of
/// cutlass_profiler. A line that ends in a backslash goes on in the next.
ProblemsFile read_problems(std::string_view text, std::string_view name);
/// Of a file, which may be gzipped; "-": of stdin. Throws Error(kUser) when it cannot be read, is larger than
/// 16 MiB, or holds no problem: then the sentence of the first line that is none.
ProblemsFile read_problems_file(const std::string& path);

}  // namespace lehr
