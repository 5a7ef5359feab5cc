// The order in which the threads of a launch run. A correct kernel has the same result in every order that
// barriers and collectives allow. If a result or a fault depends on the order, that is a race.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"

namespace lehr::emulator {

/// The order of threads. A thread runs until it has to wait for others.
enum class Order {
  kForward,    ///< threads take turns, the lowest number first
  kReverse,    ///< threads take turns, threads and blocks from the last to the first
  kRandom,     ///< any ready thread of any block
  kWarpAhead,  ///< one warp runs as far as it can, then the next; warps and blocks in random order
};

struct Schedule {
  Schedule(Order o = Order::kForward, std::uint64_t s = 0) : order(o), seed(s) {}  // NOLINT: an Order is one
  Order order;
  std::uint64_t seed;  ///< seed for kRandom and kWarpAhead
};

/// Returns element `number` of an endless rotation through all orders. Each has its own seed.
Schedule rotated(std::uint64_t number);

/// The ready threads of the blocks that run together (a cluster). Decides which thread runs next.
class ReadyThreads {
 public:
  explicit ReadyThreads(const Schedule& schedule) : order_(schedule.order), rng_(schedule.seed) {}

  /// Returns the order in which `count` clusters, or blocks without clusters, run.
  std::vector<std::int64_t> blocks(std::int64_t count);
  /// Begins `blocks` new blocks of `threads` threads each, with no thread ready. Threads are numbered through
  /// all blocks.
  void begin(int threads, int blocks);
  /// Makes all threads in [first, last) ready.
  void add(int first, int last);
  bool empty() const { return ready_.empty(); }
  /// Removes and returns the thread that runs next.
  int take();
  /// Returns whether an asynchronous load lands at once. If not, it lands when all threads wait.
  bool lands_at_once();

 private:
  Order order_;
  Rng rng_;
  std::vector<int> ready_;
  int of_block_ = 1;  // number of threads of a block
  int blocks_ = 1;
  int block_ = 0;               // the block of the thread that was taken last
  std::vector<int> warp_rank_;  // for kWarpAhead: the warp with the smallest rank runs first
};

}  // namespace lehr::emulator
