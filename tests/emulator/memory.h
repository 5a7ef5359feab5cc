// Every byte that an emulated kernel may touch, with who touched it and when: finds accesses out of bounds,
// reads of what nobody wrote, and races between barriers.
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

/// Bytes as the kernel's text moved them, over all threads.
struct Traffic {
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};

/// The running thread. Threads of a block are numbered x first. An epoch counts the barriers that the block
/// has passed, a warp epoch those of the warp alone (__syncwarp). Between two barriers of the block, named
/// barriers order warps. A tick counts the named barriers that the warp has passed and its arrivals at
/// mbarriers. `seen` holds, for each warp of the block, the last of its ticks that lies behind (-1: no tick;
/// for the own warp, the tick itself).
struct Who {
  int thread = 0;
  int warp = 0;
  int epoch = 0;
  int warp_epoch = 0;
  std::int64_t block = 0;
  int tick = 0;
  const int* seen = nullptr;
  bool together = false;  ///< a collective: the whole warp does it, `thread` only gave the address
  /// For each warp of the block, the last of its ticks behind which a thread of it has arrived at an
  /// mbarrier: the warp is done with what it read until then.
  const int* told = nullptr;
  /// Phases of mbarriers, by their addresses, that the thread has seen end; nullptr: no phase.
  const std::map<std::uint32_t, int>* phases = nullptr;
};

/// The event that shows that a load has landed: the end of this phase of an mbarrier.
struct LoadPhase {
  std::uint32_t barrier = 0;
  int number = -1;  ///< -1: written by no load
};

class DeviceOrder;

/// The writer of something in a workspace, as device_order.h judges it.
struct WriteStamp {
  std::int64_t block = -1;  ///< -1: nobody in this launch
  int thread = 0;
  int epoch = 0;
  int fences = 0;  ///< fences that the thread had made before
};

/// One parameter of the kernel: a copy of the caller's data between two canaries.
class GlobalBuffer {
 public:
  enum class Role { kInput, kOutput, kWorkspace };
  /// `values` are its bytes. The bytes of an output become poison, and only their number counts.
  GlobalBuffer(std::string name, std::span<const unsigned char> values, int element_bytes, Role role);

  void* data() { return storage_.data() + kCanaryBytes; }
  const std::string& name() const { return name_; }
  Role role() const { return role_; }
  bool holds(std::uintptr_t address) const { return address >= begin() && address < begin() + bytes_; }
  /// Prepares the next launch: outputs become poison again, nobody has written anything, nothing is counted.
  void begin_launch();
  /// Returns a sentence when the access is wrong, else nullopt.
  std::optional<std::string> access(std::uintptr_t address, std::size_t bytes, bool writes, const Who& who,
                                    const DeviceOrder& order);
  /// Returns a sentence when an atomic is wrong, else nullopt. Only a workspace takes atomics.
  std::optional<std::string> atomic(std::uintptr_t address);
  /// Begins a reduction of the tensor memory accelerator that will add to `bytes` bytes of a workspace.
  /// Several may be under way for one element. Nobody may touch the element before all of them have ended and
  /// are ordered before that access. Reductions are numbered from 0 on; begin_reduction() begins number
  /// reductions().
  std::optional<std::string> begin_reduction(std::uintptr_t address, std::size_t bytes, const Who& who,
                                             const DeviceOrder& order);
  std::size_t reductions() const { return reductions_.size(); }
  /// Ends a reduction: adds f32 or s32, as `who`, who has waited for it.
  void end_reduction(std::size_t number, std::span<const unsigned char> addends, bool is_float,
                     const Who& who, const DeviceOrder& order);
  /// Returns nullopt when both canaries are whole.
  std::optional<std::string> damage() const;
  std::span<const unsigned char> bytes() const { return {storage_.data() + kCanaryBytes, bytes_}; }
  std::size_t element_bytes() const { return element_bytes_; }
  Traffic traffic;
  std::optional<ir::TensorMap> map;  ///< the kernel gets this instead of the address

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
  std::vector<std::int64_t> writer_;  // of an output, per element: 1 + block * 2^20 + thread; 0 = not written
  struct Shared {
    WriteStamp write;
    bool atomic = false;         ///< used as a counter in this launch
    std::size_t reductions = 0;  ///< reductions that had begun when it was last written
  };
  struct Reduction {
    std::size_t first, elements;
    std::int64_t block;
    int thread;
    std::optional<WriteStamp> ended;
    bool covers(std::size_t element) const { return element - first < elements; }
  };
  /// Returns the last reduction into the element since it was written; nullptr without one.
  const Reduction* reduction_into(std::size_t element) const;
  std::optional<std::string> why_unordered_reductions(std::size_t element, const Who& who,
                                                      const DeviceOrder& order) const;
  std::vector<Shared> shared_;         // for a workspace, by element
  std::vector<Reduction> reductions_;  // of this launch
};

