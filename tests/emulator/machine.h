// Runs the blocks of one launch: one fiber per CUDA thread, switched where threads wait for each other.
// Blocks of a cluster run together, others one after the other. The emulated text calls back into it through
// hooks.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "asan_stacks.h"
#include "box.h"
#include "device_order.h"
#include "ir/kernel.h"
#include "memory.h"
#include "schedule.h"
#include "warp.h"
#include "wgmma.h"

namespace lehr::emulator {

/// Runs one launch. `entry` calls the kernel with its arguments, as one thread.
class Machine {
 public:
  /// `granule`: see SharedMemory; the size of the smallest element that the kernel handles.
  Machine(std::vector<GlobalBuffer>& buffers, const ir::Launch& launch, int granule,
          const Schedule& schedule);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Runs every block. Returns nullopt when no thread did anything wrong, else the first fault: "block 3
  /// thread 17: ...".
  std::optional<std::string> run(const std::function<void()>& entry);

  Traffic shared_traffic() const;                      ///< traffic of all blocks together
  std::int64_t barriers() const { return barriers_; }  ///< of all blocks together
  /// Operations of mma, and of the text as far as it reports them.
  double flops() const { return flops_; }

  // Returns the machine whose run() is on, for the emulated text.
  static Machine* current();
  std::array<unsigned, 3> thread_index() const;
  std::array<unsigned, 3> block_index() const;
  std::array<unsigned, 3> block_dim() const;
  std::array<unsigned, 3> grid_dim() const;
  void access(std::uintptr_t address, std::size_t bytes, bool writes);
  void block_barrier(int line);
  /// With `relaxed` it orders no memory, and makes known only mbarriers that a fence follows.
  void cluster_barrier(bool relaxed, int line);
  /// Copies 16 bytes from the same place in the shared memory of block `rank` of the cluster. A cluster
  /// barrier has to follow, so that the block is still there.
  void cluster_load(void* to, const void* shared, int rank);
  /// Returns when `threads` of the block, this one among them, have come to barrier `id`.
  void named_barrier(int id, int threads, int line);
  void warp_collective(WarpCall& call);  ///< returns when the other lanes have come and it is done
  void cp_async(void* shared, const void* global, int bytes, int source_bytes);
  void cp_async_commit();
  void cp_async_wait(int pending);
  void device_fence() { order_.fence(who()); }
  /// Adds `step` to the counter, or makes it 0 where it is `limit` or more. Returns the old value.
  unsigned atomic_add(unsigned* counter, unsigned step, unsigned limit);
  /// Performs griddepcontrol.wait if `wait`, else griddepcontrol.launch_dependents.
  void griddepcontrol(bool wait);
  void flop() { flops_ += 1; }
  // machine_async.cpp and machine_stores.cpp
  void mbarrier_init_fence();
  void mbarrier_init(const void* barrier, int arrivals);
  void mbarrier_arrive(const void* barrier, int transaction_bytes);
  /// Arrives at the mbarrier that block `rank` of the cluster has at the same place. A cluster barrier has to
  /// follow, so that the block is still there.
  void mbarrier_arrive_at(const void* barrier, int rank);
  void mbarrier_wait(const void* barrier, int parity, int line);
  /// Starts a load by the map of parameter `param`. Its bytes land when the schedule says so, at the latest
  /// when everybody waits. `mask` has a bit for each block of the cluster that gets them, at the same place
  /// of its shared memory and with the bytes counted at its own mbarrier; 0: this block alone.
  void tma_load(void* shared, std::size_t param, const void* barrier, const BoxPlace& place, unsigned mask);
  /// Stores from shared to global memory, at once. Until the store is waited for, nobody may write the bytes
  /// in shared memory.
  void tma_store(const void* shared, std::size_t param, const BoxPlace& place);
  /// Adds `bytes` bytes of shared memory to as many of a workspace, when its completion is waited for.
  void tma_reduce(const void* shared, const void* global, int bytes, bool is_float);
  void tma_store_commit();
  /// Waits until at most `pending` groups of the thread's stores and reductions still read shared memory;
  /// with `complete`, until at most so many are under way.
  void tma_store_wait(int pending, bool complete);
  void async_proxy_fence() { shared().async_proxy_fence(who()); }
  void wgmma_fence();
  /// Returns when the other threads of the warpgroup have come. The sums are poison until waited for, and the
  /// operands are read at the wait. `a`: this thread's registers of A, where the operation reads it from
  /// registers.
  void wgmma(std::uint32_t* sums, const Wgmma& operation, int line, const std::uint32_t* a = nullptr);
  void wgmma_commit();
  void wgmma_wait(int pending, int line);
  void set_max_registers(int count, bool more);

