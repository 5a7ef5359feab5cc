// The environment variables that the program looks at; nothing else reads any.
#pragma once

#include <string>

#include "api/lehr.h"

namespace lehr {

struct Environment : api::Tools {
  std::string database = "./lehr.db";  ///< LEHR_DB: the database where --db is not given
  bool supervised = true;              ///< false where LEHR_SUPERVISOR is "none"
  std::string scratch;                 ///< TMPDIR: where temporary files go; "": TempDir's own choice
};

/// Throws Error(kUser) for another LEHR_SUPERVISOR.
Environment read_environment();

/// This program's own file, to start workers from.
std::string own_executable();
inline constexpr const char* kToolVersion = LEHR_VERSION;

}  // namespace lehr
