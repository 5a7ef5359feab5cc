// What orders the memory accesses of different blocks: fences, and atomics on one counter. Blocks run one
// after the other here, so a missing fence changes no value; it must be found by keeping account.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory.h"

namespace lehr::emulator {

/// Of one launch. A write is ordered before a read in another block when the writing thread made a fence
/// behind it, then (behind a barrier, unless it is the same thread) a thread of its block an atomic, later a
/// thread of the reading block an atomic on the same address, then (behind a barrier, likewise) the reading
/// thread a fence: PTX ISA 9.0, "Memory Consistency Model: Causality Order", the pattern of
/// "Release and Acquire Patterns".
class DeviceOrder {
 public:
  void begin_block(int threads);
  void fence(const Who& who);
  void atomic(const Who& who, std::uintptr_t address);

  WriteStamp stamp(const Who& who) const;
  /// nullopt when `write` is ordered before what `who` does now, else what is wrong.
  std::optional<std::string> why_unordered(const WriteStamp& write, const Who& who) const;

 private:
  struct Thread {
    int fences = 0;             ///< made so far
    int fences_before = 0;      ///< of these, before the epoch of the last one
    int fence_epoch = -1;       ///< of the last one
    bool has_acquired = false;  ///< a fence behind the block's atomic
  };
  /// Fences of each thread of a block that an atomic on an address published.
  std::map<std::pair<std::int64_t, std::uintptr_t>, std::vector<int>> published_;
  std::vector<Thread> threads_;  ///< of the block that runs
  std::uintptr_t atomic_address_ = 0;
  int atomic_epoch_ = -1;  ///< -1: the block has made none
  int atomic_thread_ = -1;
};

}  // namespace lehr::emulator
