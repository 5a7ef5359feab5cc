// The threads that run a CPU kernel's work items.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace lehr {

/// The calling thread and `threads` - 1 permanent helpers, each bound to its own CPU. While the group is
/// open, idle helpers spin, so that a call starts within a microsecond. While it is closed they sleep,
/// because on a busy machine a spinning thread halves the speed of kernels that are measured at the same
/// time.
class PinnedThreads {
 public:
  /// Binds threads to `cpus`, usually those of allowed_cpus(). The calling thread is bound, too, and must be
  /// the thread that calls run(). A single thread is not bound, so that the scheduler may move it away from a
  /// busy CPU.
  PinnedThreads(int threads, const std::vector<int>& cpus);
  ~PinnedThreads();
  PinnedThreads(const PinnedThreads&) = delete;
  PinnedThreads& operator=(const PinnedThreads&) = delete;

  using Body = void (*)(void* context, int thread, long work_item);
  /// Calls body(context, thread, work_item) once for each work item in [0, work_items), concurrently, and
  /// returns when all calls have returned. If there are as many work items as threads, work item i runs on
  /// thread i. If not, each thread takes the next work item when it is free.
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
  // The caller writes these before a round starts. Helpers read them during the round.
  long work_items_ = 0;
  Body body_ = nullptr;
  void* context_ = nullptr;
  bool quit_ = false;

  // Each is on its own cache line, because helpers spin on the first while other threads write the rest.
  alignas(64) std::atomic<std::uint32_t> round_ = 0;
  alignas(64) std::atomic<bool> open_ = false;
  alignas(64) std::atomic<long> next_work_item_ = 0;
  alignas(64) std::atomic<int> working_ = 0;
  std::vector<std::thread> helpers_;
};

}  // namespace lehr
