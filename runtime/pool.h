// A pool of threads for programs that have none.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/memory.h"

namespace lehr::runtime {

struct Crew;

/// Maximum number of threads in a pool.
inline constexpr std::uint32_t kMostThreads = 4096;

/// A pool of threads: the caller, and helpers that sleep while there is no work. A child process does not
/// have its parent's threads, so its first round starts new helpers, as many as possible.
class Pool {
 public:
  Pool() = default;
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Starts the helpers. Call it once, before the first round. `threads` is at least 1 and includes the
  /// caller. Returns the number of threads, which may be lower; 0 if there is no memory.
  std::uint32_t start(std::uint32_t threads);
  /// Calls work(context, i) for i in [0, workers) and returns when all calls have returned. If another round
  /// is running, this round runs on the calling thread alone. `work` must not fork.
  void run(std::uint32_t workers, void (*work)(void* context, std::uint32_t worker), void* context);

 private:
  /// Returns the crew of this process; nullptr if there is no memory for it.
  Crew* crew_here();

  std::uint32_t helpers_ = 0;
  std::atomic<Crew*> crew_ = nullptr;
};

}  // namespace lehr::runtime
