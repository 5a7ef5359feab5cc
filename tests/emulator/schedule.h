// The order in which the threads of a launch run. A kernel is right under every order that barriers and
// collectives allow; a result or a fault that depends on it is a race.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"

namespace lehr::emulator {

/// The order of threads. A thread runs until it must wait for others.
enum class Order {
  kForward,    ///< threads take turns, lowest number first
  kReverse,    ///< threads and blocks from the last to the first
  kRandom,     ///< any ready thread, any block
  kWarpAhead,  ///< one warp runs as far as it can, then the next; warps and blocks in random order
};

struct Schedule {
  Schedule(Order o = Order::kForward, std::uint64_t s = 0) : order(o), seed(s) {}  // NOLINT: an Order is one
  Order order;
  std::uint64_t seed;  ///< of kRandom and kWarpAhead
};

/// Returns the `number`-th of an endless rotation through all orders, with its own seed.
Schedule rotated(std::uint64_t number);

/// The ready threads of the blocks that run together (a cluster), and whose turn it is.
class ReadyThreads {
 public:
  explicit ReadyThreads(const Schedule& schedule) : order_(schedule.order), rng_(schedule.seed) {}

  /// Returns the order of `count` clusters, or of blocks without clusters.
  std::vector<std::int64_t> blocks(std::int64_t count);
  /// Begins `blocks` new blocks of `threads` threads each, with no thread ready. Numbers count on from block
  /// to block.
  void begin(int threads, int blocks);
  /// Makes all threads in [first, last) ready.
  void add(int first, int last);
  bool empty() const { return ready_.empty(); }
  /// Takes the thread whose turn it is.
  int take();
  /// Returns whether an asynchronous load lands at once, or only when every thread waits.
  bool lands_at_once();

 private:
  Order order_;
  Rng rng_;
  std::vector<int> ready_;
  int of_block_ = 1;  // threads
  int blocks_ = 1;
  int block_ = 0;               // the block of the thread that was taken last
  std::vector<int> warp_rank_;  // kWarpAhead: the smallest runs first
};

}  // namespace lehr::emulator
