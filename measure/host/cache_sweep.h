// Caches as a layer of a network finds them: memory of twice the last-level cache is gone through before a
// timed call, then what the layers before it have just written.
#pragma once

#include <functional>
#include <vector>

#include "measure/host/host_buffers.h"
#include "measure/system/pinned_threads.h"

namespace lehr {

/// The same for candidates and for libraries, so that their times can be compared.
class CacheSweep {
 public:
  CacheSweep() = default;
  /// Has no memory where `cold` is false. Keeps where the buffers are. Throws std::bad_alloc.
  CacheSweep(bool cold, const HostBuffers& buffers);

  /// sample_calls' `evict`, on those threads; empty where caches stay warm. Borrows both.
  std::function<void()> on(PinnedThreads& threads);
  /// The same for a library with `threads` of its own, which are not to be bound to CPUs: with one the
  /// calling thread sweeps, else a thread on each CPU that this process may use.
  std::function<void()> beside(int threads);

 private:
  void sweep(std::size_t share, std::size_t shares);
  void read_fresh(std::size_t share, std::size_t shares) const;

  std::vector<char> bytes_;
  std::vector<FreshBytes> fresh_;
};

}  // namespace lehr
