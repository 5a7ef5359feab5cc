// The knobs and rules of one kernel family: building them, judging a config, drawing and repairing
// values.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/power_of_two.h"
#include "space/space.h"

namespace lehr {
namespace {

// "nullopt when 400 000 draws found none": the contract of FamilySpace::sample.
constexpr int kMaxDraws = 400'000;

bool is_in(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// The member of `allowed` (a subset of `superset`, in its order) nearest to `value` by position in
// `superset`.
std::int64_t nearest_of(const std::vector<std::int64_t>& superset, const std::vector<std::int64_t>& allowed,
                        std::int64_t value) {
  const auto position = [&](std::int64_t v) {
    return std::find(superset.begin(), superset.end(), v) - superset.begin();
  };
  const auto target = position(value);
  std::int64_t best = allowed.front();
  auto best_distance = std::abs(position(best) - target);
  for (std::int64_t candidate : allowed) {
    const auto distance = std::abs(position(candidate) - target);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace

FamilySpace::FamilySpace(std::string family, std::vector<std::int64_t> unset)
    : family_(std::move(family)), unset_(std::move(unset)) {
  CHECK(is_name(family_), "family \"{}\"", family_);
}

void FamilySpace::knob(std::size_t place, std::string_view name, std::string_view meaning,
                       std::vector<std::int64_t> values) {
  CHECK(is_name(name), "family {}: knob \"{}\"", family_, name);
  CHECK(!values.empty(), "family {}: knob {} has no values", family_, name);
  CHECK(std::set<std::int64_t>(values.begin(), values.end()).size() == values.size(),
        "family {}: knob {} names a value twice: {}", family_, name, fmt::join(values, " "));
  CHECK(place < unset_.size(), "family {}: knob {} is at place {} of {}", family_, name, place,
        unset_.size());
  for (const Knob& other : knobs_)
    CHECK(other.name != name && other.place != place,
          "family {}: two knobs are called {}, or are at one place", family_, name);
  knobs_.push_back({name, std::string(meaning), std::move(values), place, nullptr, {}});
}

void FamilySpace::only(PointTest goes) {
  CHECK(!knobs_.empty() && goes != nullptr && !knobs_.back().only, "family {}: nothing to depend on",
        family_);
  knobs_.back().only = std::move(goes);
}

void FamilySpace::forbid(std::string_view sentence, PointTest when) {
  CHECK(!knobs_.empty() && when != nullptr, "family {}: rule \"{}\"", family_, sentence);
  knobs_.back().rules.push_back({std::string(sentence), std::move(when)});
}

std::size_t FamilySpace::add(std::string_view name, std::string_view meaning,
                             std::vector<std::int64_t> values) {
  unset_.push_back(0);
  knob(unset_.size() - 1, name, meaning, std::move(values));
  return unset_.size() - 1;
}

std::vector<std::int64_t> FamilySpace::places_of(std::span<const std::int64_t> prefix) const {
  std::vector<std::int64_t> places = unset_;
  for (std::size_t i = 0; i < prefix.size(); ++i) places[knobs_[i].place] = prefix[i];
  return places;
}

bool FamilySpace::goes(std::size_t index, std::span<const std::int64_t> places) const {
  const Knob& knob = knobs_[index];
  return !knob.only || knob.only(Point(places));
}

const Rule* FamilySpace::broken(std::size_t index, std::span<const std::int64_t> places) const {
  for (const Rule& rule : knobs_[index].rules)
    if (rule.forbids(Point(places))) return &rule;
  return nullptr;
}

// Leaves one of the values in `places`.
std::vector<std::int64_t> FamilySpace::values_in(std::vector<std::int64_t>& places, std::size_t index) const {
  const Knob& knob = knobs_[index];
  if (!knob.only) return knob.values;
  std::vector<std::int64_t> values;
  for (const std::int64_t value : knob.values) {
    places[knob.place] = value;
    if (knob.only(Point(places))) values.push_back(value);
  }
  return values;
}

std::vector<std::int64_t> FamilySpace::values_after(std::span<const std::int64_t> prefix,
                                                    std::size_t index) const {
  CHECK(index < knobs_.size() && prefix.size() >= index, "knob {} of {} after {} values", index,
        knobs_.size(), prefix.size());
  if (!knobs_[index].only) return knobs_[index].values;
  std::vector<std::int64_t> places = places_of(prefix.first(index));
  return values_in(places, index);
}

bool FamilySpace::holds(std::span<const std::int64_t> prefix) const {
  return knobs_[prefix.size() - 1].rules.empty() || broken(prefix.size() - 1, places_of(prefix)) == nullptr;
}

std::optional<std::string> FamilySpace::violation(std::span<const std::int64_t> prefix) const {
  CHECK(!prefix.empty() && prefix.size() <= knobs_.size(), "{} values", prefix.size());
  if (const Rule* rule = broken(prefix.size() - 1, places_of(prefix))) return rule->sentence;
  return std::nullopt;
}

std::optional<std::string> FamilySpace::why_invalid(const Config& config) const {
  if (config.family != family_) return fmt::format("it is of family {}, not {}", config.family, family_);
  std::vector<std::int64_t> places = unset_;
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    const Knob& knob = knobs_[i];
    const auto value = config.find(knob.name);
    if (!value) return fmt::format("the knob {} of {} is missing", knob.name, family_);
    if (i >= config.knobs.size() || config.knobs[i].name != knob.name) {
      return fmt::format("the knob {} of {} must be number {}", knob.name, family_, i + 1);
    }
    if (!is_in(knob.values, *value)) {
      return fmt::format("{}={} is not one of {}", knob.name, *value, fmt::join(knob.values, ", "));
    }
    places[knob.place] = *value;
    if (!goes(i, places)) {
      const auto allowed = values_in(places, i);
      if (allowed.empty()) return fmt::format("{} has no allowed value after the knobs before it", knob.name);
      return fmt::format("{}={} does not go with the knobs before it, which allow {}", knob.name, *value,
                         fmt::join(allowed, ", "));
    }
    if (const Rule* rule = broken(i, places))
      return fmt::format("{} (at {}={})", rule->sentence, knob.name, *value);
  }
  if (config.knobs.size() > knobs_.size()) {
    return fmt::format("{} has no knob {}", family_, config.knobs[knobs_.size()].name);
  }
  return std::nullopt;
}

bool FamilySpace::contains(std::span<const std::int64_t> values) const {
  CHECK(values.size() == knobs_.size(), "{} values for {} knobs", values.size(), knobs_.size());
  std::vector<std::int64_t> places = unset_;
  for (std::size_t i = 0; i < values.size(); ++i) {
    places[knobs_[i].place] = values[i];
    if (!goes(i, places) || broken(i, places)) return false;
  }
  return true;
}

void FamilySpace::sample_from(std::vector<std::vector<std::int64_t>> points) {
  CHECK(!points.empty(), "family {}: an empty list", family_);
  starts_ = std::move(points);
}

void FamilySpace::list_prefixes(std::size_t most) {
  if (!starts_.empty()) return;
  std::vector<std::vector<std::int64_t>> prefixes = {{}};
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    std::vector<std::vector<std::int64_t>> longer;
    std::vector<std::int64_t> places = unset_;
    for (const std::vector<std::int64_t>& prefix : prefixes) {
      for (std::size_t before = 0; before < i; ++before) places[knobs_[before].place] = prefix[before];
      for (const std::int64_t value : knobs_[i].values) {
        places[knobs_[i].place] = value;
        if (!goes(i, places) || broken(i, places)) continue;
        longer.push_back(prefix);
        longer.back().push_back(value);
      }
      if (longer.size() > most) break;
    }
    if (longer.empty() || longer.size() > most) break;
    prefixes = std::move(longer);
  }
  starts_ = std::move(prefixes);
}

bool FamilySpace::draw_into(Rng& rng, std::vector<std::int64_t>& values,
                            std::vector<std::int64_t>& places) const {
  values.clear();
  places = unset_;
  if (!starts_.empty()) values = starts_[rng.below(starts_.size())];
  for (std::size_t i = 0; i < values.size(); ++i) places[knobs_[i].place] = values[i];
  for (std::size_t i = values.size(); i < knobs_.size(); ++i) {
    const Knob& knob = knobs_[i];
    values.push_back(knob.values[rng.below(knob.values.size())]);
    places[knob.place] = values.back();
    // From all values, not from those that go with the prefix: else one after a prefix with few choices would
    // come up more often than one after a prefix with many.
    if (!goes(i, places) || broken(i, places)) return false;
  }
  return true;
}

bool FamilySpace::draw(Rng& rng, std::vector<std::int64_t>& values) const {
  std::vector<std::int64_t> places;
  return draw_into(rng, values, places);
}

std::optional<Config> FamilySpace::sample(Rng& rng) const {
  std::vector<std::int64_t> values, places;
  for (int i = 0; i < kMaxDraws; ++i) {
    if (draw_into(rng, values, places)) return config_of(values);
  }
  return std::nullopt;
}

Config FamilySpace::config_of(std::span<const std::int64_t> values) const {
  CHECK(values.size() == knobs_.size(), "family {}: {} values for {} knobs", family_, values.size(),
        knobs_.size());
  Config config{family_, {}};
  config.knobs.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) config.knobs.push_back({knobs_[i].name, values[i]});
  return config;
}

std::vector<std::int64_t> FamilySpace::values_of(const Config& config) const {
  CHECK(config.family == family_ && config.knobs.size() == knobs_.size(), "{} in family {}", to_text(config),
        family_);
  std::vector<std::int64_t> values(knobs_.size());
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    CHECK(config.knobs[i].name == knobs_[i].name, "{} in family {}", to_text(config), family_);
    values[i] = config.knobs[i].value;
  }
  return values;
}

std::vector<std::int64_t> FamilySpace::values_at(std::span<const std::int64_t> places) const {
  std::vector<std::int64_t> values;
  for (const Knob& knob : knobs_) values.push_back(places[knob.place]);
  return values;
}

std::vector<std::int64_t> FamilySpace::places_of(const Config& config) const {
  std::vector<std::int64_t> places = unset_;
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    const bool in_turn = i < config.knobs.size() && config.knobs[i].name == knobs_[i].name;
    places[knobs_[i].place] = in_turn ? config.knobs[i].value : config.at(knobs_[i].name);
  }
  return places;
}