/// The shared memory of a block. All blocks of a cluster have theirs at the same addresses, where the
/// kernel's text finds it: while another block runs, the contents are parked.
class SharedMemory {
 public:
  static constexpr std::size_t kLargest = 232448;  ///< bytes; opt-in maximum of a block on sm_90

  /// `memory` is where the kernel's text finds its dynamic shared memory. Accesses are remembered per
  /// `granule` bytes: two threads that write different bytes of one granule between two barriers count as a
  /// race.
  SharedMemory(unsigned char* memory, int granule)
      : memory_(memory), contents_(memory), granule_(static_cast<std::size_t>(granule)) {}

  /// Prepares a new block: everything is poison and written by nobody. The memory must not be parked.
  void reset(std::int64_t bytes);
  void park();
  void unpark();
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(memory_); }
  bool holds(std::uintptr_t address) const { return address >= begin() && address < begin() + size(); }
  /// Returns a sentence when the access is wrong, else nullopt.
  std::optional<std::string> access(std::uintptr_t address, std::size_t bytes, bool writes, const Who& who);
  /// Says that all blocks of the cluster have come to a barrier behind the writes before `epoch`.
  void publish(int epoch) { published_ = epoch; }
  /// Reads for another block of the cluster. It may read what was written before the last publish() and is
  /// not written before the next.
  std::optional<std::string> read_from_afar(std::uintptr_t address, std::size_t bytes, void* to);
  /// Begins a copy into these bytes: they are poison, and nobody may touch them until end_copy().
  std::optional<std::string> begin_copy(std::uintptr_t address, std::size_t bytes, const Who& who);
  void end_copy(std::uintptr_t address, const void* from, std::size_t source_bytes, std::size_t bytes,
                const Who& who);
  /// Begins a load into these bytes. The tensor memory accelerator and wgmma touch 16 bytes at a time and by
  /// themselves (the async proxy of the PTX ISA). The bytes are poison, and nobody may touch them until
  /// end_load(). No wgmma may still be reading them, and each warp that has read them has signalled that
  /// since.
  std::optional<std::string> begin_load(std::uintptr_t address, const Who& who);
  void end_load(std::uintptr_t address, const void* from, const Who& who, const LoadPhase& phase);
  /// Begins a store of the tensor memory accelerator, which reads what threads have written and fenced:
  /// nobody may write it until end_read().
  std::optional<std::string> begin_store(std::uintptr_t address, const Who& who);
  /// Makes the writes of `who` visible to the async proxy.
  void async_proxy_fence(const Who& who);
  /// Begins a read by a wgmma of what loads brought: nobody may write it until end_read().
  std::optional<std::string> begin_read(std::uintptr_t address);
  void end_read(std::uintptr_t address) { --chunk_at(address).readers; }
  Traffic traffic;

 private:
  static constexpr int kNobody = -1;
  static constexpr int kSeveral = -2;
  /// The visitors of the last barrier-free stretch that had any.
  struct Visit {
    int thread = kNobody;     ///< kSeveral: some of the warp, or the warp together
    std::uint32_t warps = 0;  ///< one bit for each visiting warp
    int epoch = -1;
    int warp_epoch = -1;  ///< of a single warp
    int tick = -1;        ///< the latest of the warps'
  };
  struct Granule {
    Visit write;
    Visit read;
    int copier = kNobody;  ///< thread whose cp.async is under way
    int from_afar = -1;    ///< published_ when another block last read it
    LoadPhase load;        ///< the load that wrote it last
  };
  /// 16 bytes, as the async proxy sees them.
  struct Chunk {
    int readers = 0;      ///< operations that have not been waited for
    int unfenced = 0;     ///< threads that have written it and made no fence since
    bool loaded = false;  ///< its bytes came by the async proxy
  };
  Chunk& chunk_at(std::uintptr_t address) { return chunks_[(address - begin()) / 16]; }
  std::size_t size() const { return granules_.size() * granule_; }
  /// Checks as access() does, but keeps no account for the async proxy: for accesses of that proxy itself.
  std::optional<std::string> touch(std::uintptr_t address, std::size_t bytes, bool writes, const Who& who);
  void poison(std::uintptr_t address, std::size_t bytes, const Who& who);  ///< a copy into it is under way
  static Visit visit_of(const Who& who);
  /// Returns whether nothing orders `earlier` before what `who` does now.
  static bool concurrent(const Visit& earlier, const Who& who);
  /// Returns whether each of these warps has signalled that it is done with what it read.
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
  std::vector<std::vector<std::size_t>> unfenced_;  ///< by thread: chunks that it has written
};

}  // namespace lehr::emulator
