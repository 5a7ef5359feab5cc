// The environment variables that the program looks at; nothing else reads any.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lehr {

struct Environment {
  std::vector<std::string> path;  ///< PATH: where compilers are looked for
  std::string compiler;           ///< CXX: name or path of the host compiler; "" = the first that is found
  std::string database = "./lehr.db";  ///< LEHR_DB: the database where --db is not given
  std::string cuda_home;               ///< CUDA_HOME, else CUDA_PATH: a CUDA toolkit's folder
  std::string library_path;            ///< LD_LIBRARY_PATH
};

Environment read_environment();

/// This program's own file, to start workers from.
std::string own_executable();
inline constexpr const char* kToolVersion = LEHR_VERSION;

}  // namespace lehr
