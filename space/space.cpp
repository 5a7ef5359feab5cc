// The union of families: looking one up, judging a config, sampling, estimating the size.
#include "space/space.h"

#include <fmt/core.h>

#include <unordered_set>

#include "base/error.h"

namespace lehr {
namespace {

/// Maximum number of valid prefixes to list. Listing them takes a millisecond. A sample from the families for
/// tensor cores then takes 5 to 6 us instead of 180 to 210 (bench/score_bench, Sample).
constexpr std::size_t kPrefixes = 4096;

}  // namespace

Space::Space(std::vector<FamilySpace> families) : families_(std::move(families)) {
  for (std::size_t i = 0; i < families_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      CHECK(families_[i].family() != families_[j].family(), "two families are called {}",
            families_[i].family());
    }
  }
  Rng rng(0);
  for (std::size_t i = 0; i < families_.size(); ++i) {
    families_[i].list_prefixes(kPrefixes);
    if (families_[i].sample(rng)) sampled_.push_back(i);
  }
}

const FamilySpace* Space::family(std::string_view name) const {
  for (const FamilySpace& family : families_) {
    if (family.family() == name) return &family;
  }
  return nullptr;
}

std::optional<std::string> Space::why_invalid(const Config& config) const {
  if (const FamilySpace* found = family(config.family)) return found->why_invalid(config);
  std::string known;
  for (const FamilySpace& each : families_) known += (known.empty() ? "" : ", ") + each.family();
  return fmt::format("the family {} is not one of {}", config.family, known);
}

std::optional<Point> Space::find(const Config& config) const {
  const FamilySpace* found = family(config.family);
  return found ? numbered(*found, found->find(config)) : std::nullopt;
}

std::optional<Point> Space::numbered(const FamilySpace& family, std::optional<Point> point) const {
  if (point) point->family = static_cast<std::uint16_t>(&family - families_.data());
  return point;
}

Point Space::point_of(const Config& config) const {
  if (const auto point = find(config)) return *point;
  throw_user("{} is not of this space: {}", to_text(config), *why_invalid(config));
}

std::optional<Point> Space::sample_family(std::size_t family, Rng& rng) const {
  std::optional<Point> point = families_[family].sample(rng);
  if (point) point->family = static_cast<std::uint16_t>(family);
  return point;
}

std::optional<Point> Space::try_sample(Rng& rng) const {
  if (sampled_.empty()) return std::nullopt;
  const std::size_t first = rng.below(sampled_.size());
  for (std::size_t i = 0; i < sampled_.size(); ++i) {  // more than one pass only for a nearly empty family
    if (const auto point = sample_family(sampled_[(first + i) % sampled_.size()], rng)) return point;
  }
  return std::nullopt;
}

Point Space::sample(Rng& rng) const {
  if (const auto point = try_sample(rng)) return *point;
  throw_not_found("the space holds no valid config that sampling can find ({} families)", families_.size());
}

std::vector<Point> distinct_samples(const Space& space, std::optional<std::ptrdiff_t> family,
                                    std::size_t count, Rng& rng) {
  constexpr int kDrawsWithoutNews = 1000;
  std::vector<Point> points;
  std::unordered_set<Point, PointHash> seen;
  for (int since_news = 0; points.size() < count && since_news < kDrawsWithoutNews; ++since_news) {
    std::optional<Point> point =
        family ? space.families()[static_cast<std::size_t>(*family)].sample(rng) : space.try_sample(rng);
    if (point && family) point->family = static_cast<std::uint16_t>(*family);
    if (!point || !seen.insert(*point).second) continue;
    points.push_back(*point);
    since_news = 0;
  }
  return points;
}

}  // namespace lehr
