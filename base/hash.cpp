#include "base/hash.h"

#include <fmt/core.h>

namespace lehr {

std::uint64_t stable_hash(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return mix64(hash);
}

std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value) {
  return mix64(seed + kSplitmixStep + mix64(value));
}

std::string to_hex(std::uint64_t hash) {
  return fmt::format("{:016x}", hash);
}

}  // namespace lehr
