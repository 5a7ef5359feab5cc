// The Hilbert curve: it visits each place once, and neighbours follow each other.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "templates/shared/hilbert.h"

namespace lehr {
namespace {

TEST(HilbertCurve, VisitsEachPlaceOfTheSquareOnceAndGoesFromNeighbourToNeighbour) {
  const auto itself = [](std::int64_t value) { return value; };
  for (const std::int64_t side : {1, 2, 4, 8, 16, 64}) {
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    std::pair<std::int64_t, std::int64_t> last;
    for (std::int64_t i = 0; i < side * side; ++i) {
      const auto place = hilbert_place(side, i, itself);
      ASSERT_TRUE(place.first >= 0 && place.first < side && place.second >= 0 && place.second < side);
      ASSERT_TRUE(seen.insert(place).second) << side << " at " << i;
      if (i > 0) {
        ASSERT_EQ(std::abs(place.first - last.first) + std::abs(place.second - last.second), 1)
            << side << " at " << i;
      }
      last = place;
    }
  }
}

}  // namespace
}  // namespace lehr
