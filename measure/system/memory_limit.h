// Limits the private memory of a worker process.
#pragma once

#include <cstdint>

namespace lehr {

/// False in builds with the address or thread sanitizer, where limit_memory() does nothing: the sanitizer's
/// shadow memory counts as data and exceeds any limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryIsLimited = false;
#else
inline constexpr bool kMemoryIsLimited = true;
#endif

/// Limits the private memory of this process (RLIMIT_DATA) to `bytes`; 0: to half of the machine's memory. A
/// faulty candidate or compiler must not make the machine swap.
void limit_memory(std::int64_t bytes);

}  // namespace lehr
