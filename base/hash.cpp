#include "base/hash.h"

#include <fmt/core.h>

namespace lehr {
namespace {

std::uint64_t finish(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t stable_hash(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return finish(hash);
}

std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value) {
  return finish(seed + 0x9e3779b97f4a7c15ULL + finish(value));
}

std::string to_hex(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace lehr
