// How much private memory a worker process may take.
#pragma once

#include <cstdint>

namespace lehr {

/// False in builds with the address or thread sanitizer: their shadow memory counts as data and is larger
/// than any limit, so limit_memory() does nothing there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryIsLimited = false;
#else
inline constexpr bool kMemoryIsLimited = true;
#endif

/// Limits the private memory of this process (RLIMIT_DATA) to `bytes`; 0: half of the machine's. What a
/// candidate or a compiler allocates in vain must not drag the machine into swapping.
void limit_memory(std::int64_t bytes);

}  // namespace lehr
