// Fork-join threads: one mutex, chunks taken in order, a short active wait before any sleep.
#include "base/fork_join.h"

#include <algorithm>

#include "base/error.h"

namespace lehr {
namespace {

// Number of yields before a thread sleeps: some tenths of a millisecond. Waking a thread takes nearly as long
// if the processor has gone idle, while the serial part of a batch is shorter.
constexpr int kLooks = 500;

}  // namespace

ForkJoin::ForkJoin(int threads) {
  CHECK(threads >= 1, "threads={}", threads);
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(static_cast<std::size_t>(i)); });
}

ForkJoin::~ForkJoin() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ForkJoin::run(std::size_t count, std::size_t chunk, const Body& body, const AtEnd& at_end) {
  if (count == 0) return;
  std::unique_lock lock(mutex_);
  body_ = &body;
  at_end_ = &at_end;
  next_ = 0;
  count_ = count;
  chunk_ = chunk;
  if (count > chunk && !workers_.empty()) {
    has_chunks_ = true;
    wake_.notify_all();
  }
  take_chunks(lock, 0);
  lock.unlock();
  for (int i = 0; i < kLooks && busy_ != 0; ++i) std::this_thread::yield();
  lock.lock();
  done_.wait(lock, [this] { return busy_ == 0; });
}

void ForkJoin::take_chunks(std::unique_lock<std::mutex>& lock, std::size_t thread) {
  ++busy_;
  while (next_ < count_) {
    const std::size_t begin = next_;
    // Chunks become shorter towards the end, so that all threads end at about the same time.
    const std::size_t fair = (count_ - begin) / (2 * (workers_.size() + 1));
    const std::size_t end = begin + std::clamp<std::size_t>(fair, 1, chunk_);
    next_ = end;
    if (next_ >= count_) has_chunks_ = false;
    lock.unlock();
    (*body_)(begin, end, thread);
    lock.lock();
  }
  if (*at_end_) {
    lock.unlock();
    (*at_end_)(thread);
    lock.lock();
  }
  if (--busy_ == 0) done_.notify_all();
}

void ForkJoin::work(std::size_t thread) {
  std::unique_lock lock(mutex_);
  for (;;) {
    lock.unlock();
    for (int i = 0; i < kLooks && !has_chunks_; ++i) std::this_thread::yield();
    lock.lock();
    wake_.wait(lock, [this] { return closing_ || next_ < count_; });
    if (closing_) return;
    take_chunks(lock, thread);
  }
}

}  // namespace lehr
