// Every byte that an emulated kernel may touch, with the thread that touched it and the time. Finds accesses
// out of bounds, reads of bytes that were not written, and races between barriers.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace lehr::emulator {

/// Bytes moved by the kernel's text, over all threads.
struct Traffic {
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};

/// The running thread. Threads of a block are numbered with x fastest. An epoch is the number of barriers
/// that the block has passed, a warp epoch the number of barriers of the warp alone (__syncwarp). Between two
/// barriers of the block, named barriers order warps. A tick is the number of named barriers that the warp
/// has passed plus its arrivals at mbarriers. `seen` has, for each warp of the block, the last of its ticks
/// that is ordered before this thread (-1: no tick; for the own warp, the current tick).
struct Who {
  int thread = 0;
  int warp = 0;
  int epoch = 0;
  int warp_epoch = 0;
  std::int64_t block = 0;
  int tick = 0;
  const int* seen = nullptr;
  /// Whether it is a collective: the whole warp executes it, and `thread` only gave the address.
  bool together = false;
  /// For each warp of the block, the last of its ticks after which a thread of it has arrived at an mbarrier.
  /// The warp has finished its reads before that tick.
  const int* told = nullptr;
  /// Phases of mbarriers that the thread has seen end, by the mbarriers' addresses; nullptr: no phase.
  const std::map<std::uint32_t, int>* phases = nullptr;
};

/// The event that shows that a load has landed: the end of phase `number` of an mbarrier.
struct LoadPhase {
  std::uint32_t barrier = 0;
  int number = -1;  ///< -1: the bytes were not written by a load
};

class DeviceOrder;

/// The writer of bytes in a workspace, for DeviceOrder.
struct WriteStamp {
  std::int64_t block = -1;  ///< -1: the bytes were not written in this launch
  int thread = 0;
  int epoch = 0;
  int fences = 0;  ///< fences that the thread had made before
};

/// One parameter of the kernel: a copy of the caller's data, between two canaries.
class GlobalBuffer {
 public:
  enum class Role { kInput, kOutput, kWorkspace };
  /// `values` are its bytes. For an output only their number counts, and its bytes become poison.
  GlobalBuffer(std::string name, std::span<const unsigned char> values, int element_bytes, Role role);

  void* data() { return storage_.data() + kCanaryBytes; }
  const std::string& name() const { return name_; }
  Role role() const { return role_; }
  bool holds(std::uintptr_t address) const { return address >= begin() && address < begin() + bytes_; }
  /// Prepares the next launch: outputs become poison again, and all records of accesses and all counts are
  /// cleared.
  void begin_launch();
  /// Returns a sentence if the access is wrong, else nullopt.
  std::optional<std::string> access(std::uintptr_t address, std::size_t bytes, bool writes, const Who& who,
                                    const DeviceOrder& order);
  /// Returns a sentence if an atomic is wrong, else nullopt. Atomics are allowed in a workspace only.
  std::optional<std::string> atomic(std::uintptr_t address);
  /// Begins a reduction of the tensor memory accelerator, which will add to `bytes` bytes of a workspace.
  /// Several reductions may be under way for one element. No thread may touch the element before all of them
  /// have ended and are ordered before its access. Reductions are numbered from 0 on; begin_reduction()
  /// begins number reductions().
  std::optional<std::string> begin_reduction(std::uintptr_t address, std::size_t bytes, const Who& who,
                                             const DeviceOrder& order);
  std::size_t reductions() const { return reductions_.size(); }
  /// Ends a reduction: adds f32 or s32. `who` is the thread that has waited for it.
  void end_reduction(std::size_t number, std::span<const unsigned char> addends, bool is_float,
                     const Who& who, const DeviceOrder& order);
  /// Returns nullopt if both canaries are unchanged.
  std::optional<std::string> damage() const;
  std::span<const unsigned char> bytes() const { return {storage_.data() + kCanaryBytes, bytes_}; }
  std::size_t element_bytes() const { return element_bytes_; }
  Traffic traffic;
  std::optional<ir::TensorMap> map;  ///< if set, the kernel gets the map instead of the address

 private:
  static constexpr std::size_t kCanaryBytes = 256;
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(storage_.data()) + kCanaryBytes; }

  std::optional<std::string> access_output(std::size_t element, bool writes, const Who& who);
  std::optional<std::string> access_workspace(std::size_t element, bool writes, const Who& who,
                                              const DeviceOrder& order);

  std::string name_;
  Role role_;
  std::size_t element_bytes_;
  std::size_t bytes_;
  std::vector<unsigned char> storage_;
  std::vector<std::int64_t> writer_;  // for an output, by element: 1 + block * 2^20 + thread; 0: not written
  struct Shared {
    WriteStamp write;
    bool atomic = false;         ///< whether it is used as a counter in this launch
    std::size_t reductions = 0;  ///< number of reductions that had begun when it was last written
  };
  struct Reduction {
    std::size_t first, elements;
    std::int64_t block;
    int thread;
    std::optional<WriteStamp> ended;
    bool covers(std::size_t element) const { return element - first < elements; }
  };
  /// Returns the last reduction into the element since the element was written; nullptr without such a
  /// reduction.
  const Reduction* reduction_into(std::size_t element) const;
  std::optional<std::string> why_unordered_reductions(std::size_t element, const Who& who,
                                                      const DeviceOrder& order) const;
  std::vector<Shared> shared_;         // for a workspace, by element
  std::vector<Reduction> reductions_;  // reductions of this launch
};

