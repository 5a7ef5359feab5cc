// A round counter that helpers spin or sleep on, and a count of those still at work.
#include "measure/system/task_pool.h"

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

/// Spins until `ready()`. Now and then it lets others run: where there are fewer CPUs than threads, the one
/// waited for may be among them.
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

TaskPool::TaskPool(int threads, const std::vector<int>& cpus) : threads_(threads) {
  CHECK(threads >= 1 && !cpus.empty(), "threads={} cpus={}", threads, cpus.size());
  if (threads == 1) return;
  pin_to_cpu(cpus[0]);
  for (int thread = 1; thread < threads; ++thread) {
    const int cpu = cpus[static_cast<std::size_t>(thread) % cpus.size()];
    helpers_.emplace_back([this, thread, cpu] {
      pin_to_cpu(cpu);
      help(thread);
    });
  }
}

TaskPool::~TaskPool() {
  quit_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void TaskPool::help(int thread) {
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

void TaskPool::work(int thread) {
  if (tasks_ == threads_) {
    body_(context_, thread, thread);
    return;
  }
  for (long task = next_task_.fetch_add(1, std::memory_order_relaxed); task < tasks_;
       task = next_task_.fetch_add(1, std::memory_order_relaxed)) {
    body_(context_, thread, task);
  }
}

void TaskPool::start_round() {
  next_task_.store(0, std::memory_order_relaxed);
  working_.store(threads_ - 1, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  // An open pool's helpers all spin: open() has seen to it.
  if (!open_.load(std::memory_order_relaxed)) round_.notify_all();
}

void TaskPool::finish_round() {
  spin_until([this] { return working_.load(std::memory_order_acquire) == 0; });
}

void TaskPool::run(long tasks, Body body, void* context) {
  if (threads_ == 1 || tasks == 1) {
    for (long task = 0; task < tasks; ++task) body(context, 0, task);
    return;
  }
  tasks_ = tasks;
  body_ = body;
  context_ = context;
  start_round();
  work(0);
  finish_round();
}

void TaskPool::open() {
  if (threads_ == 1) return;
  // A round without work wakes the sleepers; they find the pool open when they look for the next one.
  tasks_ = 0;
  next_task_.store(0, std::memory_order_relaxed);
  working_.store(threads_ - 1, std::memory_order_relaxed);
  open_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  finish_round();
}

void TaskPool::close() {
  open_.store(false, std::memory_order_relaxed);
}

}  // namespace lehr
