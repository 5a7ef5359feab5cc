// Numbers at 32 points, and what operations on them gave before: the indices of two kernels whose configs
// differ in one knob are mostly made of the same steps. Internal to costmodel/.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace lehr {

/// A lane's number as bits: it wraps around without undefined behaviour.
inline std::uint32_t raw(std::int32_t x) {
  return static_cast<std::uint32_t>(x);
}

using Lanes = std::array<std::int32_t, 32>;

/// One number per point, in 32-bit arithmetic that wraps around. Most have one for all points (constants, and
/// on a warp all loops but its threads'), and many are a multiple of others and share their lanes.
struct LaneValue {
  std::int32_t scalar = 0;
  std::int32_t factor = 0;
  const Lanes* lanes = nullptr;  ///< the number at point t is scalar + factor * (*lanes)[t]; nullptr: scalar

  bool is_uniform() const { return lanes == nullptr; }
  Lanes all() const;
  bool operator==(const LaneValue&) const = default;
};

/// What was computed from what: an operation and its operands, which alone decide its result.
struct LaneStep {
  /// An ir::BinaryOp, or one of these.
  enum Operation : std::int32_t {
    kNone = -1,
    kSpread = -2,
    kCycles = -3,
    kSectors = -4,
    kDistinct = -5,
    kPlace = -8,  ///< x; y and z behind it
  };
  std::int32_t operation = kNone;
  LaneValue a, b;

  bool operator==(const LaneStep&) const = default;
};

/// The results of steps, by step. For one thread.
class LaneMemo {
 public:
  LaneMemo();

  /// To be called when no value of it is in use: forgets all if there is much.
  void tidy();
  /// What `make` returns, which is called with lanes to write to if the step was not taken before. Lanes that
  /// it does not return are given back. What is returned is good until tidy().
  template <typename Make>
  LaneValue result(const LaneStep& step, Make make) {
    Entry& entry = place_of(step);
    if (entry.step.operation != LaneStep::kNone) return entry.result;
    const LaneValue result = make(lanes_.emplace_back());
    if (result.lanes != &lanes_.back()) lanes_.pop_back();
    if (used_ < kMostUsed) {
      entry = {step, result};
      ++used_;
    }
    return result;
  }

 private:
  struct alignas(64) Entry {
    LaneStep step;
    LaneValue result;
  };
  /// A quarter of a megabyte: searches of a workload's families need some thousand.
  static constexpr std::size_t kPlaces = 1 << 12;
  static constexpr std::size_t kMostUsed = kPlaces / 4 * 3;

  /// Where it stands, or an empty place for it.
  Entry& place_of(const LaneStep& step);

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
  std::deque<Lanes> lanes_;
};

}  // namespace lehr
