// A caller, helpers, and a round that they run together.
#include <pthread.h>
#include <sched.h>

#include <atomic>

#include "deploy/runtime/memory.h"
#include "deploy/runtime/message.h"

namespace lehr::runtime {
namespace {

// A helper looks for the next round so many times before it sleeps: kernels of one model follow each other
// within microseconds, and waking a sleeper takes some 50 of them.
constexpr int kLooks = 4000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace
}  // namespace lehr::runtime

using namespace lehr::runtime;

struct lehr_pool {
  // A round is begun under `mutex`, so that no helper misses it between its look and its sleep.
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
  std::atomic<std::uint32_t> round = 0;
  std::atomic<bool> busy = false;
  bool quit = false;

  // Written before a round begins.
  void (*work)(void*, std::uint32_t) = nullptr;
  void* context = nullptr;
  std::uint32_t workers = 0;

  std::atomic<std::uint32_t> next = 0;
  std::atomic<std::uint32_t> at_work = 0;  ///< helpers that have not finished the round
  Array<pthread_t> helpers;

  void begin_round() {
    pthread_mutex_lock(&mutex);
    round.fetch_add(1, std::memory_order_release);
    pthread_cond_broadcast(&begun);
    pthread_mutex_unlock(&mutex);
  }

  void take_part() {
    for (std::uint32_t worker = next.fetch_add(1, std::memory_order_relaxed); worker < workers;
         worker = next.fetch_add(1, std::memory_order_relaxed))
      work(context, worker);
  }

  void wait_for_round_after(std::uint32_t seen) {
    for (int looks = 0; looks < kLooks; ++looks) {
      if (round.load(std::memory_order_acquire) != seen) return;
      relax();
    }
    pthread_mutex_lock(&mutex);
    while (round.load(std::memory_order_acquire) == seen) pthread_cond_wait(&begun, &mutex);
    pthread_mutex_unlock(&mutex);
  }

  static void* help(void* given) {
    auto& pool = *static_cast<lehr_pool*>(given);
    for (std::uint32_t seen = 0;; ++seen) {
      pool.wait_for_round_after(seen);
      if (pool.quit) return nullptr;
      pool.take_part();
      pool.at_work.fetch_sub(1, std::memory_order_release);
    }
  }
};

lehr_status lehr_pool_create(uint32_t threads, lehr_pool** pool, lehr_error* error) {
  if (pool == nullptr || threads == 0)
    return fail(error, LEHR_BAD_ARGUMENT,
                "lehr_pool_create needs at least one thread and a place for the pool");
  *pool = nullptr;
  Owner<lehr_pool> made = Owner<lehr_pool>::make();
  if (!made || !made->helpers.resize(threads - 1))
    return fail(error, LEHR_NO_MEMORY, "there is no memory for the pool");
  std::size_t started = 0;
  while (started < made->helpers.size() &&
         pthread_create(&made->helpers[started], nullptr, &lehr_pool::help, made.get()) == 0)
    ++started;
  const bool all = started == made->helpers.size();
  if (!all && !made->helpers.resize(started)) return LEHR_NO_MEMORY;
  *pool = made.release();
  if (all) return succeed(error);
  lehr_pool_destroy(*pool);
  *pool = nullptr;
  return fail(error, LEHR_NO_MEMORY, "only %zu of %u threads could be started", started + 1, threads);
}

void lehr_pool_run(void* given, uint32_t workers, void (*work)(void* context, uint32_t worker),
                   void* context) {
  auto& pool = *static_cast<lehr_pool*>(given);
  if (pool.helpers.size() == 0 || workers <= 1 || pool.busy.exchange(true, std::memory_order_acquire)) {
    for (std::uint32_t worker = 0; worker < workers; ++worker) work(context, worker);
    return;
  }
  pool.work = work;
  pool.context = context;
  pool.workers = workers;
  pool.next.store(0, std::memory_order_relaxed);
  pool.at_work.store(static_cast<std::uint32_t>(pool.helpers.size()), std::memory_order_relaxed);
  pool.begin_round();
  pool.take_part();
  for (int looks = 1; pool.at_work.load(std::memory_order_acquire) != 0; ++looks) {
    // Now and then others run: with fewer processors than threads, the one waited for may be among them.
    if (looks % 1024 == 0)
      sched_yield();
    else
      relax();
  }
  pool.busy.store(false, std::memory_order_release);
}

void lehr_pool_destroy(lehr_pool* pool) {
  if (pool == nullptr) return;
  pool->quit = true;
  pool->begin_round();
  for (const pthread_t helper : pool->helpers) pthread_join(helper, nullptr);
  Owner<lehr_pool> ended;
  ended.reset(pool);
}
