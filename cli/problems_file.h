// Files of problems, for `--problems`.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace lehr {

/// The problems of a text, one per line, each in any notation of problem_line.h; what follows a '#', and an
/// empty line, is left out. Or a table: a first line of comma-separated names with `op` and `params` among
/// them, then rows (problem_line.h). A problem that comes again is kept once. Throws Error(kUser), one
/// sentence that names `name` and the line; also where there is no problem at all.
std::vector<Workload> read_problems(std::istream& text, std::string_view name);
/// Of a file. Throws Error(kUser) also when it cannot be read.
std::vector<Workload> read_problems(const std::string& path);

}  // namespace lehr
