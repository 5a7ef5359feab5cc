// The knobs and rules of one kernel family: building them, judging configs, drawing and repairing points.
#include "space/family_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/power_of_two.h"

namespace lehr {
namespace {

// Limit of draws in the contract of FamilySpace::sample.
constexpr int kMaxDraws = 400'000;

}  // namespace

FamilySpace::FamilySpace(std::string family, const Members& unset)
    : family_(std::move(family)), unset_(unset) {
  CHECK(is_name(family_), "family \"{}\"", family_);
}

void FamilySpace::knob(std::size_t place, std::string_view name, std::string_view meaning,
                       std::vector<std::int64_t> values) {
  CHECK(is_name(name), "family {}: knob \"{}\"", family_, name);
  CHECK(!values.empty(), "family {}: knob {} has no values", family_, name);
  CHECK(values.size() <= kMostValues, "family {}: knob {} has {} values", family_, name, values.size());
  CHECK(std::set<std::int64_t>(values.begin(), values.end()).size() == values.size(),
        "family {}: knob {} names a value twice: {}", family_, name, fmt::join(values, " "));
  CHECK(place < kMostKnobs, "family {}: knob {} is at place {} of {}", family_, name, place, kMostKnobs);
  for (const Knob& other : knobs_)
    CHECK(other.name != name && other.place != place,
          "family {}: two knobs are called {}, or are at one place", family_, name);
  knobs_.push_back({std::string(name), std::string(meaning), std::move(values), place, nullptr, {}});
}

void FamilySpace::only(MembersTest goes) {
  CHECK(!knobs_.empty() && goes != nullptr && !knobs_.back().only, "family {}: nothing to depend on",
        family_);
  knobs_.back().only = std::move(goes);
}

void FamilySpace::forbid(std::string_view sentence, MembersTest when) {
  CHECK(!knobs_.empty() && when != nullptr, "family {}: rule \"{}\"", family_, sentence);
  knobs_.back().rules.push_back({std::string(sentence), std::move(when)});
}

std::size_t FamilySpace::add(std::string_view name, std::string_view meaning,
                             std::vector<std::int64_t> values) {
  const std::size_t place = knobs_.size();
  knob(place, name, meaning, std::move(values));
  return place;
}

Members FamilySpace::members_after(const Point& point, std::size_t count) const {
  Members members = unset_;
  for (std::size_t i = 0; i < count; ++i) set(members, point, i);
  return members;
}

bool FamilySpace::goes(std::size_t index, const Members& members) const {
  const Knob& knob = knobs_[index];
  return !knob.only || knob.only(members);
}

const Rule* FamilySpace::broken(std::size_t index, const Members& members) const {
  for (const Rule& rule : knobs_[index].rules)
    if (rule.forbids(members)) return &rule;
  return nullptr;
}

bool FamilySpace::allows(const Point& point, std::size_t index) const {
  const Members members = members_after(point, index + 1);
  return goes(index, members) && !broken(index, members);
}

std::vector<std::uint16_t> FamilySpace::choices(const Point& point, std::size_t index) const {
  const Knob& knob = knobs_[index];
  std::vector<std::uint16_t> found(knob.values.size());
  std::iota(found.begin(), found.end(), std::uint16_t{0});
  if (!knob.only) return found;
  Members members = members_after(point, index);
  std::erase_if(found, [&](std::uint16_t at) {
    members[knob.place] = knob.values[at];
    return !knob.only(members);
  });
  return found;
}

std::optional<std::string> FamilySpace::read(const Config& config, Point& point) const {
  if (config.family != family_) return fmt::format("it is of family {}, not {}", config.family, family_);
  Members members = unset_;
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    const Knob& knob = knobs_[i];
    const auto value = config.find(knob.name);
    if (!value) return fmt::format("the knob {} of {} is missing", knob.name, family_);
    if (i >= config.knobs.size() || config.knobs[i].name != knob.name) {
      return fmt::format("the knob {} of {} must be number {}", knob.name, family_, i + 1);
    }
    const auto found = std::ranges::find(knob.values, *value);
    if (found == knob.values.end()) {
      return fmt::format("{}={} is not one of {}", knob.name, *value, fmt::join(knob.values, ", "));
    }
    point.knobs[i] = static_cast<std::uint16_t>(found - knob.values.begin());
    set(members, point, i);
    if (!goes(i, members)) {
      std::vector<std::int64_t> allowed;
      for (const std::uint16_t at : choices(point, i)) allowed.push_back(knob.values[at]);
      if (allowed.empty()) return fmt::format("{} has no allowed value after the knobs before it", knob.name);
      return fmt::format("{}={} does not go with the knobs before it, which allow {}", knob.name, *value,
                         fmt::join(allowed, ", "));
    }
    if (const Rule* rule = broken(i, members))
      return fmt::format("{} (at {}={})", rule->sentence, knob.name, *value);
  }
  if (config.knobs.size() > knobs_.size()) {
    return fmt::format("{} has no knob {}", family_, config.knobs[knobs_.size()].name);
  }
  return std::nullopt;
}

std::optional<std::string> FamilySpace::why_invalid(const Config& config) const {
  Point point;
  return read(config, point);
}

