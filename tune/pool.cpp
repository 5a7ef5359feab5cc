// The fork-join pool: one mutex, chunks taken in order, a short look-out before any sleep.
#include "tune/pool.h"

#include <algorithm>

#include "base/error.h"

namespace lehr {
namespace {

// Yields before a thread sleeps: some tens of microseconds, about what waking it up would cost.
constexpr int kLooks = 60;

}  // namespace

Pool::Pool(int threads) {
  CHECK(threads >= 1, "threads={}", threads);
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Pool::run(std::size_t count, std::size_t chunk,
               const std::function<void(std::size_t, std::size_t)>& body) {
  if (count == 0) return;
  if (workers_.empty() || count <= chunk) return body(0, count);
  std::unique_lock lock(mutex_);
  body_ = &body;
  next_ = 0;
  count_ = count;
  chunk_ = chunk;
  unfinished_ = count;
  has_chunks_ = true;
  wake_.notify_all();
  take_chunks(lock);
  lock.unlock();
  for (int i = 0; i < kLooks && unfinished_ != 0; ++i) std::this_thread::yield();
  lock.lock();
  done_.wait(lock, [this] { return unfinished_ == 0; });
  body_ = nullptr;
}

void Pool::take_chunks(std::unique_lock<std::mutex>& lock) {
  while (next_ < count_) {
    const std::size_t begin = next_;
    const std::size_t end = std::min(count_, begin + chunk_);
    const auto* body = body_;
    next_ = end;
    if (next_ >= count_) has_chunks_ = false;
    lock.unlock();
    (*body)(begin, end);
    lock.lock();
    unfinished_ -= end - begin;
    if (unfinished_ == 0) done_.notify_all();
  }
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    lock.unlock();
    for (int i = 0; i < kLooks && !has_chunks_; ++i) std::this_thread::yield();
    lock.lock();
    wake_.wait(lock, [this] { return closing_ || next_ < count_; });
    if (closing_) return;
    take_chunks(lock);
  }
}

}  // namespace lehr
