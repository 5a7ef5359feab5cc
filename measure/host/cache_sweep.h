// Puts caches into the state that a layer of a network finds. Before each timed call it reads memory of twice
// the last-level cache, and then the data that the previous layers have just written.
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
  /// Allocates nothing if `cold` is false. Keeps the addresses of the buffers' memory. Throws std::bad_alloc.
  CacheSweep(bool cold, const HostBuffers& buffers);

  /// Returns the `evict` function for sample_calls(), run on `threads`; empty if caches stay warm. Borrows
  /// this object and `threads`.
  std::function<void()> on(PinnedThreads& threads);
  /// Returns the `evict` function for a library that has `threads` threads of its own, which must not be
  /// bound to CPUs. If `threads` is 1, the calling thread sweeps, else a thread on each CPU that this process
  /// may use.
  std::function<void()> beside(int threads);

 private:
  void sweep(std::size_t share, std::size_t shares);
  void read_fresh(std::size_t share, std::size_t shares) const;

  std::vector<char> bytes_;
  std::vector<FreshBytes> fresh_;
};

}  // namespace lehr
