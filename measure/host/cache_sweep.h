// Prepares caches as a layer of a network finds them: before a timed call it reads memory of twice the
// last-level cache, then what the previous layers have just written.
#pragma once

#include <functional>
#include <vector>

#include "measure/host/host_buffers.h"
#include "measure/system/pinned_threads.h"

namespace lehr {

/// Candidates and libraries use the same sweep, so that their times can be compared.
class CacheSweep {
 public:
  CacheSweep() = default;
  /// Has no memory if `cold` is false. Keeps the buffers' addresses. Throws std::bad_alloc.
  CacheSweep(bool cold, const HostBuffers& buffers);

  /// Returns sample_calls' `evict`, on these threads; empty if caches stay warm. Borrows both.
  std::function<void()> on(PinnedThreads& threads);
  /// Returns it for a library with `threads` threads of its own, which must not be bound to CPUs: with one
  /// thread the calling thread sweeps, else a thread on each CPU that this process may use.
  std::function<void()> beside(int threads);

 private:
  void sweep(std::size_t share, std::size_t shares);
  void read_fresh(std::size_t share, std::size_t shares) const;

  std::vector<char> bytes_;
  std::vector<FreshBytes> fresh_;
};

}  // namespace lehr
