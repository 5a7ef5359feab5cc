// Moves within a space: one-step neighbours, random mutation, crossover. All results are valid.
#include <algorithm>

#include "space/space.h"

namespace lehr {
namespace {

constexpr int kAttempts = 32;           // the contract of Space::mutate
constexpr int kFamilyChangeOneIn = 64;  // the contract of Space::mutate

// What knob `index` may take after `values`; borrows the knob's own list where it is independent.
std::span<const std::int64_t> choices(const FamilySpace& family, std::span<const std::int64_t> values,
                                      std::size_t index, std::vector<std::int64_t>& storage) {
  if (!family.knobs()[index].only) return family.knobs()[index].values;
  storage = family.values_after(values, index);
  return storage;
}

std::size_t position(std::span<const std::int64_t> choices, std::int64_t value) {
  const auto found = std::find(choices.begin(), choices.end(), value);
  CHECK(found != choices.end(), "{} is not a valid value here", value);
  return static_cast<std::size_t>(found - choices.begin());
}

// Another position among `size` > 1: by one step half of the time (inwards at an end), else any.
std::size_t other_position(std::size_t now, std::size_t size, Rng& rng) {
  if (rng.below(2) == 0) {
    if (now == 0) return 1;
    if (now + 1 == size) return now - 1;
    return rng.below(2) == 0 ? now - 1 : now + 1;
  }
  const std::size_t drawn = rng.below(size - 1);
  return drawn < now ? drawn : drawn + 1;
}

void assign(Config& config, std::span<const std::int64_t> values) {
  for (std::size_t i = 0; i < values.size(); ++i) config.knobs[i].value = values[i];
}

}  // namespace

std::vector<Config> Space::neighbours(const Config& config) const {
  const FamilySpace& family = family_of(config);
  const auto start = family.values_of(config);
  std::vector<Config> found;
  std::vector<std::int64_t> storage;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const auto options = choices(family, start, i, storage);
    const std::size_t now = position(options, start[i]);
    for (const std::size_t next : {now - 1, now + 1}) {  // now - 1 wraps round below 0, and fails the test
      if (next >= options.size()) continue;
      auto values = start;
      values[i] = options[next];
      if (family.repair(values, i)) found.push_back(family.config_of(values));
    }
  }
  return found;
}

std::optional<Config> Space::mutate(const Config& config, Rng& rng) const {
  const FamilySpace& family = family_of(config);
  if (families_.size() > 1 && rng.below(kFamilyChangeOneIn) == 0) {
    std::vector<std::size_t> others = sampled_;
    std::erase(others, static_cast<std::size_t>(&family - families_.data()));
    if (!others.empty()) {
      if (auto fresh = families_[others[rng.below(others.size())]].sample(rng)) return fresh;
    }
  }
  const auto start = family.values_of(config);
  const auto movable = std::count_if(family.knobs().begin(), family.knobs().end(),
                                     [](const Knob& knob) { return knob.values.size() > 1; });
  if (movable == 0) return std::nullopt;

  auto values = start;
  std::vector<std::int64_t> storage;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::size_t index = 0;
    for (std::size_t left = rng.below(static_cast<std::uint64_t>(movable));; ++index) {
      if (family.knobs()[index].values.size() > 1 && left-- == 0) break;
    }
    const auto options = choices(family, start, index, storage);
    if (options.size() < 2) continue;
    values[index] = options[other_position(position(options, start[index]), options.size(), rng)];
    if (family.repair(values, index)) {
      Config moved = config;
      assign(moved, values);
      return moved;
    }
    std::copy(start.begin() + static_cast<std::ptrdiff_t>(index), start.end(),
              values.begin() + static_cast<std::ptrdiff_t>(index));
  }
  return std::nullopt;
}

std::optional<Config> Space::crossover(const Config& a, const Config& b, Rng& rng) const {
  if (a.family != b.family) return std::nullopt;
  const FamilySpace& family = family_of(a);
  auto values = family.values_of(a);
  const auto other = family.values_of(b);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (rng.below(2) == 0) values[i] = other[i];
  }
  if (!values.empty() && !family.repair(values, 0)) return std::nullopt;
  return family.config_of(values);
}

}  // namespace lehr
