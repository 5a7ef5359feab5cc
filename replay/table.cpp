// Converts tables to spaces, and looks up their times.
#include "replay/table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"

namespace lehr {

double Table::optimum_us() const {
  double best = std::numeric_limits<double>::infinity();
  for (const TableRow& row : rows)
    if (row.time_us) best = std::min(best, *row.time_us);
  CHECK(std::isfinite(best), "{}: no row has a time", file);
  return best;
}

namespace {

struct Listed {
  std::string family;
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> points;
};

// Throws Error(kUser) if there are more knobs than a Point can hold.
void require_searchable(const std::string& file, const Listed& listed) {
  if (listed.names.size() > kMostKnobs)
    throw_user("{}: {} has {} knobs; a search takes up to {}", file, listed.family, listed.names.size(),
               kMostKnobs);
  for (std::size_t i = 0; i < listed.names.size(); ++i) {
    std::set<std::int64_t> values;
    for (const auto& point : listed.points) values.insert(point[i]);
    if (values.size() > kMostValues)
      throw_user("{}: {} has {} different values of {}; a search takes up to {}", file, listed.family,
                 values.size(), listed.names[i], kMostValues);
  }
}

}  // namespace

Space space_of(const Table& table) {
  std::vector<Listed> listed;  // in the order of the table
  for (const TableRow& row : table.rows) {
    auto found = std::ranges::find(listed, row.config.family, &Listed::family);
    if (found == listed.end()) {
      listed.push_back({row.config.family, {}, {}});
      found = listed.end() - 1;
      for (const KnobValue& knob : row.config.knobs) found->names.push_back(knob.name);
    }
    std::vector<std::int64_t> point;
    for (const KnobValue& knob : row.config.knobs) point.push_back(knob.value);
    found->points.push_back(std::move(point));
  }
  std::vector<FamilySpace> families;
  for (Listed& each : listed) {
    require_searchable(table.file, each);
    families.push_back(listed_family(each.family, each.names, std::move(each.points)));
  }
  return Space(std::move(families));
}

}  // namespace lehr
