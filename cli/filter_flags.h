// Which rows of a database a command is about; shared by best and export.
#pragma once

#include <string>

#include "database/database.h"

namespace CLI {
class App;
}

namespace lehr {

class FilterFlags {
 public:
  /// Adds --workload --device --target --family to `app`.
  void add_to(CLI::App& app);
  /// `workload` in canonical form. Throws Error(kUser).
  RecordFilter filter() const;

 private:
  std::string workload_, device_, target_, family_;
};

}  // namespace lehr
