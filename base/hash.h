// Stable 64-bit hash. Keys that outlive a process (in databases and bundles) are hashes of canonical texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lehr {

/// Returns FNV-1a of the bytes, followed by the finaliser of splitmix64. It must never change, because
/// databases store it. Source of the constants: the FNV reference (offset basis 14695981039346656037, prime
/// 1099511628211) and Steele et al., "Fast splittable pseudorandom number generators", 2014.
std::uint64_t stable_hash(std::string_view bytes);

/// Mixes `value` into `seed`; the order matters. The result is the same on every platform.
std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value);

/// Applies the finaliser of splitmix64 (source as above). It is a bijection in which each bit of `x` changes
/// half of the result's bits.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
/// Increment of splitmix64's state: 2^64 / the golden ratio, odd.
inline constexpr std::uint64_t kSplitmixStep = 0x9e3779b97f4a7c15;

/// Returns 16 lower-case hex digits.
std::string to_hex(std::uint64_t hash);

}  // namespace lehr
