// Runs the blocks of one launch: one fiber per CUDA thread, switched where threads wait for each other. The
// emulated text calls back into it through hooks.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "asan_stacks.h"
#include "device_order.h"
#include "ir/kernel.h"
#include "memory.h"
#include "schedule.h"
#include "warp.h"

namespace lehr::emulator {

/// One launch. `entry` calls the kernel with its arguments, as one thread.
class Machine {
 public:
  /// `granule`: see SharedMemory; the size of the smallest element that the kernel handles.
  Machine(std::vector<GlobalBuffer>& buffers, const ir::Launch& launch, int granule,
          const Schedule& schedule);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Runs every block. nullopt when no thread did anything wrong, else the first fault: "block 3 thread 17:
  /// ...".
  std::optional<std::string> run(const std::function<void()>& entry);

  const Traffic& shared_traffic() const { return shared_.traffic; }
  std::int64_t barriers() const { return barriers_; }  ///< of all blocks together
  double flops() const { return flops_; }              ///< of mma, and what the text reports

  // Called by the emulated text while run() is on.
  static Machine* current();
  std::array<unsigned, 3> thread_index() const;
  std::array<unsigned, 3> block_index() const;
  std::array<unsigned, 3> block_dim() const;
  std::array<unsigned, 3> grid_dim() const;
  void access(std::uintptr_t address, std::size_t bytes, bool writes);
  void block_barrier(int line);
  void warp_collective(WarpCall& call);  ///< comes back when the other lanes have come and it is done
  void cp_async(void* shared, const void* global, int bytes, int source_bytes);
  void cp_async_commit();
  void cp_async_wait(int pending);
  void device_fence() { order_.fence(who()); }
  /// Adds `step` to the counter, or makes it 0 where it is `limit` or more; the old value.
  unsigned atomic_add(unsigned* counter, unsigned step, unsigned limit);
  void flop() { flops_ += 1; }

 private:
  struct Copy {
    std::uintptr_t shared;
    const void* global;
    std::size_t bytes, source_bytes;
  };
  enum class State { kReady, kAtBarrier, kInCollective, kDone };
  struct Thread {
    void* context = nullptr;
    State state = State::kReady;
    int line = 0;                          ///< of what it waits at
    WarpCall* call = nullptr;              ///< kInCollective
    std::vector<Copy> open;                ///< copies not yet committed
    std::deque<std::vector<Copy>> groups;  ///< committed, oldest first
  };
  struct Warp {
    int arrived = 0;  ///< lanes that wait in a collective
    int epoch = 0;    ///< warp barriers passed
  };

  // machine.cpp
  void run_block();
  void start(int thread);
  bool release_block_barrier();  ///< nobody is ready: false when the block has ended or is stuck
  std::string stuck() const;
  [[noreturn]] void fail(const std::string& what) { fail(thread_, what); }
  [[noreturn]] void fail(int thread, const std::string& what);
  void yield();
  Thread& self() { return threads_[static_cast<std::size_t>(thread_)]; }
  Who who() const;
  bool on_own_stack(std::uintptr_t address) const;
  Stack stack_of(int thread) const;  // without its guard
  friend struct FiberEntry;
  // machine_memory.cpp
  void perform(const Lanes& lanes, int first_thread);
  void matrix_row(int thread, const WarpCall& call, bool writes);
  std::string nearest(std::uintptr_t address) const;

  std::vector<GlobalBuffer>& buffers_;
  ir::Launch launch_;
  SharedMemory shared_;
  ReadyThreads ready_;
  DeviceOrder order_;
  const std::function<void()>* entry_ = nullptr;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  unsigned char* stacks_ = nullptr;
  void* scheduler_ = nullptr;
  Stack scheduler_stack_;
  int thread_ = 0;
  int epoch_ = 0;
  std::int64_t block_ = 0;
  std::int64_t barriers_ = 0;
  double flops_ = 0;
  std::optional<std::string> fault_;
};

}  // namespace lehr::emulator
