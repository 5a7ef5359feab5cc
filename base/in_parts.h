// A loop over many elements whose work several threads share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace lehr {

/// Returns how many of `threads` threads are worth starting for a loop over `count` elements that takes some
/// nanoseconds per element. That is one thread per 2^18 elements, because starting a thread takes some tens
/// of microseconds.
inline int parts_of(std::int64_t count, int threads) {
  return static_cast<int>(std::clamp<std::int64_t>(count >> 18, 1, std::max(1, threads)));
}

/// Divides [0, count) into `parts` ranges and calls body(part, first, last) for each, concurrently. The first
/// range runs on the calling thread. `body` must not throw.
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