std::optional<Point> FamilySpace::find(const Config& config) const {
  Point point;
  return read(config, point) ? std::nullopt : std::optional(point);
}

bool FamilySpace::contains(const Point& point) const {
  Members members = unset_;
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    set(members, point, i);
    if (!goes(i, members) || broken(i, members)) return false;
  }
  return true;
}

void FamilySpace::sample_from(std::vector<Point> points) {
  CHECK(!points.empty(), "family {}: an empty list", family_);
  starts_ = std::move(points);
  start_length_ = knobs_.size();
}

void FamilySpace::list_prefixes(std::size_t most) {
  if (!starts_.empty()) return;
  starts_ = {Point{}};
  for (start_length_ = 0; start_length_ < knobs_.size(); ++start_length_) {
    const std::size_t next = start_length_;
    std::vector<Point> longer;
    for (Point prefix : starts_) {
      Members members = members_after(prefix, next);
      for (std::size_t at = 0; at < knobs_[next].values.size(); ++at) {
        prefix.knobs[next] = static_cast<std::uint16_t>(at);
        set(members, prefix, next);
        if (goes(next, members) && !broken(next, members)) longer.push_back(prefix);
      }
      if (longer.size() > most) break;
    }
    if (longer.empty() || longer.size() > most) break;
    starts_ = std::move(longer);
  }
}

bool FamilySpace::draw(Rng& rng, Point& point) const {
  point = starts_.empty() ? Point{} : starts_[rng.below(starts_.size())];
  Members members = members_after(point, start_length_);
  for (std::size_t i = start_length_; i < knobs_.size(); ++i) {
    // Draws from all values, not only from those that go with the prefix. Otherwise a point after a prefix
    // with few choices would come up more often than one after a prefix with many.
    point.knobs[i] = static_cast<std::uint16_t>(rng.below(knobs_[i].values.size()));
    set(members, point, i);
    if (!goes(i, members) || broken(i, members)) return false;
  }
  return true;
}

std::optional<Point> FamilySpace::sample(Rng& rng) const {
  Point point;
  for (int i = 0; i < kMaxDraws; ++i) {
    if (draw(rng, point)) return point;
  }
  return std::nullopt;
}

Members FamilySpace::members_of(const Point& point) const {
  return members_after(point, knobs_.size());
}

Members FamilySpace::members_of(const Config& config) const {
  Members members = unset_;
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    const bool in_turn = i < config.knobs.size() && config.knobs[i].name == knobs_[i].name;
    members[knobs_[i].place] = in_turn ? config.knobs[i].value : config.at(knobs_[i].name);
  }
  return members;
}

Config FamilySpace::config_of(const Point& point) const {
  return config_of(members_of(point));
}

Config FamilySpace::config_of(const Members& schedule) const {
  Config config{family_, {}};
  config.knobs.reserve(knobs_.size());
  for (const Knob& knob : knobs_) config.knobs.push_back({knob.name, schedule[knob.place]});
  return config;
}

bool FamilySpace::repair(Point& point, std::size_t changed) const {
  Members members = members_after(point, changed);
  for (std::size_t i = changed; i < knobs_.size(); ++i) {
    set(members, point, i);
    if (i > changed && !goes(i, members)) {
      const std::vector<std::uint16_t> allowed = choices(point, i);
      if (allowed.empty()) return false;
      const int now = point.knobs[i];
      point.knobs[i] = *std::ranges::min_element(allowed, {}, [=](int at) { return std::abs(at - now); });
      set(members, point, i);
    }
    if (broken(i, members)) return false;
  }
  return true;
}

std::optional<std::string> FamilySpace::read_ahead(const Point& point, const Point& others) const {
  Members unset = unset_, later = members_of(others);
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    set(unset, point, i);
    set(later, point, i);
    if (goes(i, unset) != goes(i, later)) return knobs_[i].name;
    if (!goes(i, unset)) break;  // later knobs are not checked
    for (const Rule& rule : knobs_[i].rules) {
      const bool forbidden = rule.forbids(unset);
      if (rule.forbids(later) != forbidden) return rule.sentence;
      if (forbidden) return std::nullopt;
    }
  }
  return std::nullopt;
}

Config FamilySpace::nearest(const Members& wanted) const {
  Point point;
  const std::function<bool(std::size_t)> extend = [&](std::size_t index) {
    if (index == knobs_.size()) return true;
    const Knob& knob = knobs_[index];
    std::vector<std::uint16_t> order = choices(point, index);
    std::ranges::stable_sort(
        order, {}, [&](std::uint16_t at) { return std::abs(knob.values[at] - wanted[knob.place]); });
    for (const std::uint16_t at : order) {
      point.knobs[index] = at;
      if (allows(point, index) && extend(index + 1)) return true;
    }
    return false;
  };
  CHECK(extend(0), "{} has no valid schedule", family_);
  return config_of(point);
}

double FamilySpace::product_size() const {
  double size = starts_.empty() ? 1 : static_cast<double>(starts_.size());
  for (std::size_t i = start_length_; i < knobs_.size(); ++i)
    size *= static_cast<double>(knobs_[i].values.size());
  return size;
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
