// Runs the blocks of one launch. Each CUDA thread is a fiber, and fibers switch where threads wait for each
// other. Blocks of a cluster run together; all other blocks run one after the other. The emulated text calls
// this through hooks.cpp.
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

/// Runs one launch. `entry` calls the kernel with its arguments for one thread.
class Machine {
 public:
  /// `granule` is the size of the smallest element that the kernel handles (see SharedMemory).
  Machine(std::vector<GlobalBuffer>& buffers, const ir::Launch& launch, int granule,
          const Schedule& schedule);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Runs every block. Returns nullopt if there was no fault, else the first fault: "block 3 thread 17: ...".
  std::optional<std::string> run(const std::function<void()>& entry);

  Traffic shared_traffic() const;                      ///< traffic of all blocks together
  std::int64_t barriers() const { return barriers_; }  ///< number of barriers of all blocks together
  /// Operations of mma, and operations that the text reports.
  double flops() const { return flops_; }

  // Returns the machine that is in run(), for the emulated text.
  static Machine* current();
  std::array<unsigned, 3> thread_index() const;
  std::array<unsigned, 3> block_index() const;
  std::array<unsigned, 3> block_dim() const;
  std::array<unsigned, 3> grid_dim() const;
  void access(std::uintptr_t address, std::size_t bytes, bool writes);
  void block_barrier(int line);
  /// If `relaxed`, it orders no memory, and makes known only mbarriers that were fenced.
  void cluster_barrier(bool relaxed, int line);
  /// Copies 16 bytes from the same position in the shared memory of block `rank` of the cluster. A cluster
  /// barrier must follow, so that the block has not ended yet.
  void cluster_load(void* to, const void* shared, int rank);
  /// Returns when `threads` threads of the block, this one included, have come to barrier `id`.
  void named_barrier(int id, int threads, int line);
  /// Returns when the other lanes have come and the collective is done.
  void warp_collective(WarpCall& call);
  void cp_async(void* shared, const void* global, int bytes, int source_bytes);
  void cp_async_commit();
  void cp_async_wait(int pending);
  void device_fence() { order_.fence(who()); }
  /// Adds `step` to the counter, or sets it to 0 if it is `limit` or more. Returns the old value.
  unsigned atomic_add(unsigned* counter, unsigned step, unsigned limit);
  /// Performs griddepcontrol.wait if `wait`, else griddepcontrol.launch_dependents.
  void griddepcontrol(bool wait);
  void flop() { flops_ += 1; }
  // machine_async.cpp and machine_stores.cpp
  void mbarrier_init_fence();
  void mbarrier_init(const void* barrier, int arrivals);
  void mbarrier_arrive(const void* barrier, int transaction_bytes);
  /// Arrives at the mbarrier of block `rank` of the cluster that has the same address. A cluster barrier must
  /// follow, so that the block has not ended yet.
  void mbarrier_arrive_at(const void* barrier, int rank);
  void mbarrier_wait(const void* barrier, int parity, int line);
  /// Starts a load with the map of parameter `param`. Its bytes land when the schedule decides, at the latest
  /// when all threads wait. `mask` has a bit for each block of the cluster that receives the bytes, at the
  /// same position of its shared memory; they are counted at the block's own mbarrier. mask 0: only this
  /// block.
  void tma_load(void* shared, std::size_t param, const void* barrier, const BoxPlace& place, unsigned mask);
  /// Stores from shared to global memory at once. Until the store is waited for, no thread may write its
  /// bytes in shared memory.
  void tma_store(const void* shared, std::size_t param, const BoxPlace& place);
  /// Adds `bytes` bytes of shared memory to the same number of bytes of a workspace. The addition is made
  /// when its completion is waited for.
  void tma_reduce(const void* shared, const void* global, int bytes, bool is_float);
  void tma_store_commit();
  /// Waits until at most `pending` groups of the thread's stores and reductions still read shared memory.
  /// With `complete`, waits until at most `pending` groups are unfinished.
  void tma_store_wait(int pending, bool complete);
  void async_proxy_fence() { shared().async_proxy_fence(who()); }
  void wgmma_fence();
  /// Returns when the other threads of the warpgroup have come. The accumulators are poison until they are
  /// waited for, and the operands are read at the wait. `a`: this thread's registers of A, if the operation
  /// takes A from registers.
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
  /// A reduction into the parameter `param`, which has numbered it.
  struct Reduction {
    std::size_t param, number;
    std::vector<unsigned char> addends;
    bool is_float;
  };
  /// Stores and reductions of the tensor memory accelerator.
  struct StoreGroup {
    std::vector<std::uintptr_t> reads;  ///< addresses of the chunks of shared memory that are read
    std::vector<Reduction> reductions;
    bool empty() const { return reads.empty() && reductions.empty(); }
  };
  /// Accumulators of a warpgroup (64 x columns) for which operations are under way.
  struct Sums {
    std::vector<std::uint32_t> values;
    std::vector<std::uint32_t*> registers;  ///< registers of each thread of the warpgroup
    /// Operations that were issued and that not all threads have retired.
    int operations = 0;
  };
  struct WgmmaCall {
    Wgmma operation;
    std::vector<std::uint32_t> a;                   ///< registers in the order of fragment_of()
    std::vector<const std::uint32_t*> a_registers;  ///< registers of each thread of the warpgroup
    std::shared_ptr<Sums> sums;
    bool done = false;
    int retired = 0;  ///< threads that have waited for it
    /// Whether its operands may be overwritten: one thread has waited for its group, or all have.
    bool read = false;
  };
  struct MBarrier {
    int arrivals = 0;  ///< arrivals of each phase
    int pending = 0;   ///< arrivals that the phase still waits for
    std::int64_t transaction_bytes = 0;
    int phase = 0;
    Who made;
    bool fenced = false;  ///< whether the thread that made it has made a fence since
    bool known = false;   ///< whether a cluster barrier has made it known to all blocks
  };
  struct Load {
    std::uintptr_t shared;
    std::size_t param;
    std::uint32_t barrier;
    BoxPlace place;
    int thread;                ///< number of the thread in the cluster
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
    int line = 0;                          ///< line of the instruction at which it waits
    int named_barrier = 0;                 ///< set at kAtNamedBarrier
    bool relaxed = false;                  ///< set at kAtClusterBarrier
    WarpCall* call = nullptr;              ///< set in kInCollective
    std::vector<Copy> open;                ///< copies not yet committed
    std::deque<std::vector<Copy>> groups;  ///< committed, oldest first
    StoreGroup open_stores;                ///< not yet committed
    std::deque<StoreGroup> store_groups;   ///< committed, oldest first
    std::uint32_t barrier = 0;             ///< set at kAtMBarrier
    std::map<std::uint32_t, int> phases;   ///< Who::phases
    bool fenced = false;                   ///< whether the registers are ready for wgmma
    bool waited = false;                   ///< whether it has waited for the launches before this one
    std::uint32_t* sums = nullptr;         ///< set at kAtWgmma
    Wgmma operation;                       ///< set at kAtWgmma
    const std::uint32_t* a = nullptr;      ///< set at kAtWgmma
    using Calls = std::vector<std::shared_ptr<WgmmaCall>>;
    Calls open_calls;               ///< not yet committed
    std::deque<Calls> call_groups;  ///< committed, oldest first
    Calls finished;                 ///< calls that were waited for, and not yet made known to others
  };
  struct Warpgroup {
    int arrived = 0;                               ///< threads that wait at a wgmma
    int registers = 0;                             ///< per thread, once setmaxnreg has set it; 0 before
    std::deque<std::shared_ptr<WgmmaCall>> calls;  ///< in the order of issue, until each is done
    std::map<std::uint32_t*, std::shared_ptr<Sums>> in_flight;  ///< by the first thread's registers
  };
  struct Warp {
    int arrived = 0;        ///< lanes that wait in a collective
    int epoch = 0;          ///< number of warp barriers passed
    std::vector<int> seen;  ///< Who::seen
  };
  struct NamedBarrier {
    int threads = 0;  ///< threads for which the barrier waits
    int arrived = 0;
  };

