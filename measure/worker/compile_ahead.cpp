// One queue, some threads.
#include "measure/worker/compile_ahead.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace lehr {

CompileAhead::~CompileAhead() {
  drop();
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CompileAhead::begin(Source source, Deadline end) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(source), end, {}, {}});
  }
  // `threads_` and `jobs_` are used by the caller only.
  if (threads_.size() < jobs_) threads_.emplace_back([this] { work(); });
  changed_.notify_all();
}

Compiled CompileAhead::take() {
  std::unique_lock lock(mutex_);
  CHECK(!queue_.empty(), "nothing is being compiled");
  changed_.wait(lock, [this] { return queue_.front().finished(); });
  const Job job = std::move(queue_.front());
  queue_.pop_front();
  --begun_;
  if (job.broken) std::rethrow_exception(job.broken);
  return *job.result;
}

/// Drops the queue. A caller that has left does not need the errors either.
void CompileAhead::drop() {
  std::unique_lock lock(mutex_);
  queue_.resize(begun_);
  changed_.wait(lock, [this] { return std::ranges::all_of(queue_, &Job::finished); });
  for (const Job& job : queue_)
    if (const auto* binary = job.result ? std::get_if<Binary>(&*job.result) : nullptr)
      unlink(binary->path.c_str());
  queue_.clear();
  begun_ = 0;
}

double CompileAhead::busy_s() const {
  const std::lock_guard lock(mutex_);
  return busy_s_ + (running_ > 0 ? std::chrono::duration<double>(Clock::now() - busy_since_).count() : 0);
}

void CompileAhead::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return begun_ < queue_.size() || quit_; });
    if (quit_) return;
    Job& job = queue_[begun_++];  // the job stays at its position until it is finished
    if (running_++ == 0) busy_since_ = Clock::now();
    lock.unlock();
    std::optional<Compiled> result;
    std::exception_ptr broken;
    try {
      result = compiler_.compile({&job.source, 1}, std::min(kNoLimitS, seconds_left(job.end)))[0];
    } catch (...) {
      broken = std::current_exception();
    }
    lock.lock();
    job.result = std::move(result);
    job.broken = broken;
    if (--running_ == 0) busy_s_ += std::chrono::duration<double>(Clock::now() - busy_since_).count();
    changed_.notify_all();
  }
}

}  // namespace lehr
