#include "tune/shared_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <utility>

#include "base/error.h"
#include "codegen/emit.h"

namespace lehr {
namespace {

/// Whether some other value of the knob changes the layout. The values tried are the two nearest on either
/// side and the outermost ones, as far as they are valid with the other knobs.
bool changes_layout(const FamilySpace& space, const Knob& knob, const Config& config,
                    const std::string& layout, const Workload& workload, const Limits& limits) {
  constexpr std::ptrdiff_t kNear = 2;
  const auto at = std::ranges::find(knob.values, config.at(knob.name)) - knob.values.begin();
  for (std::ptrdiff_t i = 0; i < std::ssize(knob.values); ++i) {
    const bool outermost = i == 0 || i == std::ssize(knob.values) - 1;
    if (i == at || (std::abs(i - at) > kNear && !outermost)) continue;
    Config other = config;
    std::ranges::find(other.knobs, knob.name, &KnobValue::name)->value =
        knob.values[static_cast<std::size_t>(i)];
    if (!space.find(other)) continue;
    try {
      if (prepack_layout(emit(lower(workload, other, limits))) != layout) return true;
    } catch (const std::exception&) {  // a config without a kernel has no layout
    }
  }
  return false;
}

}  // namespace

SharedLayout shared_layout(const Config& config, const Workload& workload, const Limits& limits) {
  const FamilySpace space = template_named(config.family).space(workload, limits);
  const std::string layout = prepack_layout(emit(lower(workload, config, limits)));
  SharedLayout shared = {config, {}};
  for (const Knob& knob : space.knobs())
    if (changes_layout(space, knob, config, layout, workload, limits)) shared.knobs.push_back(knob.name);
  return shared;
}

void keep_layout(Families& families, const SharedLayout& layout) {
  const Config& config = layout.config;
  const auto found = std::ranges::find(families.spaces, config.family, &FamilySpace::family);
  const auto family = std::ranges::find(families.serving, config.family, &Template::name);
  CHECK(found != families.spaces.end() && family != families.serving.end(), "{} does not serve the workload",
        config.family);
  FamilySpace space = *found;
  CHECK(space.find(config).has_value(), "{} is not in the space", to_text(config));
  std::vector<std::pair<std::size_t, std::int64_t>> kept;  // positions of members, and their values
  for (const Knob& knob : space.knobs())
    if (std::ranges::count(layout.knobs, knob.name) > 0) kept.push_back({knob.place, config.at(knob.name)});
  space.forbid("lays its inputs out in another way", [kept](const Members& members) {
    return std::ranges::any_of(kept, [&](const auto& each) { return members[each.first] != each.second; });
  });
  families.serving = std::vector<Template>{*family};
  families.spaces = {std::move(space)};
  families.defaults = {config};
}

}  // namespace lehr
