// Implements the pool: a caller and helpers, which run rounds of work together.
#include "runtime/pool.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <utility>

namespace lehr::runtime {
namespace {

// Number of times that a helper looks for the next round before it sleeps. The kernels of a network follow
// each other within microseconds, and waking a sleeping helper takes some 50 microseconds.
constexpr int kLooks = 4000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

/// The helpers of one process, and the round that they run.
struct Crew {
  const pid_t process = getpid();
  Crew* before = nullptr;  ///< crew of the parent process, whose threads do not exist in this process

  // A round begins while `mutex` is locked, so that no helper misses it between looking for a round and going
  // to sleep.
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
  std::atomic<std::uint32_t> round = 0;
  std::atomic<bool> busy = false;
  bool quit = false;

  // These are written before a round begins.
  void (*work)(void*, std::uint32_t) = nullptr;
  void* context = nullptr;
  std::uint32_t workers = 0;

  std::atomic<std::uint32_t> next = 0;
  std::atomic<std::uint32_t> at_work = 0;  ///< number of helpers that have not finished the round
  Array<pthread_t> helpers;

  /// Starts this many helpers, or as many as possible. Returns an empty owner if there is no memory.
  static Owner<Crew> start(std::uint32_t helpers) {
    Owner<Crew> crew = Owner<Crew>::make();
    if (!crew || !crew->helpers.resize(helpers)) return {};
    std::size_t started = 0;
    while (started < helpers &&
           pthread_create(&crew->helpers[started], nullptr, &Crew::help, crew.get()) == 0)
      ++started;
    while (crew->helpers.size() > started) crew->helpers.shrink();
    return crew;
  }

  void join() {
    quit = true;
    begin_round();
    for (const pthread_t helper : helpers) pthread_join(helper, nullptr);
  }

  void run() {
    next.store(0, std::memory_order_relaxed);
    at_work.store(static_cast<std::uint32_t>(helpers.size()), std::memory_order_relaxed);
    begin_round();
    take_part();
    for (int looks = 1; at_work.load(std::memory_order_acquire) != 0; ++looks) {
      // From time to time this yields to other threads. If there are fewer processors than threads, the
      // helper that this loop waits for may need the processor.
      if (looks % 1024 == 0)
        sched_yield();
      else
        relax();
    }
  }

 private:
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
    auto& crew = *static_cast<Crew*>(given);
    for (std::uint32_t seen = 0;; ++seen) {
      crew.wait_for_round_after(seen);
      if (crew.quit) return nullptr;
      crew.take_part();
      crew.at_work.fetch_sub(1, std::memory_order_release);
    }
  }
};

Pool::~Pool() {
  Owner<Crew> last;
  last.reset(crew_);
  if (last && last->process == getpid()) last->join();
  while (last) last.reset(std::exchange(last->before, nullptr));
}

std::uint32_t Pool::start(std::uint32_t threads) {
  crew_ = Crew::start(threads - 1).release();
  if (crew_ == nullptr) return 0;
  helpers_ = threads - 1;
  return static_cast<std::uint32_t>(crew_.load()->helpers.size()) + 1;
}

Crew* Pool::crew_here() {
  Crew* const seen = crew_.load(std::memory_order_acquire);
  if (seen->process == getpid()) return seen;
  Owner<Crew> made = Crew::start(helpers_);
  if (!made) return nullptr;
  made->before = seen;
  Crew* other = seen;
  if (crew_.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel)) return made.release();
  made->join();
  return other;
}

void Pool::run(std::uint32_t workers, void (*work)(void* context, std::uint32_t worker), void* context) {
  Crew* const crew = helpers_ == 0 || workers <= 1 ? nullptr : crew_here();
  if (crew == nullptr || crew->busy.exchange(true, std::memory_order_acquire)) {
    for (std::uint32_t worker = 0; worker < workers; ++worker) work(context, worker);
    return;
  }
  crew->work = work;
  crew->context = context;
  crew->workers = workers;
  crew->run();
  crew->busy.store(false, std::memory_order_release);
}

}  // namespace lehr::runtime
