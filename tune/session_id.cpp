#include "tune/session_id.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <random>

#include "base/hash.h"

namespace lehr {

std::string new_session_id() {
  std::random_device random;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  std::uint64_t high = hash_combine(static_cast<std::uint64_t>(now), static_cast<std::uint64_t>(getpid()));
  const std::uint64_t low = hash_combine(high, (std::uint64_t{random()} << 32) | random());
  high = hash_combine(low, random());
  return to_hex(high) + to_hex(low);
}

}  // namespace lehr
