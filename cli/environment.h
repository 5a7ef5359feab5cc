// The environment variables of the program. No other code reads any.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "api/lehr.h"

namespace lehr {

struct Environment : api::Tools {
  std::string database = "./lehr.db";  ///< LEHR_DB: the database if --db is not given
  /// The longest line on stdout: COLUMNS, or its terminal's; 0: no limit, since it is not a terminal.
  std::size_t columns = 0;
  bool colour = false;  ///< takes_colour(stdout)
};

/// Returns the width of a terminal in characters; 0 if it is not a terminal.
std::size_t columns_of(std::FILE* file);
/// Whether it is a terminal, and neither NO_COLOR nor TERM=dumb asks for plain text.
bool takes_colour(std::FILE* file);

/// Returns "2/8" from Slurm's variables for the task of a job array, whatever the array's first index and
/// step. Throws Error(kUser) if this is not such a task, or the array has gaps.
std::string shard_of_array();

/// Reads the environment. The program is this one, `scratch` is TMPDIR, and LEHR_SUPERVISOR=none means not
/// `supervised`. Throws Error(kUser) for another LEHR_SUPERVISOR.
Environment read_environment();

}  // namespace lehr
