// Threads that are kept between batches. They sleep in between, so that they do not disturb measurements.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lehr {

/// Fork-join threads. The calling thread works, too. After a call, the other threads wait actively for the
/// next call for some tenths of a millisecond (a batch consists of a few calls in a row), and then they
/// sleep.
class ForkJoin {
 public:
  /// `threads` >= 1 counts the calling thread.
  explicit ForkJoin(int threads);
  ForkJoin(const ForkJoin&) = delete;
  ForkJoin& operator=(const ForkJoin&) = delete;
  ~ForkJoin();

  using Body = std::function<void(std::size_t begin, std::size_t end, std::size_t thread)>;
  using AtEnd = std::function<void(std::size_t thread)>;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  /// Calls `body(begin, end, thread)` for consecutive chunks of [0, count), each of at most `chunk` elements.
  /// Then calls `at_end(thread)` on each thread that had a chunk. `thread` < threads() is the number of the
  /// thread. Returns when all calls have returned. Neither function may throw or call run().
  void run(std::size_t count, std::size_t chunk, const Body& body, const AtEnd& at_end = {});

 private:
  void work(std::size_t thread);
  void take_chunks(std::unique_lock<std::mutex>& lock, std::size_t thread);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const Body* body_ = nullptr;
  const AtEnd* at_end_ = nullptr;
  std::size_t next_ = 0, count_ = 0, chunk_ = 1;
  // Written under the mutex. Read without the mutex by threads that wait actively.
  // Number of threads that have taken a chunk of this run and have not yet ended.
  std::atomic<std::size_t> busy_ = 0;
  std::atomic<bool> has_chunks_ = false;
  bool closing_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace lehr
