// The knobs and constraints of one kernel family: building them, judging a config, drawing and repairing
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
std::int64_t nearest(const std::vector<std::int64_t>& superset, const std::vector<std::int64_t>& allowed,
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

FamilySpace::FamilySpace(std::string family) : family_(std::move(family)) {
  CHECK(is_name(family_), "family \"{}\"", family_);
}

KnobId FamilySpace::append(Knob knob) {
  CHECK(is_name(knob.name), "family {}: knob \"{}\"", family_, knob.name);
  CHECK(!knob.values.empty(), "family {}: knob {} has no values", family_, knob.name);
  CHECK(std::set<std::int64_t>(knob.values.begin(), knob.values.end()).size() == knob.values.size(),
        "family {}: knob {} names a value twice: {}", family_, knob.name, fmt::join(knob.values, " "));
  for (const Knob& other : knobs_) {
    CHECK(other.name != knob.name, "family {}: two knobs are called {}", family_, knob.name);
  }
  knobs_.push_back(std::move(knob));
  constraints_after_.emplace_back();
  return {static_cast<int>(knobs_.size()) - 1};
}

KnobId FamilySpace::add(std::string name, std::string meaning, std::vector<std::int64_t> values) {
  return append({std::move(name), std::move(meaning), std::move(values), {}});
}

KnobId FamilySpace::add_dependent(std::string name, std::string meaning, std::vector<std::int64_t> superset,
                                  std::function<std::vector<std::int64_t>(const Point&)> allowed) {
  CHECK(allowed != nullptr, "family {}: dependent knob {} has no function", family_, name);
  return append({std::move(name), std::move(meaning), std::move(superset), std::move(allowed)});
}

void FamilySpace::require(std::string reason, std::vector<KnobId> reads,
                          std::function<bool(const Point&)> holds) {
  CHECK(!reads.empty() && holds != nullptr, "family {}: constraint \"{}\"", family_, reason);
  int after = 0;
  for (KnobId id : reads) {
    CHECK(id.index >= 0 && id.index < static_cast<int>(knobs_.size()),
          "family {}: constraint \"{}\" reads knob {}", family_, reason, id.index);
    after = std::max(after, id.index);
  }
  constraints_after_[static_cast<std::size_t>(after)].push_back(static_cast<int>(constraints_.size()));
  constraints_.push_back({std::move(reason), after, std::move(holds)});
}

std::vector<std::int64_t> FamilySpace::values_after(std::span<const std::int64_t> prefix,
                                                    std::size_t index) const {
  CHECK(index < knobs_.size() && prefix.size() >= index, "knob {} of {} after {} values", index,
        knobs_.size(), prefix.size());
  const Knob& knob = knobs_[index];
  if (!knob.allowed) return knob.values;
  std::vector<std::int64_t> values = knob.allowed(Point(prefix.first(index)));
  auto known = knob.values.begin();
  for (std::int64_t value : values) {
    known = std::find(known, knob.values.end(), value);
    CHECK(known != knob.values.end(),
          "family {}: knob {} allows {}, which is not in its superset, or not in order", family_, knob.name,
          value);
    ++known;
  }
  return values;
}

bool FamilySpace::holds(std::span<const std::int64_t> prefix) const {
  for (int index : constraints_after_[prefix.size() - 1]) {
    if (!constraints_[static_cast<std::size_t>(index)].holds(Point(prefix))) return false;
  }
  return true;
}

std::optional<std::string> FamilySpace::violation(std::span<const std::int64_t> prefix) const {
  CHECK(!prefix.empty() && prefix.size() <= knobs_.size(), "{} values", prefix.size());
  for (int index : constraints_after_[prefix.size() - 1]) {
    const Constraint& constraint = constraints_[static_cast<std::size_t>(index)];
    if (!constraint.holds(Point(prefix))) return constraint.reason;
  }
  return std::nullopt;
}

std::optional<std::string> FamilySpace::why_invalid(const Config& config) const {
  if (config.family != family_) return fmt::format("it is of family {}, not {}", config.family, family_);
  std::vector<std::int64_t> prefix;
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
    if (knob.allowed) {
      const auto allowed = values_after(prefix, i);
      if (allowed.empty()) return fmt::format("{} has no allowed value after the knobs before it", knob.name);
      if (!is_in(allowed, *value)) {
        return fmt::format("{}={} does not go with the knobs before it, which allow {}", knob.name, *value,
                           fmt::join(allowed, ", "));
      }
    }
    prefix.push_back(*value);
    if (auto reason = violation(prefix)) return fmt::format("{} (at {}={})", *reason, knob.name, *value);
  }
  if (config.knobs.size() > knobs_.size()) {
    return fmt::format("{} has no knob {}", family_, config.knobs[knobs_.size()].name);
  }
  return std::nullopt;
}

bool FamilySpace::allows(std::span<const std::int64_t> values) const {
  const Knob& knob = knobs_[values.size() - 1];
  return !knob.allowed || is_in(knob.allowed(Point(values.first(values.size() - 1))), values.back());
}

bool FamilySpace::contains(std::span<const std::int64_t> values) const {
  CHECK(values.size() == knobs_.size(), "{} values for {} knobs", values.size(), knobs_.size());
  for (std::size_t n = 1; n <= values.size(); ++n)
    if (!allows(values.first(n)) || !holds(values.first(n))) return false;
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
    for (std::vector<std::int64_t>& prefix : prefixes) {
      for (const std::int64_t value : values_after(prefix, i)) {
        prefix.push_back(value);
        if (holds(prefix)) longer.push_back(prefix);
        prefix.pop_back();
      }
      if (longer.size() > most) break;
    }
    if (longer.empty() || longer.size() > most) break;
    prefixes = std::move(longer);
  }
  starts_ = std::move(prefixes);
}

bool FamilySpace::draw(Rng& rng, std::vector<std::int64_t>& values) const {
  values.clear();
  if (!starts_.empty()) values = starts_[rng.below(starts_.size())];
  for (std::size_t i = values.size(); i < knobs_.size(); ++i) {
    values.push_back(knobs_[i].values[rng.below(knobs_[i].values.size())]);
    // From the superset, not from the allowed subset: else a value after a prefix with few choices would come
    // up more often than one after a prefix with many.
    if (!allows(values) || !holds(values)) return false;
  }
  return true;
}

std::optional<Config> FamilySpace::sample(Rng& rng) const {
  std::vector<std::int64_t> values;
  for (int i = 0; i < kMaxDraws; ++i) {
    if (draw(rng, values)) return config_of(values);
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

bool FamilySpace::repair(std::span<std::int64_t> values, std::size_t changed) const {
  for (std::size_t i = changed; i < knobs_.size(); ++i) {
    if (i > changed && knobs_[i].allowed) {
      const auto allowed = values_after(values, i);
      if (allowed.empty()) return false;
      if (!is_in(allowed, values[i])) values[i] = nearest(knobs_[i].values, allowed, values[i]);
    }
    if (!holds(values.first(i + 1))) return false;
  }
  return true;
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
