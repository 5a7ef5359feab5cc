// Small tables, and files of them.
#pragma once

#include <filesystem>
#include <string>

#include "replay/table.h"

namespace lehr::testing {

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  /// Writes `content` to a file of this name and returns its path.
  std::string file(const std::string& name, const std::string& content) const;
  /// Writes the same, gzipped.
  std::string gzipped(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

/// Returns rows k(i=0), k(i=1), ... with these times; 0 is a failure.
Table table_of(const std::vector<double>& times_us);

/// Returns k(x, y, z) with 8 x 8 x 4 rows, fastest at x=5, y=3, z=2; about one in ten fails.
Table bowl();

}  // namespace lehr::testing
