// The threads that run a CPU kernel's parts.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace lehr {

/// The caller and `threads` - 1 persistent helpers, each bound to a CPU of its own. While the group is open,
/// idle helpers spin, so that a call starts within a microsecond; while it is closed they sleep: an idle
/// spinner on a busy machine halves what is measured next to it.
class PinnedThreads {
 public:
  /// `cpus`: where to bind, as from allowed_cpus(). With one thread nothing is bound: the scheduler may then
  /// move it away from a busy CPU. Binds the calling thread, which is the one that calls run().
  PinnedThreads(int threads, const std::vector<int>& cpus);
  ~PinnedThreads();
  PinnedThreads(const PinnedThreads&) = delete;
  PinnedThreads& operator=(const PinnedThreads&) = delete;

  using Body = void (*)(void* context, int thread, long part);
  /// Calls body(context, thread, part) once for each part in [0, parts), concurrently, and returns when all
  /// are done. As many parts as threads: part i runs on thread i; otherwise each thread takes the next one
  /// when it is free.
  void run(long parts, Body body, void* context);

  void open();
  void close();
  int count() const { return threads_; }

 private:
  void help(int thread);
  void work(int thread);
  void start_round();
  void finish_round();

  int threads_;
  // Written by the caller before a round starts, read by helpers during it.
  long parts_ = 0;
  Body body_ = nullptr;
  void* context_ = nullptr;
  bool quit_ = false;

  // Each on a cache line of its own: helpers spin on the first while others write the rest.
  alignas(64) std::atomic<std::uint32_t> round_ = 0;
  alignas(64) std::atomic<bool> open_ = false;
  alignas(64) std::atomic<long> next_part_ = 0;
  alignas(64) std::atomic<int> working_ = 0;
  std::vector<std::thread> helpers_;
};

}  // namespace lehr
