// A family that is a list of points. Prefixes are looked up in the sorted list.
#include <algorithm>
#include <memory>
#include <set>

#include "base/error.h"
#include "space/family_space.h"

namespace lehr {
namespace {

using Rows = std::vector<std::vector<std::int64_t>>;

// Returns whether one of the sorted `rows` begins with the first `length` values of `at`.
bool has_prefix(const Rows& rows, const Members& at, std::size_t length) {
  // Returns a negative number, 0 or a positive one if the row's prefix is before, at or after `at`.
  const auto order = [&](const std::vector<std::int64_t>& row) {
    for (std::size_t i = 0; i < length; ++i)
      if (row[i] != at[i]) return row[i] < at[i] ? -1 : 1;
    return 0;
  };
  const auto first = std::ranges::partition_point(rows, [&](const auto& row) { return order(row) < 0; });
  return first != rows.end() && order(*first) == 0;
}

}  // namespace

FamilySpace listed_family(std::string family, const std::vector<std::string>& names, Rows rows) {
  CHECK(!rows.empty(), "family {}: an empty list", family);
  for (const auto& row : rows)
    CHECK(row.size() == names.size(), "family {}: {} values for {} knobs", family, row.size(), names.size());
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  const auto sorted = std::make_shared<const Rows>(std::move(rows));
  FamilySpace space(std::move(family));
  std::vector<Point> points(sorted->size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::set<std::int64_t> distinct;
    for (const auto& row : *sorted) distinct.insert(row[i]);
    const std::vector<std::int64_t> values(distinct.begin(), distinct.end());
    space.add(names[i], "a column of the table", values);
    space.only([sorted, i](const Members& at) { return has_prefix(*sorted, at, i + 1); });
    for (std::size_t row = 0; row < points.size(); ++row)
      points[row].knobs[i] =
          static_cast<std::uint16_t>(std::ranges::lower_bound(values, (*sorted)[row][i]) - values.begin());
  }
  space.sample_from(std::move(points));
  return space;
}

}  // namespace lehr
