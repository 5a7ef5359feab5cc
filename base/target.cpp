#include "base/target.h"

#include <algorithm>

namespace lehr {

std::optional<Target> target_named(std::string_view name) {
  const auto found = std::ranges::find(kTargets, name, [](Target target) { return name_of(target); });
  return found == kTargets.end() ? std::nullopt : std::optional(*found);
}

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Target target : kTargets) names.emplace_back(name_of(target));
  return names;
}

}  // namespace lehr
