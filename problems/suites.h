// Lists of problems that come with the program, by name.
#pragma once

#include <span>
#include <string_view>

namespace lehr {

struct Suite {
  std::string_view name;
  /// The list as text for read_problems().
  std::string_view text;
  /// A sentence for each part of the original list that is not a workload.
  std::span<const std::string_view> left_out;
};
std::span<const Suite> suites();

}  // namespace lehr
