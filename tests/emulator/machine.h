// Runs the blocks of one launch: one fiber per CUDA thread, switched at barriers. The emulated text calls
// back into it through hooks.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "memory.h"

namespace lehr::emulator {

/// In which order the threads of a block run between two barriers. A result that depends on it is a race.
enum class Order { kForward, kReverse };

/// One launch. `entry` calls the kernel with its arguments, as one thread.
class Machine {
 public:
  Machine(std::vector<GlobalBuffer>& buffers, const ir::Launch& launch, Order order);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Runs every block. nullopt when no thread did anything wrong, else the first fault: "block 3 thread 17:
  /// ...".
  std::optional<std::string> run(const std::function<void()>& entry);

  const Traffic& shared_traffic() const { return shared_.traffic; }
  std::int64_t barriers() const { return barriers_; }  ///< of all blocks together

  // Called by the emulated text while run() is on.
  static Machine* current();
  std::array<unsigned, 3> thread_index() const;
  std::array<unsigned, 3> block_index() const;
  std::array<unsigned, 3> block_dim() const;
  std::array<unsigned, 3> grid_dim() const;
  void access(std::uintptr_t address, std::size_t bytes, bool writes);
  void block_barrier(int line);
  void cp_async(void* shared, const void* global, int bytes, int source_bytes);
  void cp_async_commit();
  void cp_async_wait(int pending);

 private:
  struct Copy {
    std::uintptr_t shared;
    const void* global;
    std::size_t bytes, source_bytes;
  };
  enum class State { kReady, kAtBarrier, kDone };
  struct Thread {
    void* context = nullptr;
    State state = State::kReady;
    int line = 0;                          ///< of the barrier at which it waits
    std::vector<Copy> open;                ///< copies not yet committed
    std::deque<std::vector<Copy>> groups;  ///< committed, oldest first
  };

  void run_block();
  bool step();  ///< all threads up to their next barrier or end; false when the block is finished
  void start(int thread);
  [[noreturn]] void fail(const std::string& what);
  void yield();
  Who who() const { return {thread_, epoch_, block_}; }
  bool on_own_stack(std::uintptr_t address) const;
  static void fiber_main(struct FiberStart start);
  friend struct FiberEntry;

  std::vector<GlobalBuffer>& buffers_;
  ir::Launch launch_;
  Order order_;
  SharedMemory shared_;
  const std::function<void()>* entry_ = nullptr;
  std::vector<Thread> threads_;
  unsigned char* stacks_ = nullptr;
  void* scheduler_ = nullptr;
  int thread_ = 0;
  int epoch_ = 0;
  std::int64_t block_ = 0;
  std::int64_t barriers_ = 0;
  std::optional<std::string> fault_;
};

}  // namespace lehr::emulator
