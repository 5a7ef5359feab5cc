// Tracks the order of memory accesses of different blocks: fences, and atomics on one counter. Blocks (or
// clusters of blocks) are emulated one after the other, so a missing fence changes no value. It can only be
// found by tracking.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory.h"

namespace lehr::emulator {

/// The order within one launch. A write is ordered before a read in another block if these happen one after
/// the other: a fence of the writing thread; an atomic by a thread of the writing block (after a barrier,
/// unless it is the same thread); an atomic on the same address by a thread of the reading block; a fence of
/// the reading thread (after a barrier, unless it is the same thread). PTX ISA 9.0, "Memory Consistency
/// Model: Causality Order", the pattern in "Release and Acquire Patterns".
class DeviceOrder {
 public:
  /// From now on, blocks `first` to `first` + `count` - 1 run together, each with `threads` threads.
  void begin_blocks(std::int64_t first, std::size_t count, int threads);
  void fence(const Who& who);
  void atomic(const Who& who, std::uintptr_t address);

  WriteStamp stamp(const Who& who) const;
  /// Returns nullopt if `write` is ordered before an access by `who` now, else a sentence about what is
  /// missing.
  std::optional<std::string> why_unordered(const WriteStamp& write, const Who& who) const;

 private:
  struct Thread {
    int fences = 0;             ///< fences made so far
    int fences_before = 0;      ///< fences that were made before `fence_epoch`
    int fence_epoch = -1;       ///< epoch of the last fence
    bool has_acquired = false;  ///< whether it made a fence after the block's atomic
  };
  /// The fences of each thread of a block that an atomic on an address has published.
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
  std::int64_t atomics_ = 0;   ///< number of atomics so far
};

}  // namespace lehr::emulator
