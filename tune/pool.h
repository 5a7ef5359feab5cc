// Threads that are kept between batches and sleep in between, so that they disturb no timing.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lehr {

/// A fork-join pool. The calling thread works too. After a call the other threads look out for the next one
/// for some tens of microseconds (a batch is a few calls in a row), then they sleep.
class Pool {
 public:
  /// `threads` >= 1 counts the calling thread.
  explicit Pool(int threads);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  /// Calls `body(begin, end)` for consecutive chunks of [0, count) of at most `chunk`; returns when all are
  /// done. `body` must not throw and must not call run().
  void run(std::size_t count, std::size_t chunk, const std::function<void(std::size_t, std::size_t)>& body);

 private:
  void work();
  void take_chunks(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(std::size_t, std::size_t)>* body_ = nullptr;
  std::size_t next_ = 0, count_ = 0, chunk_ = 1;
  // Written under the mutex, read without it while looking out.
  std::atomic<std::size_t> unfinished_ = 0;
  std::atomic<bool> has_chunks_ = false;
  bool closing_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace lehr
