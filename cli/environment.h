// The environment variables that the program looks at; nothing else reads any.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "api/lehr.h"

namespace lehr {

struct Environment : api::Tools {
  std::string database = "./lehr.db";  ///< LEHR_DB: the database where --db is not given
  /// The longest line on stdout: COLUMNS, or what its terminal has; 0: any, since it is no terminal.
  std::size_t columns = 0;
  bool colour = false;  ///< takes_colour(stdout)
};

/// Returns the width of a terminal in characters; 0 for what is no terminal.
std::size_t columns_of(std::FILE* file);
/// Whether it is a terminal, and neither NO_COLOR nor TERM=dumb asks for plain text.
bool takes_colour(std::FILE* file);

/// "2/8" of Slurm's variables for the task of a job array, whatever the array begins and steps with. Throws
/// Error(kUser) where this is no such task, or the array has gaps.
std::string shard_of_array();

/// The program is this one, `scratch` is TMPDIR, and LEHR_SUPERVISOR=none means not `supervised`. Throws
/// Error(kUser) for another LEHR_SUPERVISOR.
Environment read_environment();

}  // namespace lehr
