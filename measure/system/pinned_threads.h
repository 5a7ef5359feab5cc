// The threads that run a CPU kernel's work items.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace lehr {

/// The caller and `threads` - 1 persistent helpers, each bound to its own CPU. While the group is open, idle
/// helpers spin, so that a call starts within a microsecond. While it is closed they sleep: an idle spinner
/// on a busy machine halves the speed of what is measured beside it.
class PinnedThreads {
 public:
  /// Binds threads to `cpus`, as from allowed_cpus(). The calling thread is bound, too, and must be the one
  /// that calls run(). A single thread is not bound: the scheduler may then move it away from a busy CPU.
  PinnedThreads(int threads, const std::vector<int>& cpus);
  ~PinnedThreads();
  PinnedThreads(const PinnedThreads&) = delete;
  PinnedThreads& operator=(const PinnedThreads&) = delete;

  using Body = void (*)(void* context, int thread, long work_item);
  /// Calls body(context, thread, part) once for each work item `work_item` in [0, parts), concurrently, and
  /// returns when all are done. With as many work items as threads, work item i runs on thread i. Otherwise
  /// each thread takes the next one when it is free.
  void run(long work_items, Body body, void* context);

  void open();
  void close();
  int count() const { return threads_; }

 private:
  void help(int thread);
  void work(int thread);
  void start_round();
  void finish_round();

  int threads_;
  // The caller writes these before a round starts; helpers read them during it.
  long parts_ = 0;
  Body body_ = nullptr;
  void* context_ = nullptr;
  bool quit_ = false;

  // Each is on its own cache line: helpers spin on the first while others write the rest.
  alignas(64) std::atomic<std::uint32_t> round_ = 0;
  alignas(64) std::atomic<bool> open_ = false;
  alignas(64) std::atomic<long> next_part_ = 0;
  alignas(64) std::atomic<int> working_ = 0;
  std::vector<std::thread> helpers_;
};

}  // namespace lehr
