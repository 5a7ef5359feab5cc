#include "base/target.h"

#include <algorithm>

namespace lehr {

std::optional<Target> target_named(std::string_view name) {
  const auto found = std::ranges::find(kTargets, name, [](Target target) { return name_of(target); });
  return found == kTargets.end() ? std::nullopt : std::optional(*found);
}

std::string names_with(Feature feature) {
  std::string names;
  for (const Target target : kTargets)
    if (target.has(feature)) (names += names.empty() ? "" : " and ") += name_of(target);
  return names;
}

}  // namespace lehr
