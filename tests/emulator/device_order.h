// The order of memory accesses of different blocks: fences, and atomics on one counter. Blocks (or clusters
// of them) run one after the other here, so a missing fence changes no value; it must be found by keeping
// account.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory.h"

namespace lehr::emulator {

/// The order within one launch. A write is ordered before a read in another block when these follow each
/// other: a fence of the writing thread; an atomic by a thread of its block (behind a barrier, unless it is
/// the same thread); an atomic on the same address by a thread of the reading block; a fence of the reading
/// thread (behind a barrier, likewise). PTX ISA 9.0, "Memory Consistency Model: Causality Order", the pattern
/// of "Release and Acquire Patterns".
class DeviceOrder {
 public:
  /// Says that blocks `first` to `first` + `count` - 1 run together from here on, of `threads` threads each.
  void begin_blocks(std::int64_t first, std::size_t count, int threads);
  void fence(const Who& who);
  void atomic(const Who& who, std::uintptr_t address);

  WriteStamp stamp(const Who& who) const;
  /// Returns nullopt when `write` is ordered before what `who` does now, else what is wrong.
  std::optional<std::string> why_unordered(const WriteStamp& write, const Who& who) const;

 private:
  struct Thread {
    int fences = 0;             ///< fences made so far
    int fences_before = 0;      ///< fences that were made before the epoch of the last one
    int fence_epoch = -1;       ///< epoch of the last fence
    bool has_acquired = false;  ///< a fence behind the block's atomic
  };
  /// Fences of each thread of a block that an atomic on an address published.
  struct Published {
    std::int64_t when = 0;  ///< number of the atomic
    std::vector<int> fences;
  };
  struct Block {
    std::vector<Thread> threads;
    std::int64_t atomic = -1;  ///< number of the block's last atomic; -1: it has made no atomic
    std::uintptr_t atomic_address = 0;
    int atomic_epoch = 0;
    int atomic_thread = 0;
  };
  Block& block_of(const Who& who) { return blocks_[static_cast<std::size_t>(who.block - first_)]; }
  const Block& block_of(const Who& who) const {
    return blocks_[static_cast<std::size_t>(who.block - first_)];
  }

  std::map<std::pair<std::int64_t, std::uintptr_t>, Published> published_;
  std::vector<Block> blocks_;  ///< the running blocks
  std::int64_t first_ = 0;     ///< number of the first running block
  std::int64_t atomics_ = 0;   ///< atomics made so far
};

}  // namespace lehr::emulator
