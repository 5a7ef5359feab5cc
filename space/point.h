// A config in the form that the search uses: positions instead of names and values. It is copied, compared
// and hashed as one small block of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace lehr {

/// Maximum number of knobs of a family, and of members of a schedule's struct.
inline constexpr std::size_t kMostKnobs = 31;
/// Maximum number of values of a knob.
inline constexpr std::size_t kMostValues = std::numeric_limits<std::uint16_t>::max();

/// One config of one Space (space/space.h), which converts between configs and points. A point means nothing
/// in another space. Therefore a Config is used for everything that is stored, shown or taken from another
/// task.
struct Point {
  std::uint16_t family = 0;                          ///< its position in Space::families()
  std::array<std::uint16_t, kMostKnobs> knobs = {};  ///< positions in Knob::values; 0 after the last knob
  friend bool operator==(const Point&, const Point&) = default;
};

/// Hash for containers in memory; never stored.
struct PointHash {
  std::size_t operator()(const Point& point) const;
};

}  // namespace lehr
