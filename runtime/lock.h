// A lock for a few instructions, which a child process finds free whatever its parent's threads were doing.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>

namespace lehr::runtime {

class Lock {
 public:
  void take() {
    const pid_t here = getpid();
    pid_t holder = 0;
    // A holder of another process was left behind by fork(): its thread does not run here, so it is replaced.
    while (!holder_.compare_exchange_strong(holder, here, std::memory_order_acquire)) {
      if (holder != here) continue;
      sched_yield();
      holder = 0;
    }
  }
  void give() { holder_.store(0, std::memory_order_release); }

 private:
  std::atomic<pid_t> holder_ = 0;
};

/// Holds a lock. What it protects is whole after each store, since a child may see any of them as the last.
class Locked {
 public:
  explicit Locked(Lock& lock) : lock_(lock) { lock_.take(); }
  ~Locked() { lock_.give(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Lock& lock_;
};

}  // namespace lehr::runtime
