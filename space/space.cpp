// The union of families: looking one up, judging a config, sampling, estimating the size.
#include "space/space.h"

#include <fmt/format.h>

#include <numeric>

namespace lehr {

Space::Space(std::vector<FamilySpace> families) : families_(std::move(families)) {
  for (std::size_t i = 0; i < families_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      CHECK(families_[i].family() != families_[j].family(), "two families are called {}",
            families_[i].family());
    }
  }
}

const FamilySpace* Space::family(std::string_view name) const {
  for (const FamilySpace& family : families_) {
    if (family.family() == name) return &family;
  }
  return nullptr;
}

const FamilySpace& Space::family_of(const Config& config) const {
  const FamilySpace* found = family(config.family);
  CHECK(found != nullptr, "{} is of no family of this space", to_text(config));
  return *found;
}

std::optional<std::string> Space::why_invalid(const Config& config) const {
  if (const FamilySpace* found = family(config.family)) return found->why_invalid(config);
  std::string known;
  for (const FamilySpace& each : families_) known += (known.empty() ? "" : ", ") + each.family();
  return fmt::format("the family {} is not one of {}", config.family, known);
}

std::optional<Config> Space::try_sample(Rng& rng) const {
  std::vector<std::size_t> left(families_.size());
  std::iota(left.begin(), left.end(), 0);
  while (!left.empty()) {
    const std::size_t drawn = rng.below(left.size());
    if (auto config = families_[left[drawn]].sample(rng)) return config;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(drawn));
  }
  return std::nullopt;
}

Config Space::sample(Rng& rng) const {
  if (auto config = try_sample(rng)) return *std::move(config);
  throw_not_found("the space holds no valid config that sampling can find ({} families)", families_.size());
}

double Space::size_estimate(Rng& rng, int draws) const {
  CHECK(draws > 0, "{} draws", draws);
  double size = 0;
  for (const FamilySpace& family : families_) {
    int valid = 0;
    for (int i = 0; i < draws; ++i) valid += family.draw(rng).has_value() ? 1 : 0;
    size += family.product_size() * valid / draws;
  }
  return size;
}

}  // namespace lehr
