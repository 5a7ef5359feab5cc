// Reads the environment variables of the program. No other code reads environment variables.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "api/lehr.h"

namespace lehr {

struct Environment : api::Tools {
  std::string database = "./lehr.db";  ///< LEHR_DB: path of the database if --db is not given
  /// Maximum width of a line on stdout: COLUMNS, or the terminal's width; 0: no limit, since stdout is not a
  /// terminal.
  std::size_t columns = 0;
  bool colour = false;  ///< result of takes_colour(stdout)
};

/// Returns the width of a terminal in characters; 0 if it is not a terminal.
std::size_t columns_of(std::FILE* file);
/// Whether the file is a terminal, and neither NO_COLOR nor TERM=dumb asks for plain text.
bool takes_colour(std::FILE* file);

/// Returns "2/8" from Slurm's variables for the task of a job array, whatever the array's first index and
/// step. Throws Error(kUser) if this is not such a task, or the array has gaps.
std::string shard_of_array();

/// Reads the environment. `program` is set to the running program and `scratch` to TMPDIR.
/// LEHR_SUPERVISOR=none sets `supervised` to false; another value throws Error(kUser).
Environment read_environment();

}  // namespace lehr
