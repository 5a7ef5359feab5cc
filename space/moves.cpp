// Moves within a space: one-step neighbours, random mutation. All results are valid.
#include <algorithm>

#include "base/error.h"
#include "space/space.h"

namespace lehr {
namespace {

constexpr int kAttempts = 32;           // the contract of Space::mutate
constexpr int kFamilyChangeOneIn = 64;  // the contract of Space::mutate

/// Returns the position of the knob's own value among its `choices`.
std::size_t rank_of(std::uint16_t position, const std::vector<std::uint16_t>& choices) {
  const auto found = std::ranges::find(choices, position);
  CHECK(found != choices.end(), "position {} is not a valid one here", position);
  return static_cast<std::size_t>(found - choices.begin());
}

/// Returns another rank of `size` > 1: one step away half of the time (inwards at an end), else any other.
std::size_t other_rank(std::size_t now, std::size_t size, Rng& rng) {
  if (rng.below(2) == 0) {
    if (now == 0) return 1;
    if (now + 1 == size) return now - 1;
    return rng.below(2) == 0 ? now - 1 : now + 1;
  }
  const std::size_t drawn = rng.below(size - 1);
  return drawn < now ? drawn : drawn + 1;
}

bool is_movable(const Knob& knob) {
  return knob.values.size() > 1;
}

}  // namespace

std::vector<Point> Space::neighbours(const Point& point) const {
  const FamilySpace& family = families_[point.family];
  std::vector<Point> found;
  for (std::size_t i = 0; i < family.knobs().size(); ++i) {
    const std::vector<std::uint16_t> choices = family.choices(point, i);
    const std::size_t now = rank_of(point.knobs[i], choices);
    for (const std::size_t next : {now - 1, now + 1}) {  // now - 1 wraps round below 0, and fails the test
      if (next >= choices.size()) continue;
      Point moved = point;
      moved.knobs[i] = choices[next];
      if (family.repair(moved, i)) found.push_back(moved);
    }
  }
  return found;
}

std::optional<Point> Space::mutate(const Point& point, Rng& rng) const {
  if (families_.size() > 1 && rng.below(kFamilyChangeOneIn) == 0) {
    std::vector<std::size_t> others = sampled_;
    std::erase(others, point.family);
    if (!others.empty()) {
      if (auto fresh = sample_family(others[rng.below(others.size())], rng)) return fresh;
    }
  }
  const FamilySpace& family = families_[point.family];
  const auto movable = std::ranges::count_if(family.knobs(), is_movable);
  if (movable == 0) return std::nullopt;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::size_t index = 0;
    for (std::size_t left = rng.below(static_cast<std::uint64_t>(movable));; ++index) {
      if (is_movable(family.knobs()[index]) && left-- == 0) break;
    }
    const std::vector<std::uint16_t> choices = family.choices(point, index);
    if (choices.size() < 2) continue;
    Point moved = point;
    moved.knobs[index] = choices[other_rank(rank_of(point.knobs[index], choices), choices.size(), rng)];
    if (family.repair(moved, index)) return moved;
  }
  return std::nullopt;
}

}  // namespace lehr