 private:
  struct Copy {
    std::uintptr_t shared;
    const void* global;
    std::size_t bytes, source_bytes;
  };
  /// A reduction into a parameter, which has given it a number.
  struct Reduction {
    std::size_t param, number;
    std::vector<unsigned char> addends;
    bool is_float;
  };
  /// Stores and reductions of the tensor memory accelerator.
  struct StoreGroup {
    std::vector<std::uintptr_t> reads;  ///< chunks of shared memory
    std::vector<Reduction> reductions;
    bool empty() const { return reads.empty() && reductions.empty(); }
  };
  /// Accumulators of a warpgroup, 64 x columns, for which operations are under way.
  struct Sums {
    std::vector<std::uint32_t> values;
    std::vector<std::uint32_t*> registers;  ///< by thread of the warpgroup
    int operations = 0;                     ///< issued and not yet retired by all threads
  };
  struct WgmmaCall {
    Wgmma operation;
    std::vector<std::uint32_t> a;                   ///< registers, as fragment_of() has them
    std::vector<const std::uint32_t*> a_registers;  ///< by thread of the warpgroup
    std::shared_ptr<Sums> sums;
    bool done = false;
    int retired = 0;  ///< threads that have waited for it
    /// Its operands are free: one thread has said so with a wait for the group, or all have.
    bool read = false;
  };
  struct MBarrier {
    int arrivals = 0;  ///< per phase
    int pending = 0;   ///< arrivals that the phase still waits for
    std::int64_t transaction_bytes = 0;
    int phase = 0;
    Who made;
    bool fenced = false;  ///< the thread that made it has passed a fence since
    bool known = false;   ///< a barrier of the cluster has made it known to all of its blocks
  };
  struct Load {
    std::uintptr_t shared;
    std::size_t param;
    std::uint32_t barrier;
    BoxPlace place;
    int thread;                ///< number in the cluster
    std::vector<int> targets;  ///< ranks of the blocks that get the load
  };
  enum class State {
    kReady,
    kAtBarrier,
    kAtClusterBarrier,
    kAtNamedBarrier,
    kInCollective,
    kAtMBarrier,
    kAtWgmma,
    kDone
  };
  struct Thread {
    void* context = nullptr;
    State state = State::kReady;
    int line = 0;                          ///< line of what it waits at
    int named_barrier = 0;                 ///< set at kAtNamedBarrier
    bool relaxed = false;                  ///< set at kAtClusterBarrier
    WarpCall* call = nullptr;              ///< set in kInCollective
    std::vector<Copy> open;                ///< copies not yet committed
    std::deque<std::vector<Copy>> groups;  ///< committed, oldest first
    StoreGroup open_stores;                ///< not yet committed
    std::deque<StoreGroup> store_groups;   ///< committed, oldest first
    std::uint32_t barrier = 0;             ///< set at kAtMBarrier
    std::map<std::uint32_t, int> phases;   ///< see Who
    bool fenced = false;                   ///< the registers are ready for wgmma
    bool waited = false;                   ///< has waited for the launches before this one
    std::uint32_t* sums = nullptr;         ///< set at kAtWgmma
    Wgmma operation;                       ///< set at kAtWgmma
    const std::uint32_t* a = nullptr;      ///< set at kAtWgmma
    using Calls = std::vector<std::shared_ptr<WgmmaCall>>;
    Calls open_calls;               ///< not yet committed
    std::deque<Calls> call_groups;  ///< committed, oldest first
    Calls finished;                 ///< waited for, and not yet made known to others
  };
  struct Warpgroup {
    int arrived = 0;                               ///< threads that wait at a wgmma
    int registers = 0;                             ///< per thread, once setmaxnreg has set it; 0 before
    std::deque<std::shared_ptr<WgmmaCall>> calls;  ///< in the order of issue, until done
    std::map<std::uint32_t*, std::shared_ptr<Sums>> in_flight;  ///< by the first thread's registers
  };
  struct Warp {
    int arrived = 0;        ///< lanes that wait in a collective
    int epoch = 0;          ///< warp barriers passed
    std::vector<int> seen;  ///< see Who
  };
  struct NamedBarrier {
    int threads = 0;  ///< threads for which the barrier waits
    int arrived = 0;
  };