/// The shared memory of a block. All blocks of a cluster have their shared memory at the same addresses,
/// where the kernel's text finds it. While another block runs, the contents are parked.
class SharedMemory {
 public:
  static constexpr std::size_t kLargest = 232448;  ///< bytes; opt-in maximum of a block on sm_90

  /// `memory` is the address at which the kernel's text finds its dynamic shared memory. Accesses are
  /// recorded per granule of `granule` bytes: two threads that write different bytes of one granule between
  /// two barriers count as a race.
  SharedMemory(unsigned char* memory, int granule)
      : memory_(memory), contents_(memory), granule_(static_cast<std::size_t>(granule)) {}

  /// Prepares a new block: all bytes are poison and not written. The memory must not be parked.
  void reset(std::int64_t bytes);
  void park();
  void unpark();
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(memory_); }
  bool holds(std::uintptr_t address) const { return address >= begin() && address < begin() + size(); }
  /// Returns a sentence if the access is wrong, else nullopt.
  std::optional<std::string> access(std::uintptr_t address, std::size_t bytes, bool writes, const Who& who);
  /// Records that all blocks of the cluster have passed a barrier after the writes before `epoch`.
  void publish(int epoch) { published_ = epoch; }
  /// Reads for another block of the cluster. It may read bytes that were written before the last publish().
  /// These must not be written before the next publish().
  std::optional<std::string> read_from_afar(std::uintptr_t address, std::size_t bytes, void* to);
  /// Begins a copy into these bytes. The bytes become poison, and no thread may touch them until end_copy().
  std::optional<std::string> begin_copy(std::uintptr_t address, std::size_t bytes, const Who& who);
  void end_copy(std::uintptr_t address, const void* from, std::size_t source_bytes, std::size_t bytes,
                const Who& who);
  /// Begins a load into these bytes. The tensor memory accelerator and wgmma touch 16 bytes at a time,
  /// independently of the threads (the async proxy of the PTX ISA). The bytes become poison, and no thread
  /// may touch them until end_load(). No wgmma may still be reading them, and each warp that has read them
  /// must have signalled after its reads.
  std::optional<std::string> begin_load(std::uintptr_t address, const Who& who);
  void end_load(std::uintptr_t address, const void* from, const Who& who, const LoadPhase& phase);
  /// Begins a store of the tensor memory accelerator. It reads bytes that threads have written and fenced. No
  /// thread may write them until end_read().
  std::optional<std::string> begin_store(std::uintptr_t address, const Who& who);
  /// Makes the writes of `who` visible to the async proxy.
  void async_proxy_fence(const Who& who);
  /// Begins a wgmma's read of bytes that loads have written. No thread may write them until end_read().
  std::optional<std::string> begin_read(std::uintptr_t address);
  void end_read(std::uintptr_t address) { --chunk_at(address).readers; }
  Traffic traffic;

 private:
  static constexpr int kNobody = -1;
  static constexpr int kSeveral = -2;
  /// The accesses to a granule between two barriers, for the last such interval with an access.
  struct Visit {
    int thread = kNobody;     ///< kSeveral: several threads of the warp, or the whole warp together
    std::uint32_t warps = 0;  ///< one bit for each visiting warp
    int epoch = -1;
    int warp_epoch = -1;  ///< warp epoch, if only one warp visited
    int tick = -1;        ///< the latest tick of the visiting warps
  };
  struct Granule {
    Visit write;
    Visit read;
    int copier = kNobody;  ///< thread whose cp.async is under way
    int from_afar = -1;    ///< value of published_ when another block last read it
    LoadPhase load;        ///< the load that wrote it last
  };
  /// 16 bytes of shared memory, in the view of the async proxy.
  struct Chunk {
    int readers = 0;      ///< number of operations that read it and have not been waited for
    int unfenced = 0;     ///< number of threads that have written it and made no fence since
    bool loaded = false;  ///< whether the async proxy wrote its bytes
  };
  Chunk& chunk_at(std::uintptr_t address) { return chunks_[(address - begin()) / 16]; }
  std::size_t size() const { return granules_.size() * granule_; }
  /// Checks as access() does, but without the records for the async proxy. Used for accesses of that proxy
  /// itself.
  std::optional<std::string> touch(std::uintptr_t address, std::size_t bytes, bool writes, const Who& who);
  void poison(std::uintptr_t address, std::size_t bytes, const Who& who);  ///< a copy into it is under way
  static Visit visit_of(const Who& who);
  /// Returns whether `earlier` is not ordered before an access by `who` now.
  static bool concurrent(const Visit& earlier, const Who& who);
  /// Returns whether each warp of `readers` has signalled that it has finished its reads.
  static bool told(const Visit& readers, const Who& who);
  static std::string race(const Visit& earlier, const char* verb);
  std::optional<std::string> access_granule(Granule& granule, bool writes, const Who& who);

  unsigned char* memory_;
  unsigned char* contents_;  ///< memory_, or the parked contents
  std::vector<unsigned char> parked_;
  std::size_t granule_;
  int published_ = 0;
  std::vector<Granule> granules_;
  std::vector<Chunk> chunks_;
  /// By thread: the chunks that it has written since its last fence.
  std::vector<std::vector<std::size_t>> unfenced_;
};

}  // namespace lehr::emulator
