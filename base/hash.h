// Stable 64-bit hash: keys that outlive a process (database, bundles) are hashes of canonical texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lehr {

/// FNV-1a over the bytes, then the splitmix64 finaliser. Fixed for ever: stored in databases.
/// Source of the constants: the FNV reference (offset basis 14695981039346656037, prime 1099511628211) and
/// Steele et al., "Fast splittable pseudorandom number generators", 2014.
std::uint64_t stable_hash(std::string_view bytes);

/// Mixes `value` into `seed`; order matters. Same on every platform.
std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value);

/// 16 lower-case hex digits.
std::string to_hex(std::uint64_t hash);

}  // namespace lehr
