// A loop over many elements, shared by threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace lehr {

/// Returns how many of `threads` threads are worth starting for a loop of `count` elements that takes some
/// nanoseconds for each: one per 2^18, since starting a thread takes some tens of microseconds.
inline int parts_of(std::int64_t count, int threads) {
  return static_cast<int>(std::clamp<std::int64_t>(count >> 18, 1, std::max(1, threads)));
}

/// Calls body(part, first, last) for each of `parts` shares of [0, count), concurrently. The first share runs
/// on the calling thread. `body` must not throw.
template <typename Body>
void in_parts(std::int64_t count, int parts, const Body& body) {
  std::vector<std::jthread> helpers;
  for (int part = parts - 1; part >= 0; --part) {
    const auto share = [&, part] { body(part, part * count / parts, (part + 1) * count / parts); };
    if (part > 0)
      helpers.emplace_back(share);
    else
      share();
  }
}

}  // namespace lehr
