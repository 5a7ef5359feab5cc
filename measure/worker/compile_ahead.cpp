// One slot for what is wanted, one for what is done.
#include "measure/worker/compile_ahead.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/error.h"

namespace lehr {

CompileAhead::~CompileAhead() {
  if (begun_) drop();
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CompileAhead::begin(std::vector<Source> sources) {
  if (begun_) drop();
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  {
    const std::lock_guard lock(mutex_);
    wanted_ = std::move(sources);
  }
  begun_ = true;
  changed_.notify_all();
}

CompileAhead::Batch CompileAhead::take() {
  CHECK(begun_, "nothing is being compiled");
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_ || broken_; });
  begun_ = false;
  if (broken_) std::rethrow_exception(std::exchange(broken_, nullptr));
  return *std::exchange(done_, std::nullopt);
}

/// A caller that left its batch does not want to hear of its errors either.
void CompileAhead::drop() {
  try {
    for (const Compiled& one : take().results)
      if (const auto* binary = std::get_if<Binary>(&one)) unlink(binary->path.c_str());
  } catch (const std::exception&) {
  }
}

void CompileAhead::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return wanted_ || quit_; });
    if (!wanted_) return;
    const std::vector<Source> sources = *std::exchange(wanted_, std::nullopt);
    lock.unlock();
    Batch batch;
    std::exception_ptr broken;
    const auto start = std::chrono::steady_clock::now();
    try {
      batch.results = compiler_.compile(sources);
    } catch (...) {
      broken = std::current_exception();
    }
    batch.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    lock.lock();
    if (broken)
      broken_ = broken;
    else
      done_ = std::move(batch);
    changed_.notify_all();
  }
}

}  // namespace lehr
