// Seeded random numbers that are the same on every platform (no std:: distribution, whose results differ).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace lehr {

/// xoshiro256** seeded by splitmix64 (Blackman & Vigna, "Scrambled linear pseudorandom number generators",
/// 2018). Each role has its own stream: `Rng(seed).fork("search")`.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  std::uint64_t next();
  /// Returns a number that is uniform in [0, bound), without modulo bias; `bound` > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Returns a number that is uniform in [0, 1), with 53 bits.
  double uniform();
  /// Returns an independent stream. This stream does not advance.
  Rng fork(std::string_view role) const;

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_[4];
};

}  // namespace lehr
