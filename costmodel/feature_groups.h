// Groups of columns of a feature row.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace lehr {

struct FeatureGroup {
  std::string_view name;
  std::string_view meaning;  ///< one line
  std::size_t first = 0;     ///< its first column
  std::size_t columns = 0;
};

/// Returns the sections of a row in order; together they are feature_table().
std::span<const FeatureGroup> feature_groups();

}  // namespace lehr
