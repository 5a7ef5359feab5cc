// The environment variables that the program looks at; nothing else reads any.
#pragma once

#include <string>

#include "api/lehr.h"

namespace lehr {

struct Environment : api::Tools {
  std::string database = "./lehr.db";  ///< LEHR_DB: the database where --db is not given
};

/// The program is this one, `scratch` is TMPDIR, and LEHR_SUPERVISOR=none means not `supervised`. Throws
/// Error(kUser) for another LEHR_SUPERVISOR.
Environment read_environment();

}  // namespace lehr