  /// A running block of the cluster.
  struct Block {
    explicit Block(SharedMemory memory) : shared(std::move(memory)) {}
    SharedMemory shared;
    std::vector<int> told;  ///< see Who
    int epoch = 0;          ///< barriers passed by all of its threads
    bool lets_next_begin = false;
    int arrived_from = -1;  ///< cluster epoch in which another block last used its mbarriers or memory
    std::map<int, NamedBarrier> named_barriers;
    std::map<std::uint32_t, MBarrier> mbarriers;  ///< by address in shared memory
  };

  // machine.cpp
  void run_cluster();
  void start(int thread);
  bool release_barriers();  ///< nobody is ready: false when all have ended or are stuck
  static const char* waits_at(const Thread& thread);
  std::string stuck() const;
  [[noreturn]] void fail(const std::string& what) { fail(thread_, what); }
  [[noreturn]] void fail(int thread, const std::string& what);
  void yield();
  Thread& self() { return threads_[static_cast<std::size_t>(thread_)]; }
  Who who() const { return who_in(thread_, rank()); }
  // machine_cluster.cpp
  int rank() const { return thread_ / of_block_; }
  Block& block() { return blocks_[static_cast<std::size_t>(rank())]; }
  SharedMemory& shared() { return block().shared; }
  /// Returns the thread, as one of block `rank`.
  Who who_in(int thread, int rank) const;
  /// Returns "block 3 thread 17".
  std::string name_of_thread(int thread) const;
  /// Brings the shared memory of the thread's block to the address where the text finds it.
  void show_shared();
  bool release_barrier_of(int rank);
  bool release_cluster_barrier();
  bool has_ended(int rank) const;
  /// Returns an mbarrier of block `rank`, which must be there and must have made the mbarrier known to the
  /// cluster.
  MBarrier& mbarrier_of(int rank, std::uint32_t address);
  std::vector<int> targets_of(unsigned mask);
  bool on_own_stack(std::uintptr_t address) const;
  Stack stack_of(int thread) const;  // without its guard
  friend struct FiberEntry;
  // machine_memory.cpp
  void perform(const Lanes& lanes, int first_thread);
  void matrix_row(int thread, const WarpCall& call, bool writes);
  std::string nearest(std::uintptr_t address) const;
  /// Checks a launch that may overlap: the one before must have ended when a parameter is touched.
  void check_waited(const GlobalBuffer& buffer, const char* does);
  // machine_async.cpp
  MBarrier& mbarrier_at(std::uint32_t address);
  void arrive(int rank, std::uint32_t address, MBarrier& barrier, int transaction_bytes);
  void end_phase_if_complete(int rank, std::uint32_t address, MBarrier& barrier);
  const ir::TensorMap& map_of(std::size_t param, std::uint32_t address, const BoxPlace& place,
                              const char* what);
  void land(const Load& load);
  /// Operations that a block which has ended leaves under way.
  std::optional<std::string> unfinished() const;
  void issue(int first_thread);
  void perform_until(Warpgroup& group, const WgmmaCall& last);
  void end_reads(WgmmaCall& call);
  Warpgroup& warpgroup() { return warpgroups_[static_cast<std::size_t>(thread_ / kWarpgroup)]; }
  std::uint32_t shared_address(const void* pointer);

  std::vector<GlobalBuffer>& buffers_;
  ir::Launch launch_;
  int of_block_;  ///< threads
  ReadyThreads ready_;
  DeviceOrder order_;
  const std::function<void()>* entry_ = nullptr;
  std::vector<Block> blocks_;  ///< of the cluster, by rank
  // Threads of the whole cluster, block by block.
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<Warpgroup> warpgroups_;
  std::deque<Load> loads_;  ///< under way
  unsigned char* stacks_ = nullptr;
  void* scheduler_ = nullptr;
  Stack scheduler_stack_;
  int thread_ = 0;          ///< rank whose shared memory is at its address now
  int shown_ = 0;           ///< cluster barriers passed that order memory
  int cluster_epoch_ = 0;   ///< cluster barriers passed, those that order memory
  std::int64_t block_ = 0;  ///< the cluster's first
  std::int64_t barriers_ = 0;
  double flops_ = 0;
  std::optional<std::string> fault_;
};

}  // namespace lehr::emulator