bool FamilySpace::repair(std::span<std::int64_t> values, std::size_t changed) const {
  std::vector<std::int64_t> places = places_of(values.first(changed));
  for (std::size_t i = changed; i < knobs_.size(); ++i) {
    std::int64_t& place = places[knobs_[i].place];
    place = values[i];
    if (i > changed && !goes(i, places)) {
      const auto allowed = values_in(places, i);
      if (allowed.empty()) return false;
      place = values[i] = nearest_of(knobs_[i].values, allowed, values[i]);
    }
    if (broken(i, places)) return false;
  }
  return true;
}

std::optional<std::string> FamilySpace::read_ahead(std::span<const std::int64_t> values,
                                                   std::span<const std::int64_t> others) const {
  std::vector<std::int64_t> unset = unset_, set = places_of(others);
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    unset[knobs_[i].place] = set[knobs_[i].place] = values[i];
    if (goes(i, unset) != goes(i, set)) return knobs_[i].name.text();
    if (!goes(i, unset)) break;  // none of the others is asked
    for (const Rule& rule : knobs_[i].rules) {
      const bool forbidden = rule.forbids(Point(unset));
      if (rule.forbids(Point(set)) != forbidden) return rule.sentence;
      if (forbidden) return std::nullopt;
    }
  }
  return std::nullopt;
}

