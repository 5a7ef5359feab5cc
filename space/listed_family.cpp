// A family that is a list of points: a sorted list answers which prefixes there are.
#include <algorithm>
#include <memory>
#include <set>

#include "space/space.h"

namespace lehr {
namespace {

using Points = std::vector<std::vector<std::int64_t>>;

// Whether one of the sorted `points` begins with the first `length` values of `at`.
bool has_prefix(const Points& points, const Point& at, std::size_t length) {
  // Negative, 0 or positive as the point's prefix is before, at or after `at`.
  const auto order = [&](const std::vector<std::int64_t>& point) {
    for (std::size_t i = 0; i < length; ++i)
      if (point[i] != at[i]) return point[i] < at[i] ? -1 : 1;
    return 0;
  };
  const auto first =
      std::ranges::partition_point(points, [&](const auto& point) { return order(point) < 0; });
  return first != points.end() && order(*first) == 0;
}

}  // namespace

FamilySpace listed_family(std::string family, const std::vector<std::string>& names, Points points) {
  CHECK(!points.empty(), "family {}: an empty list", family);
  for (const auto& point : points)
    CHECK(point.size() == names.size(), "family {}: {} values for {} knobs", family, point.size(),
          names.size());
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  const auto sorted = std::make_shared<const Points>(points);
  FamilySpace space(std::move(family));
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::set<std::int64_t> values;
    for (const auto& point : *sorted) values.insert(point[i]);
    space.add(names[i], "a column of the table", {values.begin(), values.end()});
    space.only([sorted, i](const Point& at) { return has_prefix(*sorted, at, i + 1); });
  }
  space.sample_from(std::move(points));
  return space;
}

}  // namespace lehr
