// Counts rounds, for which helpers spin or sleep, and the helpers that are still working.
#include "measure/system/pinned_threads.h"

#include <sched.h>

#include "base/error.h"
#include "measure/system/affinity.h"

namespace lehr {
namespace {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until `ready()` returns true. From time to time it lets other threads run: with fewer CPUs than
/// threads, the thread that it waits for may be among them.
template <typename Ready>
void spin_until(Ready ready) {
  for (int spins = 1; !ready(); ++spins) {
    if (spins % 4096 == 0) {
      sched_yield();
    } else {
      relax();
    }
  }
}

}  // namespace

PinnedThreads::PinnedThreads(int threads, const std::vector<int>& cpus) : threads_(threads) {
  CHECK(threads >= 1 && !cpus.empty(), "threads={} cpus={}", threads, cpus.size());
  if (threads == 1) return;
  pin_to_cpus({cpus[0]});
  for (int thread = 1; thread < threads; ++thread) {
    const int cpu = cpus[static_cast<std::size_t>(thread) % cpus.size()];
    helpers_.emplace_back([this, thread, cpu] {
      pin_to_cpus({cpu});
      help(thread);
    });
  }
}

PinnedThreads::~PinnedThreads() {
  quit_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void PinnedThreads::help(int thread) {
  for (std::uint32_t seen = 0;;) {
    while (round_.load(std::memory_order_acquire) == seen) {
      if (!open_.load(std::memory_order_relaxed)) {
        round_.wait(seen, std::memory_order_acquire);
        continue;
      }
      spin_until([&] {
        return round_.load(std::memory_order_relaxed) != seen || !open_.load(std::memory_order_relaxed);
      });
    }
    ++seen;
    if (quit_) return;
    work(thread);
    working_.fetch_sub(1, std::memory_order_release);
  }
}

void PinnedThreads::work(int thread) {
  if (work_items_ == threads_) {
    body_(context_, thread, thread);
    return;
  }
  for (long work_item = next_work_item_.fetch_add(1, std::memory_order_relaxed); work_item < work_items_;
       work_item = next_work_item_.fetch_add(1, std::memory_order_relaxed)) {
    body_(context_, thread, work_item);
  }
}

void PinnedThreads::start_round() {
  next_work_item_.store(0, std::memory_order_relaxed);
  working_.store(threads_ - 1, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  // All helpers of an open group spin, since open() has woken them.
  if (!open_.load(std::memory_order_relaxed)) round_.notify_all();
}

void PinnedThreads::finish_round() {
  spin_until([this] { return working_.load(std::memory_order_acquire) == 0; });
}

void PinnedThreads::run(long work_items, Body body, void* context) {
  if (threads_ == 1 || work_items == 1) {
    for (long work_item = 0; work_item < work_items; ++work_item) body(context, 0, work_item);
    return;
  }
  work_items_ = work_items;
  body_ = body;
  context_ = context;
  start_round();
  work(0);
  finish_round();
}

void PinnedThreads::open() {
  if (threads_ == 1) return;
  // A round without work wakes the sleeping helpers. They see that the group is open when they look for the
  // next round.
  work_items_ = 0;
  next_work_item_.store(0, std::memory_order_relaxed);
  working_.store(threads_ - 1, std::memory_order_relaxed);
  open_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  finish_round();
}

void PinnedThreads::close() {
  open_.store(false, std::memory_order_relaxed);
}

}  // namespace lehr
