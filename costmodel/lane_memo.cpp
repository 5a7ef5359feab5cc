// A hash table with linear probing that is never full and is emptied as a whole.
#include "costmodel/lane_memo.h"

#include <algorithm>
#include <bit>

namespace lehr {
namespace {

std::uint64_t number_of(const LaneValue& value) {
  return std::uint64_t{static_cast<std::uint32_t>(value.scalar)} << 32 |
         static_cast<std::uint32_t>(value.factor);
}

std::uint64_t address_of(const LaneValue& value) {
  return std::bit_cast<std::uintptr_t>(value.lanes);
}

/// Multiply and add, one odd number per part (those of splitmix64 and xxHash64); the high bits are good.
std::uint64_t hash_of(const LaneStep& step) {
  return number_of(step.a) * 0x9e3779b97f4a7c15 + address_of(step.a) * 0xbf58476d1ce4e5b9 +
         number_of(step.b) * 0x94d049bb133111eb + address_of(step.b) * 0x9e3779b185ebca87 +
         static_cast<std::uint32_t>(step.operation) * 0xc2b2ae3d27d4eb4f;
}

}  // namespace

Lanes LaneValue::all() const {
  Lanes result;
  if (is_uniform()) {
    result.fill(scalar);
    return result;
  }
  const auto offset = static_cast<std::uint32_t>(scalar), scale = static_cast<std::uint32_t>(factor);
  for (std::size_t t = 0; t < 32; ++t)
    result[t] = static_cast<std::int32_t>(offset + scale * static_cast<std::uint32_t>((*lanes)[t]));
  return result;
}

LaneMemo::LaneMemo() : entries_(kPlaces) {}

void LaneMemo::tidy() {
  if (used_ < kPlaces / 2) return;
  std::ranges::fill(entries_, Entry{});
  used_ = 0;
  lanes_.clear();
}

LaneMemo::Entry& LaneMemo::place_of(const LaneStep& step) {
  std::size_t place = hash_of(step) >> (64 - std::countr_zero(kPlaces));
  while (entries_[place].step.operation != LaneStep::kNone && entries_[place].step != step)
    place = (place + 1) % kPlaces;
  return entries_[place];
}

}  // namespace lehr
