// `lehr db ...`: what a trial log holds, whether it is sound, and how logs are joined, moved and saved.
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
  /// The exit code.
  int run();

 private:
  Trust trust() const;
  int stats() const;
  int verify() const;
  /// What became of the rows of each of `others_`; `done` is the document's key.
  void print_added(const char* done, const std::vector<AddedRows>& added) const;
  int merge() const;
  int dump() const;
  int import() const;
  int salvage() const;

  CLI::App *stats_, *verify_, *merge_, *dump_, *import_, *salvage_;
  std::string database_;
  std::vector<std::string> others_;  ///< the files after the first
  bool json_ = false, trusted_ = false;
};

}  // namespace lehr
