// A family that is a list of points: a sorted list answers which values may follow a prefix.
#include <algorithm>
#include <memory>
#include <set>

#include "space/space.h"

namespace lehr {
namespace {

using Points = std::vector<std::vector<std::int64_t>>;

// The distinct values that follow the first `depth` knobs, which `at` gives, ascending.
std::vector<std::int64_t> following(const Points& points, const Point& at, std::size_t depth) {
  // Negative, 0 or positive as the point's prefix is before, at or after `at`.
  const auto order = [&](const std::vector<std::int64_t>& point) {
    for (std::size_t i = 0; i < depth; ++i) {
      const std::int64_t value = at[{static_cast<int>(i)}];
      if (point[i] != value) return point[i] < value ? -1 : 1;
    }
    return 0;
  };
  const auto first =
      std::partition_point(points.begin(), points.end(), [&](const auto& point) { return order(point) < 0; });
  const auto last =
      std::partition_point(first, points.end(), [&](const auto& point) { return order(point) <= 0; });
  std::vector<std::int64_t> values;
  for (auto point = first; point != last;) {
    values.push_back((*point)[depth]);
    point = std::partition_point(point, last, [&](const auto& each) { return each[depth] <= values.back(); });
  }
  return values;
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
    space.add_dependent(names[i], "a column of the table", {values.begin(), values.end()},
                        [sorted, i](const Point& at) { return following(*sorted, at, i); });
  }
  space.sample_from(std::move(points));
  return space;
}

}  // namespace lehr
