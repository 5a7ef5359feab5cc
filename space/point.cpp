#include "space/point.h"

#include <bit>

#include "base/hash.h"

namespace lehr {

std::size_t PointHash::operator()(const Point& point) const {
  using Words = std::array<std::uint64_t, sizeof(Point) / sizeof(std::uint64_t)>;
  std::uint64_t hash = 0;
  for (const std::uint64_t word : std::bit_cast<Words>(point)) hash = hash_combine(hash, word);
  return hash;
}

}  // namespace lehr
