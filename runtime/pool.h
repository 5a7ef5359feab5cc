// A pool of threads for programs that have none.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/memory.h"

namespace lehr::runtime {

struct Crew;

/// Most threads of a pool.
inline constexpr std::uint32_t kMostThreads = 4096;

/// The caller and helpers, which sleep while there is no work. A child process has none of its parent's
/// threads: there the first round starts new helpers, as many as possible.
class Pool {
 public:
  Pool() = default;
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Starts the threads, once, before the first round. `threads` is at least 1. Returns how many there are; 0
  /// without memory.
  std::uint32_t start(std::uint32_t threads);
  /// Calls work(context, i) for i in [0, workers) and returns when all calls have returned. A second round at
  /// the same time runs on its caller alone. `work` must not fork.
  void run(std::uint32_t workers, void (*work)(void* context, std::uint32_t worker), void* context);

 private:
  /// Returns the crew of this process; nullptr if there is no memory for it.
  Crew* crew_here();

  std::uint32_t helpers_ = 0;
  std::atomic<Crew*> crew_ = nullptr;
};

}  // namespace lehr::runtime