  /// A running block of the cluster.
  struct Block {
    explicit Block(SharedMemory memory) : shared(std::move(memory)) {}
    SharedMemory shared;
    std::vector<int> told;  ///< Who::told
    int epoch = 0;          ///< number of barriers that all of its threads have passed
    bool lets_next_begin = false;
    int arrived_from = -1;  ///< cluster epoch in which another block last used its mbarriers or memory
    std::map<int, NamedBarrier> named_barriers;
    std::map<std::uint32_t, MBarrier> mbarriers;  ///< by address in shared memory
  };

  // machine.cpp
  void run_cluster();
  void start(int thread);
  bool release_barriers();  ///< called when no thread is ready; false if all threads have ended or are stuck
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
  /// Returns the thread as a thread of block `rank`.
  Who who_in(int thread, int rank) const;
  /// Returns "block 3 thread 17".
  std::string name_of_thread(int thread) const;
  /// Moves the shared memory of the thread's block to the address at which the text finds it.
  void show_shared();
  bool release_barrier_of(int rank);
  bool release_cluster_barrier();
  bool has_ended(int rank) const;
  /// Returns an mbarrier of block `rank`. The block must not have ended, and must have made the mbarrier
  /// known to the cluster.
  MBarrier& mbarrier_of(int rank, std::uint32_t address);
  std::vector<int> targets_of(unsigned mask);
  bool on_own_stack(std::uintptr_t address) const;
  Stack stack_of(int thread) const;  // without its guard
  friend struct FiberEntry;
  // machine_memory.cpp
  void perform(const Lanes& lanes, int first_thread);
  void matrix_row(int thread, const WarpCall& call, bool writes);
  std::string nearest(std::uintptr_t address) const;
  /// Checks a launch that may overlap the launch before it: the launch before must have ended when a
  /// parameter is touched.
  void check_waited(const GlobalBuffer& buffer, const char* does);
  // machine_async.cpp
  MBarrier& mbarrier_at(std::uint32_t address);
  void arrive(int rank, std::uint32_t address, MBarrier& barrier, int transaction_bytes);
  void end_phase_if_complete(int rank, std::uint32_t address, MBarrier& barrier);
  const ir::TensorMap& map_of(std::size_t param, std::uint32_t address, const BoxPlace& place,
                              const char* what);
  void land(const Load& load);
  /// Returns a sentence if a block that has ended leaves operations under way.
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
  std::vector<Block> blocks_;  ///< blocks of the cluster, by rank
  // All threads of the cluster, block by block.
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<Warpgroup> warpgroups_;
  std::deque<Load> loads_;  ///< loads under way
  unsigned char* stacks_ = nullptr;
  void* scheduler_ = nullptr;
  Stack scheduler_stack_;
  int thread_ = 0;          ///< rank whose shared memory is at its address now
  int shown_ = 0;           ///< number of cluster barriers passed that order memory
  int cluster_epoch_ = 0;   ///< cluster barriers passed, those that order memory
  std::int64_t block_ = 0;  ///< number of the cluster's first block
  std::int64_t barriers_ = 0;
  double flops_ = 0;
  std::optional<std::string> fault_;
};

}  // namespace lehr::emulator
