// `lehr db ...`: shows the content of a trial log, checks logs for damage, merges logs, and saves the
// undamaged rows of a log.
#pragma once

#include <string>
#include <vector>

#include "cli/environment.h"
#include "database/database.h"

namespace CLI {
class App;
}

namespace lehr {

class DbCommand {
 public:
  DbCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code.
  int run();

 private:
  int stats() const;
  int verify() const;
  int merge() const;
  int salvage() const;
  int progress() const;

  CLI::App *stats_, *verify_, *merge_, *salvage_, *progress_;
  const std::size_t columns_;  ///< width of the terminal in characters
  std::string database_, folder_;
  std::vector<std::string> others_;  ///< the files after the first
  bool json_ = false, trusted_ = false;
};

}  // namespace lehr
