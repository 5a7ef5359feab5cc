// Tables as spaces and as answers.
#include "replay/table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace lehr {

double Table::optimum_us() const {
  double best = std::numeric_limits<double>::infinity();
  for (const TableRow& row : rows)
    if (row.time_us) best = std::min(best, *row.time_us);
  CHECK(std::isfinite(best), "{}: no row has a time", file);
  return best;
}

Space space_of(const Table& table) {
  struct Listed {
    std::string family;
    std::vector<std::string> names;
    std::vector<std::vector<std::int64_t>> points;
  };
  std::vector<Listed> listed;  // in the order of the table
  for (const TableRow& row : table.rows) {
    auto found = std::ranges::find(listed, row.config.family, &Listed::family);
    if (found == listed.end()) {
      listed.push_back({row.config.family, {}, {}});
      found = listed.end() - 1;
      for (const KnobValue& knob : row.config.knobs) found->names.push_back(knob.name);
      if (found->names.size() > kMostKnobs)
        throw_user("{}: {} has {} knobs; a search takes up to {}", table.file, row.config.family,
                   found->names.size(), kMostKnobs);
    }
    std::vector<std::int64_t> point;
    for (const KnobValue& knob : row.config.knobs) point.push_back(knob.value);
    found->points.push_back(std::move(point));
  }
  std::vector<FamilySpace> families;
  for (Listed& each : listed)
    families.push_back(listed_family(each.family, each.names, std::move(each.points)));
  return Space(std::move(families));
}

}  // namespace lehr
