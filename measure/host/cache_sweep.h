// Cold caches: memory of twice the last-level cache that is gone through before a timed call.
#pragma once

#include <functional>
#include <vector>

#include "measure/system/pinned_threads.h"

namespace lehr {

/// The same for candidates and for libraries, so that their times can be compared.
class CacheSweep {
 public:
  /// Of no memory where `cold` is false. Throws std::bad_alloc.
  explicit CacheSweep(bool cold = false);

  /// sample_calls' `evict`, on those threads; empty where caches stay warm. Borrows both.
  std::function<void()> on(PinnedThreads& threads);
  /// The same for a library with `threads` of its own, which are not to be bound to CPUs: with one the
  /// calling thread sweeps, else a thread on each CPU that this process may use.
  std::function<void()> beside(int threads);

 private:
  void sweep(std::size_t share, std::size_t shares);

  std::vector<char> bytes_;
};

}  // namespace lehr