Config FamilySpace::nearest(std::span<const std::int64_t> wanted) const {
  CHECK(wanted.size() == knobs_.size(), "{} values for {} knobs", wanted.size(), knobs_.size());
  std::vector<std::int64_t> values;
  const std::function<bool()> extend = [&] {
    if (values.size() == wanted.size()) return true;
    const std::int64_t target = wanted[values.size()];
    std::vector<std::int64_t> choices = values_after(values, values.size());
    std::ranges::stable_sort(choices, {}, [&](std::int64_t choice) { return std::abs(choice - target); });
    for (const std::int64_t choice : choices) {
      values.push_back(choice);
      if (holds(values) && extend()) return true;
      values.pop_back();
    }
    return false;
  };
  CHECK(extend(), "{} has no valid schedule", family_);
  return config_of(values);
}

double FamilySpace::product_size() const {
  double size = starts_.empty() ? 1 : static_cast<double>(starts_.size());
  const std::size_t drawn_from = starts_.empty() ? 0 : starts_.front().size();
  for (std::size_t i = drawn_from; i < knobs_.size(); ++i)
    size *= static_cast<double>(knobs_[i].values.size());
  return size;
}

std::vector<std::int64_t> factors(std::int64_t extent, std::int64_t limit) {
  CHECK(extent >= 1, "extent {}", extent);
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  for (std::int64_t f = 1; f <= extent / f; ++f) {
    if (extent % f != 0) continue;
    if (f <= limit) low.push_back(f);
    if (extent / f != f && extent / f <= limit) high.push_back(extent / f);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

std::vector<std::int64_t> powers_of_two(std::int64_t first, std::int64_t last) {
  CHECK(is_power_of_two(first), "{} is not a power of two", first);
  std::vector<std::int64_t> values;
  for (std::int64_t v = first; v <= last; v *= 2) {
    values.push_back(v);
    if (v > last / 2) break;  // the next one may not fit 64 bits
  }
  return values;
}

}  // namespace lehr
